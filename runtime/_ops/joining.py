"""Joins of tensors, for the composites `cat`, `stack` and their like; messages are those of torch."""

from __future__ import annotations

import itertools
import math
from array import array
from collections.abc import Sequence
from functools import partial
from typing import Any

from .._base import histories
from .._base.allocation import allocate
from .._base.dtypes import EXPORTS, get_default_dtype
from .._base.handles import wrap
from .._base.histories import needs_grad
from .._base.interchange import tensor_of_bytes
from .._base.promotion import promote_types as promoted
from .._base.shapes import common_shape
from .._C import lib
from .._dispatch.ops import ops

__all__ = [
    "block_diagonal",
    "broadcast_all",
    "check_vector",
    "column",
    "grids",
    "joined",
    "joined_at",
    "places_of_combinations",
    "promoted",
    "raised",
    "triangle_indices",
]

MOST_PLACES = 2**33
"""More indices than that fit no memory; without a limit they would fill it before anything is said."""


def joined(tensors: Sequence[Any], dim: int, stacked: bool) -> Any:
    """The tensors one after the other along `dim`, which is a new dimension when they are stacked."""
    if not tensors:
        if stacked:
            raise RuntimeError("stack expects a non-empty TensorList")
        raise ValueError("opweave.cat(): expected a non-empty list of Tensors")
    if needs_grad(tensors):
        parts = _unstacked if stacked else _separated
        shapes = [tensor.shape for tensor in tensors]
        run = partial(joined, tensors, dim, stacked)
        name = "StackBackward0" if stacked else "CatBackward0"
        return histories.recording.by_formula(name, tensors, run, lambda grad: parts(grad, shapes, dim))
    handles = [tensor._h for tensor in tensors]
    return wrap(lib.join(handles, len(handles), dim, stacked))


def _unstacked(grad: Any, shapes: Sequence[Any], dim: int) -> Sequence[Any]:
    parts: Sequence[Any] = grad.unbind(dim)
    return parts


def _separated(grad: Any, shapes: Sequence[Any], dim: int) -> Sequence[Any]:
    """The part of each tensor; those of shape (0,) fit everywhere and have none."""
    parts, start = [], 0
    for shape in shapes:
        if tuple(shape) == (0,) and grad.ndim > 1:
            parts.append(grad.new_zeros(0))
            continue
        parts.append(grad.narrow(dim, start, shape[dim]))
        start += shape[dim]
    return parts


def joined_at(function: str, tensors: Any, ndim: int, dim: int) -> Any:
    """As `joined`, of tensors with at least `ndim` dimensions; those with just one are joined along it."""
    tensors = [raised(tensor, ndim) for tensor in tensors]
    if not tensors:
        raise RuntimeError(f"{function} expects a non-empty TensorList")
    return joined(tensors, min(dim, tensors[0].ndim - 1), False)


def raised(tensor: Any, ndim: int) -> Any:
    """With at least `ndim` dimensions, as atleast_1d and its like add them."""
    have = tensor.ndim
    if have >= ndim:
        return tensor
    if have == 0:
        return tensor.reshape((1,) * ndim)
    if ndim == 2:
        return tensor.unsqueeze(0)
    return tensor.unsqueeze(0).unsqueeze(-1) if have == 1 else tensor.unsqueeze(-1)


def column(tensor: Any) -> Any:
    """A vector or number as a matrix of one column."""
    return tensor.reshape(tensor.numel(), 1) if tensor.ndim < 2 else tensor


def block_diagonal(tensors: Sequence[Any]) -> Any:
    """Matrices along the diagonal of one whose other elements are zero."""
    for place, tensor in enumerate(tensors):
        if tensor.ndim > 2:
            raise RuntimeError(
                "opweave.block_diag: Input tensors must have 2 or fewer dimensions. "
                f"Input {place} has {tensor.ndim} dimensions"
            )
    if not tensors:
        return allocate((1, 0), get_default_dtype().code)
    blocks = [raised(tensor, 2) for tensor in tensors]
    of = tensors[0].dtype
    for tensor in tensors[1:]:
        of = promoted(of, tensor.dtype)
    shape = (sum(block.shape[0] for block in blocks), sum(block.shape[1] for block in blocks))
    result = allocate(shape, of.code).zero_()
    row = place = 0
    for block in blocks:
        rows, columns = block.shape
        result.narrow(0, row, rows).narrow(1, place, columns).copy_(block)
        row, place = row + rows, place + columns
    return result


def broadcast_all(tensors: Sequence[Any]) -> tuple[Any, ...]:
    """Views of all tensors in their common shape."""
    refusal = "The size of tensor a ({a}) must match the size of tensor b ({b}) at non-singleton dimension {dim}"
    shape: list[int] = []
    for tensor in tensors:
        shape = common_shape(shape, tensor.shape, refusal)
    return tuple(tensor.expand(shape) for tensor in tensors)


def grids(tensors: Sequence[Any], indexing: str | None) -> tuple[Any, ...]:
    """For each vector the grid of its coordinate: views in which the other dimensions repeat it."""
    if not tensors:
        raise RuntimeError("meshgrid expects a non-empty TensorList")
    for tensor in tensors:
        if tensor.ndim > 1:
            raise RuntimeError(f"opweave.meshgrid: Expected 0D or 1D tensor in the tensor list but got: {tensor}")
        if tensor.dtype is not tensors[0].dtype:
            raise RuntimeError("meshgrid expects all tensors to have the same dtype")
    if indexing not in (None, "ij", "xy"):
        raise RuntimeError(f'opweave.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}')
    swap = indexing == "xy" and len(tensors) > 1
    if swap:
        tensors = [tensors[1], tensors[0], *tensors[2:]]
    shape = [tensor.numel() for tensor in tensors]
    found = []
    for place, tensor in enumerate(tensors):
        sizes = [1] * len(shape)
        sizes[place] = shape[place]
        found.append(tensor.view(sizes).expand(shape))
    if swap:
        found[0], found[1] = found[1], found[0]
    return tuple(found)


def check_vector(tensor: Any) -> None:
    if tensor.ndim != 1:
        raise RuntimeError(f"Expect a 1D vector, but got shape {list(tensor.shape)}")


def triangle_indices(rows: int, columns: int, offset: int, lower: bool) -> tuple[Any, Any]:
    """Row and column of each element of a matrix on the diagonal `offset` or below it, or on it or above."""
    arange = ops.arange
    row = arange(rows)
    offset = min(max(offset, -rows), columns)
    diagonal = (row + offset + lower).clamp(0, columns)
    counts = diagonal if lower else columns - diagonal
    # The number of an element less that of the first one of its row is its place in the row.
    before = counts.cumsum(0) - counts - (0 if lower else diagonal)
    column = arange(counts.sum().item()) - before.repeat_interleave(counts)
    return row.repeat_interleave(counts), column


def places_of_combinations(count: int, r: int, with_replacement: bool) -> Any:
    """The positions of all choices of r among `count`, one choice after the other."""
    if r < 0:
        raise RuntimeError(f"Expect a non-negative number, but got {r}")
    number = math.comb(max(count + r - 1, 0) if with_replacement else count, r) * r
    if number > MOST_PLACES:
        raise RuntimeError(f"combinations of {number} elements in all are more than fit in memory")
    if not number:
        return tensor_of_bytes(array("q"), (0,), EXPORTS["int64"])
    if r == 2:
        return ops.stack(triangle_indices(count, count, not with_replacement, False), 1).view(-1)
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    places = array("q", itertools.chain.from_iterable(choose(range(count), r)))
    return tensor_of_bytes(places, (len(places),), EXPORTS["int64"])
