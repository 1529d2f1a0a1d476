"""Tensors with memory of their own whose elements are not set: what factories written in Python are made of.

Composites of ops.yaml (`zeros_like`, `new_zeros`) and users reach the allocator through these functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .._C import ffi, lib
from .devices import CPU, META, get_default_device, has_values, on_device
from .dtypes import dtype as dtype_class
from .dtypes import get_default_dtype
from .handles import wrap
from .types import memory_order

if TYPE_CHECKING:
    from .._tensor.tensor import Tensor

__all__ = ["allocate_like", "allocate_strided", "dtype_or_default", "ends_of_sequence"]


def allocate(shape: Sequence[int], code: int) -> Any:
    """A contiguous tensor on the default device, of the dtype with this code."""
    return wrap(lib.empty_strided(shape, ffi.NULL, len(shape), code))


def allocate_like(like: Any, dtype: Any = None, memory_format: Any = None) -> Tensor:
    """A tensor of the shape of `like` on the default device, in its order unless `memory_format` says otherwise."""
    code = -1 if dtype is None else dtype_class.resolve(dtype, "empty_like").code
    return wrap(lib.empty_like(like._h, code, memory_order("empty_like", memory_format)))


def allocate_strided(size: Sequence[int], stride: Sequence[int], dtype: Any = None) -> Tensor:
    """A tensor with this shape and these strides on the default device."""
    if len(size) != len(stride):
        raise RuntimeError(
            f"dimensionality of sizes ({len(size)}) must match dimensionality of strides ({len(stride)})"
        )
    return wrap(lib.empty_strided(size, stride, len(size), dtype_or_default(dtype, "empty_strided").code))


def dtype_or_default(dtype: Any, function: str = "empty") -> dtype_class:
    """The dtype that was given, else the default one."""
    return get_default_dtype() if dtype is None else dtype_class.resolve(dtype, function)


def ends_of_sequence(name: str, start: Any, end: Any, dtype: Any) -> tuple[Any, Any]:
    """First and last value of linspace and its like, in the dtype of the result: a complex one if either is complex."""
    ndims = [getattr(each, "ndim", 0) for each in (start, end)]
    if any(ndims):
        raise RuntimeError(
            f"{name} only supports 0-dimensional start and end tensors, "
            f"but got start with {ndims[0]} dimension(s) and end with {ndims[1]} dimension(s)."
        )
    start, end = (_in_place_of(each) for each in (start, end))
    wanted = dtype_or_default(dtype, name)
    if not wanted.is_complex and any(isinstance(_number(each), complex) for each in (start, end)):
        if dtype is not None:
            inferred = get_default_dtype().to_complex()
            raise RuntimeError(
                f"opweave.{name}(): inferred dtype {inferred.scalar_name} can't be safely cast to passed dtype "
                f"{wanted.scalar_name}"
            )
        wanted = wanted.to_complex()
    # Numbers, which have a value wherever the sequence is made.
    first, last = (on_device(CPU, allocate, (), wanted.code).fill_(each) for each in (start, end))
    return first, last


def _in_place_of(value: Any) -> Any:
    """The value, or a zero of its kind where neither it nor the sequence has elements."""
    if not hasattr(value, "_h") or has_values(value) or get_default_device() is not META:
        return value
    return 0j if value.dtype.is_complex else 0


def _number(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value
