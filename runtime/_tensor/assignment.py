"""Values that are to be written into tensors: what `t[...] = value` makes of the value.

Reads anything that can become elements: tensors, numbers, NumPy's arrays and numbers, sequences of numbers.
"""

from __future__ import annotations

import math
from typing import Any

from .._base import handles
from .._base.devices import CPU
from .._base.dtypes import BY_CODE, EXPORTS, dtype
from .._base.errors import raise_pending, take_pending
from .._base.handles import OVERFLOW, type_name
from .._base.keys import KEY_BITS
from .._C import lib
from .._dispatch.ops import ops

_UINT64 = EXPORTS["uint64"]
_QUANTIZED = KEY_BITS["quantized"]


def write(target: float, value: Any) -> bool:
    """Writes a tensor or a number, broadcast, into the elements of `target`.

    False, with nothing written, for other values, and for tensors that do not fit as they are.
    """
    kind = type(value)
    if kind is handles.Tensor:
        if lib.copy_(target, value._h):
            return True
        error = take_pending()
        if error is not None and not isinstance(error, Exception):
            raise error  # an interruption, which is no matter of the value
    elif kind in _NUMBERS:
        number = _number_handle(value, BY_CODE[lib.dtype(target)])
        done = lib.copy_(target, number)
        lib.release(number)
        if not done:
            raise_pending()
        return True
    return False


def _number_handle(value: Any, target: dtype) -> float:
    """A handle for a number that is to be stored as `target`; raises when it cannot be.

    Numbers beyond a format of at most 16 bits are converted as elements are where they are assigned, as in torch, and
    refused elsewhere.
    """
    if target.is_complex:
        limits = target.to_real().limits
        assert limits is not None
        if any(limits[2] < abs(part) < math.inf for part in (value.real, value.imag)):
            raise _range_error(target)
    if isinstance(value, int):
        if not -(2**63) <= value < (2**64 if target is _UINT64 else 2**63):
            raise ValueError(OVERFLOW)
        # Unsigned integers take negative numbers as bit patterns.
        minimum = target.minimum if target.is_signed else -target.maximum
        if target.is_integer and not minimum <= value <= target.maximum:
            raise _range_error(target)
        handle = lib.number_u(value) if value >= 2**63 else lib.number_i(value)
    elif isinstance(value, complex):
        if not target.is_complex:
            raise _range_error(target)
        handle = lib.number_c(value.real, value.imag)
    else:
        # A bool dtype takes every number, and asks only whether it is zero.
        if target.is_integer:
            if not target.minimum <= value <= target.maximum:
                raise _range_error(target)
        elif target.limits and target.itemsize > 2 and target.limits[2] < abs(value) < math.inf:
            raise _range_error(target)
        handle = lib.number_d(value)
    if not handle:
        raise_pending()
    return handle


def tensor_of(value: Any, target: float) -> Any:
    """A tensor of a value that is none, for the tensor with the handle `target`."""
    dtype = EXPORTS["float32"] if lib.keys(target) & _QUANTIZED else BY_CODE[lib.dtype(target)]
    if type(value) not in _NUMBERS:
        return _elements_of(value, dtype)
    return ops._to_copy(handles.wrap(_number_handle(value, dtype)), dtype=dtype)


_NUMBERS = frozenset((float, int, bool, complex))


def _range_error(target: dtype) -> RuntimeError:
    return RuntimeError(f"value cannot be converted to type {target.cpp_name} without overflow")


def _elements_of(value: Any, target: dtype) -> Any:
    """A tensor of the values that an object holds, in the dtype of the target unless it has one of its own."""
    from .._base import interchange
    from . import construct

    if interchange.is_array(value):
        return interchange.elements_of(value)
    if isinstance(value, (int, float, complex, list, tuple, range)) or interchange.is_array_scalar(value):
        return construct.tensor(value, dtype=target, device=CPU)
    if interchange.offered(value) is not None:
        return construct.as_tensor(value, device=CPU)
    raise TypeError(f"can't assign a {type_name(value)} to a opweave.{target.scalar_name}Tensor")


def check_expandable(source: float, shape: tuple[int, ...], target: tuple[int, ...]) -> None:
    """Raise RuntimeError unless elements of this shape can be broadcast to the target."""
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
