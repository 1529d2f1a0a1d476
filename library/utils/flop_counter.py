"""opweave.utils.flop_counter: how many multiplications and additions of products, convolutions and attention a program
makes, as torch.utils.flop_counter counts them: two for each factor of a sum.

A mode sees the operators of forward and backward passes alike; hooks of modules say whose they are.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable
from typing import Any, TypeAlias

from .._dispatch.modes import TorchDispatchMode
from .._dispatch.overloads import namespace
from ..nn import Module
from ..nn.modules.module import (
    register_module_forward_hook,
    register_module_forward_pre_hook,
    register_module_full_backward_hook,
    register_module_full_backward_pre_hook,
)

__all__ = ["FlopCounterMode", "register_flop_formula"]

_Shape: TypeAlias = tuple[int, ...]
flop_registry: dict[Any, Callable[..., int]] = {}
"""The functions that count operations, by operator (`ops.aten.mm`). They take the shapes of its tensors, its other
arguments, and `out_val`."""


def register_flop_formula(targets: Any, get_raw: bool = False) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Return a decorator that has a formula count the calls of operators.

    Args:
        targets: an operator such as `ops.aten.mm`, or a list of them.
        get_raw: whether the formula is given tensors rather than their shapes.

    Raises:
        ValueError: something else is given.
    """
    listed = targets if isinstance(targets, (list, tuple)) else [targets]

    def decorate(formula: Callable[..., int]) -> Callable[..., int]:
        counted = formula if get_raw else _of_shapes(formula)
        for each in listed:
            if not hasattr(each, "overloads"):
                raise ValueError(
                    f"register_flop_formula(targets): expected each target to be OpOverloadPacket, got {each}"
                )
            flop_registry[each] = counted
        return formula

    return decorate


def _of_shapes(formula: Callable[..., int]) -> Callable[..., int]:
    def counted(*args: Any, out_val: Any = None, **kwargs: Any) -> int:
        given = {name: _shapes(value) for name, value in kwargs.items()}
        return formula(*map(_shapes, args), out_shape=_shapes(out_val), **given)

    return counted


def _shapes(value: Any) -> Any:
    if isinstance(value, (list, tuple)) and not hasattr(value, "numel"):
        return type(value)(map(_shapes, value)) if type(value) in (list, tuple) else value
    return tuple(value.shape) if hasattr(value, "shape") and hasattr(value, "dtype") else value


# ---- formulas -----------------------------------------------------------------------------------------------


def _product(first: _Shape, *rest: Any, out_shape: _Shape, **options: Any) -> int:
    """Return the operations of a product: each element of the result is a sum over the last dimension of the first
    factor."""
    return 2 * math.prod(out_shape) * first[-1]


def _product_and_sum(input: Any, *factors: Any, out_shape: _Shape, **options: Any) -> int:
    return _product(*factors, out_shape=out_shape)


def _convolution(window: slice) -> tuple[Callable[..., int], Callable[..., int], Callable[..., int]]:
    """The formulas of a convolution, of its gradient by the input and of that by the weight: each element of the result
    is a sum over those dimensions of the weight.
    """

    def forward(input: Any, weight: _Shape, *rest: Any, out_shape: _Shape, **options: Any) -> int:
        return 2 * math.prod(out_shape) * math.prod(weight[window])

    def by_input(gradient: _Shape, weight: _Shape, *rest: Any, out_shape: _Shape, **options: Any) -> int:
        return 2 * math.prod(gradient) * math.prod(weight[window])

    def by_weight(gradient: _Shape, input: Any, *rest: Any, out_shape: _Shape, **options: Any) -> int:
        return 2 * math.prod(gradient) * math.prod(out_shape[window])

    return forward, by_input, by_weight


def _attention(query: _Shape, key: _Shape, value: _Shape, *rest: Any, out_shape: _Shape, **options: Any) -> int:
    """Return the operations of the products of queries with keys, and of weights with values."""
    return 2 * math.prod(query) * key[1] + 2 * math.prod(out_shape) * key[1]


_aten = namespace("aten")
register_flop_formula(_aten.blockwise_attention)(_attention)
register_flop_formula([_aten.mm, _aten.bmm, _aten.matmul])(_product)
register_flop_formula([_aten.addmm, _aten.baddbmm])(_product_and_sum)
for _name, _window in {
    "convolve2d": slice(2, None),
    "convolve3d": slice(2, None),
    "convolve_channels2d": slice(1, None),
    "convolve_each_channel2d": slice(0, -1),
}.items():
    for _suffix, _formula in zip(("", "_backward_self", "_backward_weight"), _convolution(_window), strict=True):
        register_flop_formula(getattr(_aten, _name + _suffix))(_formula)


# ---- the mode -----------------------------------------------------------------------------------------------


class FlopCounterMode(TorchDispatchMode):
    """A block that counts the multiplications and additions of what is called within it.

    Args:
        mods: without effect.
        depth (int): to what depth of modules the table goes.
        display (bool): whether the table is printed at the end.
        custom_mapping (dict): by operator, a formula of tensors, or, where it has the attribute `_get_raw`, of what it
            says; these go before those that are registered.
    """

    def __init__(
        self, mods: Any = None, depth: int = 2, display: bool = True, custom_mapping: dict[Any, Any] | None = None
    ) -> None:
        self.flop_counts: dict[str, dict[Any, int]] = defaultdict(lambda: defaultdict(int))
        self.depth, self.display = depth, display
        given = {each: formula if hasattr(formula, "_get_raw") else _of_shapes(formula)
                 for each, formula in (custom_mapping or {}).items()}  # fmt: skip
        self.flop_registry = {**flop_registry, **given}
        self._names: dict[int, str] = {}
        self._running: list[str] = []
        self._hooks: list[Any] = []

    def get_total_flops(self) -> int:
        """Return the count of the whole block."""
        return sum(self.flop_counts["Global"].values())

    def get_flop_counts(self) -> dict[str, dict[Any, int]]:
        """Return the counts by module, "Global" being the whole block, and by operator."""
        return {name: dict(counts) for name, counts in self.flop_counts.items()}

    def get_table(self, depth: int | None = None) -> str:
        """Return a table of modules and operators with their counts and shares."""
        depth = self.depth if depth is None else depth
        total = self.get_total_flops()
        rows = [("Module", "FLOP", "% Total"), ("-" * 20, "-" * 8, "-" * 7)]
        for name in sorted(self.flop_counts, key=lambda each: (each != "Global", each)):
            level = 0 if name == "Global" else name.count(".") + 1
            if level > depth:
                continue
            rows.append(_row("  " * level + name, sum(self.flop_counts[name].values()), total))
            for operator, count in self.flop_counts[name].items():
                rows.append(_row("  " * level + f" - {operator}", count, total))
        widths = [max(len(row[place]) for row in rows) for place in range(3)]
        return "\n".join(
            f"{name:<{widths[0]}}  {count:>{widths[1]}}  {share:>{widths[2]}}".rstrip() for name, count, share in rows
        )

    def __enter__(self) -> FlopCounterMode:
        self.flop_counts.clear()
        self._hooks = [
            register_module_forward_pre_hook(self._begin),
            register_module_forward_hook(self._end, always_call=True),
            register_module_full_backward_pre_hook(self._begin),
            register_module_full_backward_hook(self._end),
        ]
        super().__enter__()
        return self

    def __exit__(self, *exception: Any) -> None:
        super().__exit__(*exception)
        for each in self._hooks:
            each.remove()
        self._names.clear()
        self._running.clear()
        if self.display and exception[:1] in ((), (None,)):
            print(self.get_table())

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        result = func(*args, **kwargs)
        formula = self.flop_registry.get(func.overloadpacket)
        if formula is not None:
            count = formula(*args, **kwargs, out_val=result)
            for name in {"Global", *self._running}:
                self.flop_counts[name][func.overloadpacket] += count
        return result

    def _begin(self, module: Module, *arguments: Any) -> None:
        """Count calls for a module from now on; the first of them names those within it."""
        if id(module) not in self._names:
            own = type(module).__name__
            for name, part in module.named_modules():
                self._names.setdefault(id(part), ".".join(filter(None, [own, name])))
        self._running.append(self._names[id(module)])

    def _end(self, module: Module, *arguments: Any) -> None:
        name = self._names.get(id(module))
        if name in self._running:
            del self._running[len(self._running) - 1 - self._running[::-1].index(name) :]


def _row(name: str, count: int, total: int) -> tuple[str, str, str]:
    power = 0
    while count >= 1000 ** (power + 1) and power < 4:
        power += 1
    shown = f"{count / 1000**power:.3f}{' KMBT'[power].strip()}" if power else str(count)
    return name, shown, f"{100 * count / total if total else 0:.2f}%"
