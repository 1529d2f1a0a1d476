"""Writing values into tensors: what `t[...] = value` and `t.copy_(value)` do once the place is known.

Reads any value that can become elements: tensors, numbers, NumPy's arrays and numbers, sequences of numbers.
"""

from __future__ import annotations

import math
from typing import Any

from . import handles
from ._C import lib
from .dtypes import BY_CODE, dtype
from .errors import raise_pending
from .handles import OVERFLOW, shape_of, strides_of

_FLOAT32_MAXIMUM = 3.4028234663852886e38


def assign(target: float, value: Any) -> None:
    """Copies `value`, broadcast, into the elements of the handle `target`."""
    kind = type(value)
    if kind is float or kind is int or kind is bool:
        fill(target, value)
        return
    tensor = value if isinstance(value, handles.Tensor) else _tensor_of(target, value)
    _copy(target, tensor._h)


def fill(target: float, value: float) -> None:
    """Writes a number into every element."""
    number = _number_handle(value, BY_CODE[lib.dtype(target)])
    try:
        if not lib.copy_(target, number):
            raise_pending()
    finally:
        lib.release(number)


def _number_handle(value: float, target: dtype) -> float:
    """A handle for a number that is to be stored as `target`; raises when it cannot be."""
    if isinstance(value, int):
        if not -(2**63) <= value < 2**63:
            raise ValueError(OVERFLOW)
        # Unsigned integers take negative numbers as bit patterns.
        minimum = target.minimum if target.is_signed else -target.maximum
        if target.is_integer and not minimum <= value <= target.maximum:
            raise _range_error(target)
        handle = lib.number_i(value)
    else:
        # A bool dtype takes every number, and asks only whether it is zero.
        if target.is_integer:
            if not (math.isfinite(value) and target.minimum <= int(value) <= target.maximum):
                raise _range_error(target)
        elif target.scalar_name == "Float" and math.isfinite(value) and abs(value) > _FLOAT32_MAXIMUM:
            raise _range_error(target)
        handle = lib.number_d(value)
    if not handle:
        raise_pending()
    return handle


def _range_error(target: dtype) -> RuntimeError:
    name = str(target).rpartition(".")[2]
    c_type = {"int32": "int", "float32": "float"}.get(name, name + "_t")
    return RuntimeError(f"value cannot be converted to type {c_type} without overflow")


def _tensor_of(target: float, value: Any) -> Any:
    """A tensor of the values that an object holds, in the dtype of the target unless it has one of its own."""
    from . import construct, interchange

    if interchange.is_array(value):
        return interchange.from_array(value, warn=False)
    if isinstance(value, (int, float, list, tuple, range)) or interchange.is_array_scalar(value):
        return construct.tensor(value, dtype=BY_CODE[lib.dtype(target)])
    kind = type(value)
    name = f"numpy.{kind.__name__}" if kind.__module__ == "numpy" else kind.__name__
    scalar_name = BY_CODE[lib.dtype(target)].scalar_name
    raise TypeError(f"can't assign a {name} to a opweave.{scalar_name}Tensor")


def _copy(target: float, source: float) -> None:
    target_shape, source_shape = shape_of(target), shape_of(source)
    extra = len(source_shape) - len(target_shape)
    if extra > 0 and all(size == 1 for size in source_shape[:extra]):
        # Leading dimensions of size one say nothing; everywhere else more dimensions than the target has are wrong.
        sizes, strides = tuple(source_shape)[extra:], strides_of(source)[extra:]
        view = lib.as_strided(source, sizes, strides, len(sizes), lib.storage_offset(source), -1)
        if not view:
            raise_pending()
        try:
            _copy(target, view)
        finally:
            lib.release(view)
        return
    _check_expandable(source, tuple(source_shape), tuple(target_shape))
    if not lib.copy_(target, source):
        raise_pending()


def _check_expandable(source: float, shape: tuple[int, ...], target: tuple[int, ...]) -> None:
    extra = len(target) - len(shape)
    if extra < 0:
        scalar_name = BY_CODE[lib.dtype(source)].scalar_name
        raise RuntimeError(
            f"expand(opweave.{scalar_name}Tensor{{{list(shape)}}}, size={list(target)}): the number of sizes provided "
            f"({len(target)}) must be greater or equal to the number of dimensions in the tensor ({len(shape)})"
        )
    for dim in range(len(target) - 1, extra - 1, -1):
        size = shape[dim - extra]
        if size not in (1, target[dim]):
            raise RuntimeError(
                f"The expanded size of the tensor ({target[dim]}) must match the existing size ({size}) at "
                f"non-singleton dimension {dim}.  Target sizes: {list(target)}.  Tensor sizes: {list(shape)}"
            )
