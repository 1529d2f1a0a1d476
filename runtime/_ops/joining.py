"""Joins tensors, for the composites `cat`, `stack` and their like; messages are torch's."""

from __future__ import annotations

import itertools
import math
from array import array
from collections.abc import Sequence
from typing import Any

from .._base.allocation import allocate
from .._base.devices import get_default_device
from .._base.dtypes import EXPORTS, get_default_dtype
from .._base.interchange import tensor_of_bytes
from .._base.promotion import promote_types as promoted
from .._base.shapes import common_shape
from .._dispatch.ops import ops

__all__ = [
    "block_diagonal",
    "broadcast_all",
    "check_vector",
    "column",
    "combination_indices",
    "grids",
    "joined_at",
    "promoted",
    "raised",
    "triangle_indices",
]

MOST_INDICES = 2**33
"""The largest number of indices: more do not fit in memory, and would fill it before an error is raised."""


def joined_at(function: str, tensors: Any, ndim: int, dim: int) -> Any:
    """hstack, vstack, dstack: raise each tensor to `ndim` dims, then cat along `dim` (dim 0 if all are 1-D)."""
    tensors = [raised(tensor, ndim) for tensor in tensors]
    if not tensors:
        raise RuntimeError(f"{function} expects a non-empty TensorList")
    return ops.cat(tensors, min(dim, tensors[0].ndim - 1))


def raised(tensor: Any, ndim: int) -> Any:
    """Return the tensor with at least `ndim` dimensions, as atleast_1d and its like do."""
    have = tensor.ndim
    if have >= ndim:
        return tensor
    if have == 0:
        return tensor.reshape((1,) * ndim)
    if ndim == 2:
        return tensor.unsqueeze(0)
    return tensor.unsqueeze(0).unsqueeze(-1) if have == 1 else tensor.unsqueeze(-1)


def column(tensor: Any) -> Any:
    """Return a vector or a number as a matrix with one column."""
    return tensor.reshape(tensor.numel(), 1) if tensor.ndim < 2 else tensor


def block_diagonal(tensors: Sequence[Any]) -> Any:
    """Return a matrix with the given matrices along its diagonal and zeros elsewhere."""
    for index, tensor in enumerate(tensors):
        if tensor.ndim > 2:
            raise RuntimeError(
                "opweave.block_diag: Input tensors must have 2 or fewer dimensions. "
                f"Input {index} has {tensor.ndim} dimensions"
            )
    if not tensors:
        return allocate((1, 0), get_default_dtype().code)
    blocks = [raised(tensor, 2) for tensor in tensors]
    dtype = tensors[0].dtype
    for tensor in tensors[1:]:
        dtype = promoted(dtype, tensor.dtype)
    shape = (sum(block.shape[0] for block in blocks), sum(block.shape[1] for block in blocks))
    result = allocate(shape, dtype.code).zero_()
    top = left = 0
    for block in blocks:
        rows, columns = block.shape
        result.narrow(0, top, rows).narrow(1, left, columns).copy_(block)
        top, left = top + rows, left + columns
    return result


def broadcast_all(tensors: Sequence[Any]) -> tuple[Any, ...]:
    """Return views of all tensors in the shape to which they broadcast; those that have it as they are."""
    refusal = "The size of tensor a ({a}) must match the size of tensor b ({b}) at non-singleton dimension {dim}"
    shape: list[int] = []
    for tensor in tensors:
        shape = common_shape(shape, tensor.shape, refusal)
    return tuple(tensor if [*tensor.shape] == shape else tensor.expand(shape) for tensor in tensors)


def grids(tensors: Sequence[Any], indexing: str | None) -> tuple[Any, ...]:
    """Return for each vector its grid, a view that repeats it along the dimensions of the other vectors."""
    if not tensors:
        raise RuntimeError("meshgrid expects a non-empty TensorList")
    for tensor in tensors:
        if tensor.ndim > 1:
            raise RuntimeError(f"opweave.meshgrid: Expected 0D or 1D tensor in the tensor list but got: {tensor}")
        if tensor.dtype is not tensors[0].dtype:
            raise RuntimeError("meshgrid expects all tensors to have the same dtype")
        if tensor.device != tensors[0].device:
            raise RuntimeError("meshgrid expects all tensors to have the same device")
    if indexing not in (None, "ij", "xy"):
        raise RuntimeError(f'opweave.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}')
    swap = indexing == "xy" and len(tensors) > 1
    if swap:
        tensors = [tensors[1], tensors[0], *tensors[2:]]
    shape = [tensor.numel() for tensor in tensors]
    views = []
    for index, tensor in enumerate(tensors):
        sizes = [1] * len(shape)
        sizes[index] = shape[index]
        views.append(tensor.view(sizes).expand(shape))
    if swap:
        views[0], views[1] = views[1], views[0]
    return tuple(views)


def check_vector(tensor: Any) -> None:
    """Raise RuntimeError unless the tensor has one dimension."""
    if tensor.ndim != 1:
        raise RuntimeError(f"Expect a 1D vector, but got shape {list(tensor.shape)}")


def triangle_indices(rows: int, columns: int, offset: int, lower: bool) -> tuple[Any, Any]:
    """Return rows and columns of the elements of a matrix on or below the diagonal `offset`, or on or above it."""
    arange = ops.arange
    row = arange(rows)
    offset = min(max(offset, -rows), columns)
    diagonal = (row + offset + lower).clamp(0, columns)
    counts = diagonal if lower else columns - diagonal
    total = triangle_size(rows, columns, offset, lower)
    # The number of an element less that of the first one of its row is its column.
    before = counts.cumsum(0) - counts - (0 if lower else diagonal)
    column = arange(total) - before.repeat_interleave(counts, output_size=total)
    return row.repeat_interleave(counts, output_size=total), column


def triangle_size(rows: int, columns: int, offset: int, lower: bool) -> int:
    """Return the number of those elements."""
    shift = offset + lower  # in row r, so many elements more than r are left of the triangle above the diagonal
    first = min(max(-shift, 0), rows)
    last = min(max(columns - shift, first), rows)
    left = (last - first) * shift + (last * (last - 1) - first * (first - 1)) // 2 + (rows - last) * columns
    return left if lower else rows * columns - left


def combination_indices(count: int, r: int, with_replacement: bool) -> Any:
    """Return the indices of all choices of r among `count` elements, one choice after the other."""
    if r < 0:
        raise RuntimeError(f"Expect a non-negative number, but got {r}")
    number = math.comb(max(count + r - 1, 0) if with_replacement else count, r) * r
    if number > MOST_INDICES:
        raise RuntimeError(f"combinations of {number} elements in all are more than fit in memory")
    if not number:
        return ops.empty((0,), dtype=EXPORTS["int64"])
    if r == 2:
        return ops.stack(triangle_indices(count, count, not with_replacement, False), 1).view(-1)
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    indices = array("q", itertools.chain.from_iterable(choose(range(count), r)))
    return tensor_of_bytes(indices, (len(indices),), EXPORTS["int64"]).to(get_default_device())
