"""Tensors that get other memory, or another size of it: the bodies of `resize_`, `set_` and their like."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._base.allocation import allocate
from .._base.errors import raise_pending
from .._base.handles import exchange, shape_of, wrap
from .._base.pinning import pinned_copy
from .._base.shapes import packed_strides, strides_in_order
from .._base.tensor_class import Tensor
from .._base.type_names import type_name
from .._base.types import FORMATS, preserve_format
from .._C import lib
from .._handle import apart, item

__all__ = ["element_of", "format_of", "made_in_inference_mode", "pinned_copy", "resized", "set_memory"]


def resized(tensor: Any, sizes: Sequence[int], memory_format: Any) -> Any:
    """Give the tensor another shape, in C's order or that of the format."""
    if memory_format is preserve_format:
        raise RuntimeError("resize_(): the memory format cannot be preserved, but must be named or left out")
    if tensor._requires_grad:
        raise RuntimeError("cannot resize variables that require grad")
    strides = None if memory_format is None else strides_in_order(sizes, memory_format.order)
    if tuple(sizes) != tuple(shape_of(tensor._h)):
        if not lib.resize_(tensor._h, sizes, len(sizes)):
            raise_pending()
        lib.count_write(tensor._h)
    if strides is not None and strides != tensor.stride():
        placed = lib.as_strided(tensor._h, sizes, strides, len(sizes), tensor.storage_offset(), -1)
        exchange(tensor, wrap(placed))
    return tensor


def format_of(template: Any) -> Any:
    """The memory format that the strides of a tensor have, or None."""
    return next((each for each in FORMATS if template.is_contiguous(memory_format=each)), None)


def set_memory(
    tensor: Any, source: Any, storage_offset: int, size: Sequence[int] | None, stride: Sequence[int] | None
) -> Any:
    """Make the tensor a view of the memory of a tensor or of a storage; None: of no memory.

    That counts as a write to the tensor and to what shared its memory. The tensor counts its own writes from then on.
    """
    found = _view_of_memory(tensor, source, storage_offset, size, stride)
    lib.count_write(tensor._h)
    return exchange(tensor, apart(found, lib.version(tensor._h)))


def _view_of_memory(
    tensor: Any, source: Any, storage_offset: int, size: Sequence[int] | None, stride: Sequence[int] | None
) -> Any:
    if isinstance(source, Tensor) and size is None:
        size, stride, storage_offset = source.shape, source.stride(), source.storage_offset()
    if source is None:
        return allocate((0,), lib.dtype(tensor._h))
    elements = getattr(source, "_elements", source)  # those of a storage
    if not isinstance(elements, Tensor):
        raise TypeError(f"set_(): argument 'source' (position 1) must be Tensor, not {type_name(source)}")
    if elements.device != tensor.device:
        raise RuntimeError(
            f'Attempted to set the storage of a tensor on device "{tensor.device}" to a storage on different device '
            f'"{elements.device}".  This is no longer allowed; the devices must match.'
        )
    if elements is not source and elements.itemsize == 1 != tensor.itemsize:
        count = elements.numel() // tensor.itemsize
        elements = wrap(lib.as_strided(elements._h, (count,), (1,), 1, 0, tensor.dtype.code))
    elif elements.dtype is not tensor.dtype:
        wanted, found = tensor.dtype.scalar_name, elements.dtype.scalar_name
        raise RuntimeError(f"Could not set tensor of type {found} to a tensor of type {wanted}")
    sizes = (elements.numel(),) if size is None else size
    strides = packed_strides(sizes, range(len(sizes))) if stride is None else stride
    return elements.as_strided(sizes, strides, storage_offset)


# ---- what Python asks ---------------------------------------------------------------------------------------


def element_of(tensor: Any) -> bool | int | float | complex:
    """Return the value of the only element."""
    value: bool | int | float | complex | None = item(tensor)
    if value is not None:
        return value
    count = lib.numel(tensor._h)
    if count == 1:
        raise RuntimeError("Tensor.item() cannot be called on meta tensors")
    raise RuntimeError(f"a Tensor with {count} elements cannot be converted to Scalar")


def made_in_inference_mode(tensor: Any) -> bool:
    """Return True if the tensor's memory was made in `inference_mode`."""
    return bool(lib.storage_is_inference(lib.storage_of(tensor._h)))
