"""Class Array: a tensor whose operators and indices follow the standard where torch's rules are others.

Those of class Tensor are torch's: a tensor without dimensions does not decide about the dtype, negative steps are
refused, and quotients of infinities are NaN. An array is a tensor in every other respect.
"""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .._base.dtypes import EXPORTS
from .._base.tensor_class import Tensor as _Tensor
from .._dispatch.ops import ops
from .._tensor.tensor import Tensor

__all__ = ["Array"]

_OPERATORS = {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "floordiv": "floor_divide",
    "mod": "remainder", "pow": "pow", "matmul": "matmul", "and": "bitwise_and", "or": "bitwise_or",
    "xor": "bitwise_xor", "lshift": "bitwise_left_shift", "rshift": "bitwise_right_shift",
}  # fmt: skip
_COMPARISONS = {
    "eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal",
}  # fmt: skip
_OPERANDS = (_Tensor, bool, int, float, complex)
_BOOL = EXPORTS["bool"]


class Array(Tensor):
    """A tensor that follows the standard. Functions of `opweave.array_api` make arrays, and take all tensors."""

    __slots__ = ()
    __module__ = "opweave.array_api"
    __hash__ = Tensor.__hash__

    def __getitem__(self, index: Any) -> Any:
        tensor, forward = _forward(self.as_subclass(Tensor), _mask(self, index))
        return tensor[forward].as_subclass(Array)

    def __setitem__(self, index: Any, value: Any) -> None:
        if any(_is_backward(part) for part in _parts(index)):
            chosen = Array.__getitem__(ops.arange(self.numel()).view(self.shape).as_subclass(Array), index)
            index = ops.unravel_index(chosen, self.shape)
        super().__setitem__(index, value)


def _mask(array: Any, index: Any) -> Any:
    """A mask of size 0 along some dimensions, which the standard takes for those of any size, chooses nothing."""
    if not (isinstance(index, _Tensor) and index.dtype is _BOOL and 0 in index.shape and index.ndim <= array.ndim):
        return index
    shape = array.shape[: index.ndim]
    if not all(size in (0, other) for size, other in zip(index.shape, shape, strict=True)):
        return index
    return ops.zeros(shape, dtype=_BOOL)


def _parts(index: Any) -> tuple[Any, ...]:
    return index if isinstance(index, tuple) else (index,)


def _is_backward(part: Any) -> bool:
    return isinstance(part, slice) and part.step is not None and part.step < 0


def _forward(array: Any, index: Any) -> tuple[Any, Any]:
    """The array with the dimensions reversed that the index reads backward, and the index that then reads them all."""
    parts = _parts(index)
    if not any(_is_backward(part) for part in parts):
        return array, index
    given = sum(_dimensions(part) for part in parts if part is not Ellipsis)
    result, dim = list(parts), 0
    for place, part in enumerate(parts):
        if part is Ellipsis:
            dim += array.ndim - given
            continue
        if _is_backward(part):
            start, stop, step = part.indices(array.shape[dim])
            count = max(0, -((start - stop) // step))
            last = start + (count - 1) * step
            kept = ops.slice(array, dim, last, start + 1, -step) if count else ops.slice(array, dim, 0, 0, 1)
            array = ops.flip(kept, [dim])
            result[place] = slice(None)
        dim += _dimensions(part)
    return array, tuple(result)


def _dimensions(part: Any) -> int:
    """Return the number of the array's dimensions that a part of an index stands for."""
    if part is None or isinstance(part, bool):
        return 0
    return part.ndim if isinstance(part, _Tensor) and part.dtype is _BOOL else 1


# ---- operators ----------------------------------------------------------------------------------------------


def add_operators(functions: Mapping[str, Callable[..., Any]]) -> None:
    """Gives the class the operators of Python, as calls of the functions of the standard."""
    for name, function in _OPERATORS.items():
        setattr(Array, f"__{name}__", _operator(f"__{name}__", functions[function], False))
        setattr(Array, f"__r{name}__", _operator(f"__r{name}__", functions[function], True))
    for name in ("floordiv", "mod"):
        setattr(Array, f"__i{name}__", _in_place(functions[_OPERATORS[name]]))
    for name, function in _COMPARISONS.items():
        setattr(Array, f"__{name}__", _operator(f"__{name}__", functions[function], False))
    for name in ("real", "imag"):  # of all arrays, as NumPy's have them
        setattr(Array, name, property(functions[name]))


def _operator(name: str, function: Callable[..., Any], reflected: bool) -> Callable[..., Any]:
    by_class_tensor = getattr(Tensor, name)  # which knows arrays of other libraries, and classes that implement it

    def operator(self: Any, other: Any) -> Any:
        if not isinstance(other, _OPERANDS):
            return by_class_tensor(self, other)
        return function(other, self) if reflected else function(self, other)

    operator.__name__ = operator.__qualname__ = name
    return operator


def _in_place(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, other: self.copy_(function(self, other))
