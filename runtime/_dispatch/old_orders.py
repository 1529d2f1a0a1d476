"""Orders of arguments that torch has given up but takes yet, with a warning: numbers stand before their tensors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._base.tensor_class import Tensor
from .._base.warn import warn
from .op import Op


def _sum_of(first: str, second: str) -> tuple[tuple[str, ...], ...]:
    return ("beta", "input", "alpha", first, second), ("beta", "input", first, second)


_ORDERS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "add": (("input", "alpha", "other"),),
    "sub": (("input", "alpha", "other"),),
    "addcmul": (("input", "value", "tensor1", "tensor2"),),
    "addcdiv": (("input", "value", "tensor1", "tensor2"),),
    "addbmm": _sum_of("batch1", "batch2"),
    "baddbmm": _sum_of("batch1", "batch2"),
    "addmm": _sum_of("mat1", "mat2"),
    "sspaddmm": _sum_of("mat1", "mat2"),
    "addmv": _sum_of("mat", "vec"),
    "addr": _sum_of("vec1", "vec2"),
}
_NUMBERS = frozenset({"alpha", "beta", "value"})


def in_old_order(op: Op, called: str, args: tuple[Any, ...], named: Mapping[str, Any]) -> dict[str, Any] | None:
    """The arguments by name, `out` among them, if they are given in an old order; warns of it. None if they are not."""
    for order in _ORDERS.get(op.name, ()):
        for is_method in (False, True) if order[0] != "input" else (False,):
            names = ("input", *(name for name in order if name != "input")) if is_method else order
            values = dict(zip(names, args, strict=False))
            if len(args) <= len(names) and not values.keys() & named.keys() and _fits(names, values, named):
                warn(_warning(op, called, order))
                return {**values, **named}
    return None


def _fits(names: tuple[str, ...], values: Mapping[str, Any], named: Mapping[str, Any]) -> bool:
    """Return True if all arguments of the order are given, and are tensors where it has tensors."""
    given = {**values, **named}
    if given.keys() - {"out"} != set(names):
        return False
    # A number by its own name is in no order but the present one.
    has_number = any(name in _NUMBERS for name in values)
    return has_number and all(isinstance(given[name], Tensor) != (name in _NUMBERS) for name in names)


def _warning(op: Op, called: str, order: tuple[str, ...]) -> str:
    tensors = [name for name in order if name not in _NUMBERS]
    numbers = [name for name in op.names if name in _NUMBERS]
    out = [] if called.endswith("_") else ["Tensor out = None"]
    now = [*map(_described, tensors), "*", *(f"{_described(name)} = 1" for name in numbers), *out]
    then = [*map(_described, order), *(["*", *out] if out else [])]
    return (
        f"This overload of {called} is deprecated:\n\t{called}({', '.join(then)})\n"
        f"Consider using one of the following signatures instead:\n\t{called}({', '.join(now)})"
    )


def _described(name: str) -> str:
    return f"{'Number' if name in _NUMBERS else 'Tensor'} {name}"
