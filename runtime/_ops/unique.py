"""Distinct values, or distinct parts along a dimension, for the composites `unique` and `unique_consecutive`."""

from __future__ import annotations

from typing import Any

from .._base.dtypes import EXPORTS
from .._base.shapes import wrap_dim
from .._dispatch.ops import ops

__all__ = ["distinct", "runs"]


def distinct(tensor: Any, dim: int | None, return_inverse: bool, return_counts: bool) -> Any:
    """Return each value once in order, or each part along `dim` once in lexicographic order; NaN equals nothing."""
    if dim is None:
        elements, order = tensor.reshape(-1), None
        if return_inverse:
            values, order = ops.sort(elements, 0)
        else:
            values = ops.sort_values(elements)
        first = _changes(values.reshape(-1, 1))
        return _results(values.masked_select(first), first, order, tensor.shape, return_inverse, return_counts)
    dim, parts = _parts(tensor, dim)
    rows = parts.reshape(parts.size(0), -1) if parts.numel() else parts.new_empty((0, 1))
    order = _order_of_rows(rows)
    first = _changes(rows.index_select(0, order))
    distinct_parts = parts.index_select(0, order.masked_select(first)).movedim(0, dim)
    return _results(distinct_parts, first, order, order.shape, return_inverse, return_counts)


def runs(tensor: Any, dim: int | None, return_inverse: bool, return_counts: bool) -> Any:
    """Return the first value, or part along `dim`, of each run of equal ones."""
    if dim is None:
        values = tensor.reshape(-1)
        first = _changes(values.reshape(-1, 1))
        return _results(values.masked_select(first), first, None, tensor.shape, return_inverse, return_counts)
    dim, parts = _parts(tensor, dim)
    first = _changes(parts.reshape(parts.size(0), -1) if parts.numel() else parts.new_empty((0, 1)))
    first_parts = parts.index_select(0, first.nonzero().reshape(-1)).movedim(0, dim)
    return _results(first_parts, first, None, first.shape, return_inverse, return_counts)


def _parts(tensor: Any, dim: int) -> tuple[int, Any]:
    """Return the dimension counted from the front, and the tensor with that dimension moved to the front."""
    if not tensor.ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    dim = wrap_dim(dim, tensor.ndim)
    empty = [*tensor.shape].count(0)
    if not tensor.size(dim):
        if empty > 1:
            raise RuntimeError("Number of zero sized dimensions is more than one, so unique cannot be applied ")
    elif empty:
        raise RuntimeError("There are 0 sized dimensions, and they aren't selected, so unique cannot be applied")
    return dim, tensor.movedim(dim, 0)


def _order_of_rows(rows: Any) -> Any:
    """Return the indices that sort the rows lexicographically: by their last element first, as sorting is stable."""
    count, width = rows.shape
    order = rows.new_ones(count, dtype=EXPORTS["int64"]).cumsum(0) - 1
    for column in reversed(range(width)):
        elements = rows.select(1, column).index_select(0, order)
        order = order.index_select(0, ops.sort(elements, 0)[1])
    return order


def _changes(rows: Any) -> Any:
    """Return for each row whether it differs from the one before."""
    count = rows.size(0)
    first = rows.new_ones(count, dtype=EXPORTS["bool"])
    if count > 1:
        differs = rows.narrow(0, 1, count - 1) != rows.narrow(0, 0, count - 1)
        first.narrow(0, 1, count - 1).copy_(differs.squeeze(1) if rows.size(1) == 1 else differs.any(1))
    return first


def _results(values: Any, first: Any, order: Any, shape: Any, return_inverse: bool, return_counts: bool) -> Any:
    """Return the values, the index in them of each element, and the count of each.

    `order` is None where nothing moved.
    """
    results = [values]
    if return_inverse:
        numbers = first.cumsum(0) - 1
        inverse = numbers if order is None else order.new_empty(order.shape).scatter_(0, order, numbers)
        results.append(inverse.reshape(shape))
    if return_counts:
        starts = first.nonzero().reshape(-1)
        results.append(starts.diff(append=starts.new_full((1,), first.numel())))
    return results[0] if len(results) == 1 else tuple(results)
