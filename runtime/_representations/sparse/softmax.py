"""Softmax of the elements that are in memory, as if the others were not there."""

from __future__ import annotations

from typing import Any

from ..._base.shapes import wrap_dim
from ..._dispatch.ops import ops
from .convert import as_coordinates, coalesced, compressed
from .kernels import coo_sorted, expand
from .payload import Coordinates
from .tensor import made

__all__ = ["softmax"]


def softmax(tensor: Any, dim: int, dtype: Any, is_log: bool) -> Any:
    """The softmax, or its logarithm, of the elements along a dimension."""
    dim = wrap_dim(dim, tensor.ndim)
    payload = tensor._sparse
    found = coalesced(as_coordinates(payload))
    values = found.values if dtype is None else found.values.to(dtype)
    if dim >= found.sparse_dim:
        along = dim - found.sparse_dim + 1
        values = ops.log_softmax(values, along) if is_log else ops.softmax(values, along)
    elif found.nnz:
        values = _along_sparse(found, values, dim, is_log)
    result = found.with_values(values)
    return made(result if isinstance(payload, Coordinates) else compressed(result, payload.layout, payload.blocksize))


def _along_sparse(found: Coordinates, values: Any, dim: int, is_log: bool) -> Any:
    """Elements that differ in the coordinate of the dimension alone are one line."""
    others = [d for d in range(found.sparse_dim) if d != dim]
    sizes = [found.size[d] for d in others]
    order, unique, starts = coo_sorted(found.indices.index_select(0, _numbers(others, found)), sizes)
    line = ops.index_copy(order.new_zeros(order.shape), 0, order, expand(starts, order.size(0)))
    count = unique.size(0)
    empty = values.new_zeros((count, *values.shape[1:]))
    largest = ops.index_reduce(empty, 0, line, values.detach(), "amax", include_self=False)
    shifted = values - largest.index_select(0, line)
    sums = ops.index_add(empty, 0, line, shifted.exp())
    if is_log:
        return shifted - sums.log().index_select(0, line)
    return shifted.exp() / sums.index_select(0, line)


def _numbers(values: list[int], found: Coordinates) -> Any:
    result = found.indices.new_zeros(len(values))
    for place, value in enumerate(values):
        result[place] = value
    return result
