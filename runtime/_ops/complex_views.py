"""Views of complex numbers as pairs of real ones over the same memory, and back, for composites."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._base.errors import raise_pending
from .._base.handles import shape_of, strides_of, wrap
from .._C import lib
from .._handle import as_view

if TYPE_CHECKING:
    from .._tensor.tensor import Tensor

__all__ = ["complex_view", "real_view"]


def real_view(input: Any) -> Tensor:
    """Return the real view of shape (*, 2) that holds the real and imaginary parts of `input` of shape (*)."""
    if not input.is_complex():
        raise RuntimeError("view_as_real is only supported for complex tensors")
    handle = input._h
    sizes, strides = (*shape_of(handle), 2), (*(2 * stride for stride in strides_of(handle)), 1)
    return _view(input, sizes, strides, 2 * lib.storage_offset(handle), input.dtype.to_real())


def complex_view(input: Any) -> Tensor:
    """Return the complex view of shape (*) of `input` of shape (*, 2), whose last dimension holds both parts."""
    dtype = input.dtype
    if not dtype.is_floating_point or dtype.to_complex().to_real() is not dtype:
        raise RuntimeError(
            "view_as_complex is only supported for half, float and double tensors, but got a tensor of scalar type: "
            f"{dtype.scalar_name}"
        )
    if not input.ndim:
        raise RuntimeError("Input tensor must have one or more dimensions")
    sizes, strides, offset = shape_of(input._h), strides_of(input._h), lib.storage_offset(input._h)
    if sizes[-1] != 2:
        raise RuntimeError("Tensor must have a last dimension of size 2")
    if strides[-1] != 1:
        raise RuntimeError("Tensor must have a last dimension with stride 1")
    if any(stride % 2 for stride in strides[:-1]):
        raise RuntimeError("Tensor must have a stride divisible by 2 for all but last dimension")
    if offset % 2:
        raise RuntimeError("Tensor must have a storage_offset divisible by 2")
    halved = tuple(stride // 2 for stride in strides[:-1])
    return _view(input, sizes[:-1], halved, offset // 2, dtype.to_complex())


def _view(input: Any, sizes: tuple[int, ...], strides: tuple[int, ...], offset: int, dtype: Any) -> Tensor:
    handle = lib.as_strided(input._h, sizes, strides, len(sizes), offset, dtype.code)
    if not handle:
        raise_pending()
    return as_view(wrap(handle), input)
