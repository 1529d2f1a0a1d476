"""Tensors with memory of their own whose elements are not set: what factories written in Python are made of.

Composites of ops.yaml (`zeros_like`, `new_zeros`) and users reach the allocator through these functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .._C import ffi, lib
from .devices import CPU, device, on_device
from .dtypes import dtype as dtype_class
from .dtypes import get_default_dtype
from .handles import integers, wrap
from .shapes import packed_strides
from .types import check_placement, layout, memory_order

if TYPE_CHECKING:
    from .._tensor.tensor import Tensor

__all__ = ["allocate_like", "dtype_or_default", "empty_strided", "ends_of_sequence"]


def allocate(shape: Sequence[int], code: int, like: Any = None) -> Any:
    """A contiguous tensor on the default device, of the dtype with this code and the class of `like`."""
    return wrap(lib.empty_strided(shape, ffi.NULL, len(shape), code), like)


def allocate_like(like: Any, dtype: Any = None, memory_format: Any = None) -> Tensor:
    """A tensor of the shape of `like` on the default device, in its order unless `memory_format` says otherwise."""
    code = -1 if dtype is None else dtype_class.resolve(dtype, "empty_like").code
    return wrap(lib.empty_like(like._h, code, memory_order("empty_like", memory_format)), like)


def empty_strided(
    size: Sequence[int],
    stride: Sequence[int],
    *,
    dtype: dtype_class | None = None,
    layout: layout | None = None,
    device: device | str | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A tensor with this shape and these strides whose elements are not initialised."""
    where = check_placement("empty_strided", layout=layout, device=device, pin_memory=pin_memory)
    sizes, strides = integers("empty_strided", "size", (size,)), integers("empty_strided", "stride", (stride,), 2)
    if len(sizes) != len(strides):
        raise RuntimeError(
            f"dimensionality of sizes ({len(sizes)}) must match dimensionality of strides ({len(strides)})"
        )
    result = _strided(where, sizes, strides, dtype_or_default(dtype, "empty_strided"))
    return result.requires_grad_(requires_grad)


def empty_permuted(
    size: Sequence[int],
    physical_layout: Sequence[int],
    *,
    dtype: dtype_class | None = None,
    layout: layout | None = None,
    device: device | str | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A tensor of this shape whose dimensions lie in memory in the order `physical_layout`, the slowest one first."""
    where = check_placement("empty_permuted", layout=layout, device=device, pin_memory=pin_memory)
    sizes = integers("empty_permuted", "size", (size,))
    order = integers("empty_permuted", "physical_layout", (physical_layout,), 2)
    if len(order) != len(sizes):
        raise RuntimeError(
            "Number of dimensions in size does not match the length of the physical_layout; i.e. len(size) = "
            f"{len(sizes)} is not equal to len(physical_layout) = {len(order)}"
        )
    if len(set(order)) < len(order):
        raise RuntimeError("Duplicate dim not allowed")
    for dim in reversed(order):
        if not 0 <= dim < len(sizes):
            raise RuntimeError(
                f"Dimension out of range (expected to be between 0 and {len(sizes) - 1}, but got {dim} at index "
                f"{order.index(dim)}).  NB: negative dims not currently supported; file an issue if you want it."
            )
    strides = packed_strides(sizes, order)
    result = _strided(where, sizes, strides, dtype_or_default(dtype, "empty_permuted"))
    return result.requires_grad_(requires_grad)


def _strided(where: device | None, sizes: Sequence[int], strides: Sequence[int], dtype: dtype_class) -> Tensor:
    return wrap(on_device(where, lib.empty_strided, sizes, strides, len(sizes), dtype.code))


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


def _number(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value
