"""Distinct values, or distinct parts along a dimension, for the composites `unique` and `unique_consecutive`."""

from __future__ import annotations

from typing import Any

from .._base.dtypes import EXPORTS
from .._base.shapes import wrap_dim
from .sorting import sorted_lines, sorted_values

__all__ = ["distinct", "runs"]


def distinct(tensor: Any, dim: int | None, return_inverse: bool, return_counts: bool) -> Any:
    """Each value once in order, or each part along `dim` once in the order of its elements; NaN equals nothing."""
    if dim is None:
        elements, order = tensor.reshape(-1), None
        if return_inverse:
            values, order = sorted_lines(elements, 0, False)
        else:
            values = sorted_values(elements)
        first = _changes(values.reshape(-1, 1))
        return _results(values.masked_select(first), first, order, tensor.shape, return_inverse, return_counts)
    place, parts = _parts(tensor, dim)
    rows = parts.reshape(parts.size(0), -1) if parts.numel() else parts.new_empty((0, 1))
    order = _order_of_rows(rows)
    first = _changes(rows.index_select(0, order))
    found = parts.index_select(0, order.masked_select(first)).movedim(0, place)
    return _results(found, first, order, order.shape, return_inverse, return_counts)


def runs(tensor: Any, dim: int | None, return_inverse: bool, return_counts: bool) -> Any:
    """The first value, or part along `dim`, of each run of equal ones."""
    if dim is None:
        values = tensor.reshape(-1)
        first = _changes(values.reshape(-1, 1))
        return _results(values.masked_select(first), first, None, tensor.shape, return_inverse, return_counts)
    place, parts = _parts(tensor, dim)
    first = _changes(parts.reshape(parts.size(0), -1) if parts.numel() else parts.new_empty((0, 1)))
    found = parts.index_select(0, first.nonzero().reshape(-1)).movedim(0, place)
    return _results(found, first, None, first.shape, return_inverse, return_counts)


def _parts(tensor: Any, dim: int) -> tuple[int, Any]:
    """The dimension, and the tensor with it in front."""
    if not tensor.ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    place = wrap_dim(dim, tensor.ndim)
    empty = [*tensor.shape].count(0)
    if not tensor.size(place):
        if empty > 1:
            raise RuntimeError("Number of zero sized dimensions is more than one, so unique cannot be applied ")
    elif empty:
        raise RuntimeError("There are 0 sized dimensions, and they aren't selected, so unique cannot be applied")
    return place, tensor.movedim(place, 0)


def _order_of_rows(rows: Any) -> Any:
    """Positions of the rows in lexicographic order: sorted by their last element first, as all sorting is stable."""
    count, width = rows.shape
    order = rows.new_ones(count, dtype=EXPORTS["int64"]).cumsum(0) - 1
    for column in reversed(range(width)):
        elements = rows.select(1, column).index_select(0, order)
        order = order.index_select(0, sorted_lines(elements, 0, False)[1])
    return order


def _changes(rows: Any) -> Any:
    """Does each row differ from the one before?"""
    count = rows.size(0)
    first = rows.new_ones(count, dtype=EXPORTS["bool"])
    if count > 1:
        differs = rows.narrow(0, 1, count - 1) != rows.narrow(0, 0, count - 1)
        first.narrow(0, 1, count - 1).copy_(differs.squeeze(1) if rows.size(1) == 1 else differs.any(1))
    return first


def _results(found: Any, first: Any, order: Any, shape: Any, return_inverse: bool, return_counts: bool) -> Any:
    """What was found; where each element stands in it; how often each occurs. `order` is None where nothing moved."""
    results = [found]
    if return_inverse:
        numbers = first.cumsum(0) - 1
        inverse = numbers if order is None else order.new_empty(order.shape).scatter_(0, order, numbers)
        results.append(inverse.reshape(shape))
    if return_counts:
        starts = first.nonzero().reshape(-1)
        results.append(starts.diff(append=starts.new_full((1,), first.numel())))
    return results[0] if len(results) == 1 else tuple(results)
