"""`func.functionalize`: writes become new values, so that what a function calls has no effects.

Within it a tensor is a handle without memory, whose payload has its value. The core takes views of handles; the value
of a view is the same view of the value of its base. A write to a view puts the new elements at its positions in a new
value of the base, which all views then see. What writes, and what shares memory, is what the schemas of operators say.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, wraps
from typing import Any, ParamSpec, TypeVar

from . import _operators as ops
from ._base.pytree import tree_map
from ._base.tensor_class import Tensor
from ._dispatch.dispatcher import call as dispatch
from ._dispatch.levels import (
    Level,
    held_by,
    level_of,
    levels,
    run,
    stand_in,
    unrecorded,
    view_like,
    viewed,
    with_each,
    within,
    written,
)
from ._dispatch.op import INPLACE, Op

__all__ = ["functionalize"]

_REMOVED = ("mutations", "mutations_and_views")

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


def functionalize(func: Callable[_Arguments, _Result], *, remove: str = "mutations") -> Callable[_Arguments, _Result]:
    """Return a function that gives what `func` does, by operators that write to no tensor.

    Tensors that `func` writes to are given their last values when it has returned.

    Args:
        func: takes tensors, or nested lists, tuples and dictionaries of them, and returns such ones.
        remove (str): `mutations`, or `mutations_and_views`: views are copies as well.

    Raises:
        RuntimeError: `remove` is no such word; or of the call, where `func` writes to a tensor that is no argument, or
            changes the memory of one (`resize_`, `set_`).

    The method is that of torch.func.functionalize.

    Examples:
        >>> def function(x):
        ...     y = x.clone()
        ...     y[0].mul_(10)
        ...     return y
        >>> opweave.func.functionalize(function)(opweave.ones(2))
        tensor([10.,  1.])
    """
    if remove not in _REMOVED:
        raise RuntimeError(
            f"functionalize(f, remove='mutations'): received invalid argument for remove={remove}: it must be "
            "'mutations' or 'mutations_and_views'"
        )

    @wraps(func)
    def functional(*args: _Arguments.args, **kwargs: _Arguments.kwargs) -> _Result:
        level = _Values(remove == "mutations_and_views")
        given, named = (tree_map(level.wrapped, each) for each in (args, kwargs))
        result = within((*levels(), level), partial(func, *given, **named))
        result = tree_map(level.unwrapped, result)
        level.write_back()
        return result

    return functional


class _Value:
    """The payload of a tensor, and of views of it.

    Attributes:
        value: the elements that it has now.
        level: the call that it belongs to.
        is_changed: whether this is another value than at first.
    """

    __slots__ = ("is_changed", "level", "value")

    def __init__(self, value: Any, level: Level) -> None:
        self.value, self.level, self.is_changed = value, level, False


class _Values(Level):
    """One call of a function without effects."""

    __slots__ = ("_copies_views", "_given")

    takes_all = True

    def __init__(self, copies_views: bool) -> None:
        super().__init__(False)
        self._copies_views = copies_views
        self._given: dict[int, tuple[Any, Any]] = {}

    def makes(self, op: Op) -> bool:
        return True

    def decomposes(self, op: Op, args: Sequence[Any]) -> bool:
        return "device" not in op.names  # others make memory by themselves

    def after_end(self, op: Op, tensor: Any) -> Any:
        return _value_of(tensor)

    def answer(self, outer: tuple[Level, ...], op: Op, args: Sequence[Any], out: Any, mode: int) -> Any:
        if op.rule == "view" and out is None and self._is_mine(args[op.target]):
            return viewed(op, args, mode, lambda *view: self._made(within(outer, self._reshaped, *view)))
        if mode == INPLACE or op.is_inplace:
            unrecorded(partial(within, outer, self._overwrite, op, args, mode))
            return written(args[op.target])
        result = unrecorded(partial(within, outer, self._run, op, args))
        if out is None:
            made = tree_map(self._made, result)
            return op.results(made) if op.results is not None and isinstance(made, tuple) else made
        targets = out if isinstance(out, (tuple, list)) else [out]
        for target, each in zip(targets, result if isinstance(result, (tuple, list)) else [result], strict=True):
            target.resize_as_(each) if target.shape != each.shape else None
            unrecorded(partial(within, outer, self._write, target, each))
        return out

    # ---- values ----

    def wrapped(self, value: Any) -> Any:
        """An argument of the function; the same tensor is the same one."""
        if not isinstance(value, Tensor):
            return value
        if id(value) not in self._given:
            self._given[id(value)] = value, self._made(_dense(value))
        return self._given[id(value)][1]

    def unwrapped(self, value: Any) -> Any:
        """A result for the caller: a value that arguments do not share."""
        if not self._is_mine(value):
            return value
        plain = _value_of(value)
        shares = any(plain is each for each, _ in self._given.values()) and held_by(value).is_changed
        return plain.clone() if shares else plain

    def write_back(self) -> None:
        """Gives arguments that were written to their last values."""
        for tensor, stand in self._given.values():
            if held_by(stand).is_changed:
                tensor.copy_(_value_of(stand))

    def _is_mine(self, value: Any) -> bool:
        return isinstance(value, Tensor) and level_of(value) is self

    def _made(self, value: Any) -> Any:
        return stand_in(value, 0, _Value(value, self)) if isinstance(value, Tensor) else value

    def _plain(self, value: Any) -> Any:
        if not self._is_mine(value):
            return value
        plain = _value_of(value)
        return plain.clone() if self._copies_views and plain is not held_by(value).value else plain

    def _run(self, op: Op, args: Sequence[Any]) -> Any:
        return tree_map(_dense, run(op, with_each(args, self._plain)))

    def _reshaped(self, tensor: Any, sizes: Sequence[int]) -> Any:
        return _dense(_value_of(tensor).reshape(sizes))

    # ---- writes ----

    def _overwrite(self, op: Op, args: Sequence[Any], mode: int) -> None:
        target = args[op.target]
        if not self._is_mine(target):
            raise RuntimeError(
                f"functionalize: {op.name}() writes to a tensor that is no argument of the function, and mutating a "
                "non-functional tensor with a functional tensor is not allowed. Make it an argument, or within the "
                "function"
            )
        values = with_each(args, self._plain)
        if not op.is_inplace:
            self._write(target, run(op, values))
        elif op.name in _VALUES:
            self._write(target, _VALUES[op.name](*values))
        elif op.rule is None:
            raise RuntimeError(f"functionalize: {op.name}() changes the memory of a tensor, which is not supported")
        else:
            values[op.target] = values[op.target].clone()  # whose memory nothing else has
            dispatch(op, values, None, mode)
            self._write(target, values[op.target])

    def _write(self, target: Any, value: Any) -> None:
        held, old = held_by(target), _value_of(target)
        new = value.to(old.dtype).expand(old.shape)
        if old is not held.value:  # a view
            positions = _in_order_of(
                ops.arange(held.value.numel(), device=old.device).view(held.value.shape), held.value
            )
            new = held.value.put(view_like(target, positions), new)
        held.value, held.is_changed = _in_order_of(new, held.value), True


def _in_order_of(value: Any, other: Any) -> Any:
    """A value with the strides of another one, which is dense: views are taken by these."""
    if value.stride() == other.stride():
        return value
    dims = _order_of(other)
    return value.permute(dims).contiguous().permute([dims.index(dim) for dim in range(other.ndim)])


def _dense(value: Any) -> Any:
    """A value in memory without gaps, of which each element is there once."""
    if not isinstance(value, Tensor) or value.permute(_order_of(value)).is_contiguous():
        return value
    return value.contiguous()


def _order_of(tensor: Any) -> list[int]:
    """The dimensions, from the one with the largest steps in memory on."""
    return sorted(range(tensor.ndim), key=tensor.stride, reverse=True)


def _value_of(tensor: Any) -> Any:
    return view_like(tensor, held_by(tensor).value)


_VALUES: dict[str, Callable[..., Any]] = {
    "copy_": lambda target, other, non_blocking: other.to(target).expand(target.shape).clone(),
    "fill_": lambda target, value: value.to(target) if isinstance(value, Tensor) else ops.full_like(target, value),
    "zero_": lambda target: ops.zeros_like(target),
}
"""Operators that have a form in place alone: the value that they give."""
