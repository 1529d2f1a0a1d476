"""What sparse tensors compute with: functions of dense tensors of indices and values. Every one checks the indices that
it is given, as users may write to those that a tensor was made of."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from ..._base.devices import is_meta
from ..._base.dtypes import EXPORTS
from ..._dispatch.ops import ops

__all__ = [
    "compress",
    "coo_sorted",
    "csr_matmul",
    "csr_pairs",
    "csr_sampled",
    "expand",
    "lengths",
    "linear",
    "sum_parts",
]

_INT64 = EXPORTS["int64"]


def linear(indices: Any, sizes: Sequence[int]) -> Any:
    """The place of each column of coordinates in an array of these sizes, in C's order. Raises IndexError for
    coordinates outside."""
    if not sizes or not indices.size(1):
        return ops.zeros(indices.size(1), dtype=_INT64, device=indices.device)
    if not is_meta(indices):
        for dim, (size, low, high) in enumerate(
            zip(sizes, indices.amin(1).tolist(), indices.amax(1).tolist(), strict=True)
        ):
            if low < 0 or high >= size:
                raise IndexError(
                    f"sparse index {low if low < 0 else high} is out of bounds for dimension {dim} with size {size}"
                )
    place = indices[0]
    for row, size in enumerate(sizes[1:], 1):
        place = place * size + indices[row]
    return place


def coordinates(places: Any, sizes: Sequence[int]) -> Any:
    """The coordinates of places, one in each column."""
    if not sizes:
        return ops.empty((0, places.size(0)), dtype=_INT64, device=places.device)
    rows = []
    for size in reversed(sizes[1:]):
        rows.append(places % size)
        places = places // size
    return ops.stack([places, *reversed(rows)])


def coo_sorted(indices: Any, sizes: Sequence[int]) -> tuple[Any, Any, Any]:
    """An order of the columns of coordinates in which their places are sorted, equal ones in the order in which they
    stand; the places that occur; and for each column in that order, which of these it has."""
    places = linear(indices, sizes)
    sorted_places, order = places.sort(stable=True)
    if is_meta(places):
        return order, sorted_places, order
    unique, which = ops.unique_consecutive(sorted_places, return_inverse=True)
    return order, unique, which


def sum_parts(values: Any, which: Any, count: int) -> Any:
    """Sums of the rows of values that have the same number, for `count` numbers; for bools whether one is True."""
    if values.dtype is EXPORTS["bool"]:
        return sum_parts(values.to(EXPORTS["int32"]), which, count) > 0
    return ops.zeros((count, *values.shape[1:]), dtype=values.dtype, device=values.device).index_add(0, which, values)


def compress(rows: Any, count: int) -> Any:
    """Where each of `count` rows starts in a sorted list of rows, and its end."""
    starts = ops.arange(count + 1, dtype=_INT64, device=rows.device)
    if is_meta(rows):
        return starts
    return ops.searchsorted(rows.to(_INT64), starts)


def lengths(starts: Any, count: int) -> Any:
    """How many of `count` elements each row has. Raises IndexError where the starts do not count up from 0 to that."""
    starts = starts.to(_INT64)
    found = starts.diff()
    if not is_meta(starts) and starts.numel():
        first, last, least = int(starts[0]), int(starts[-1]), int(found.min()) if found.numel() else 0
        if first or last != count or least < 0:
            raise IndexError(
                f"the starts of {starts.size(0) - 1} rows must count up from 0 to {count}, but they begin with "
                f"{first}, end with {last}, and the smallest step is {least}"
            )
    return found


def expand(starts: Any, count: int) -> Any:
    """The row of each of `count` elements, given where the rows start."""
    if is_meta(starts):
        return ops.empty(count, dtype=_INT64, device=starts.device)
    return ops.arange(starts.size(0) - 1, dtype=_INT64).repeat_interleave(lengths(starts, count))


def csr_matmul(starts: Any, places: Any, values: Any, dense: Any) -> Any:
    """The product of a compressed matrix with a dense one."""
    result = ops.zeros((starts.size(0) - 1, dense.size(1)), dtype=dense.dtype, device=dense.device)
    rows = dense.index_select(0, places.to(_INT64)) * values.unsqueeze(1)
    return result.index_add(0, expand(starts, places.size(0)), rows)


def csr_sampled(starts: Any, places: Any, left: Any, right: Any) -> Any:
    """The elements of `left @ right.T` at the places of a compressed matrix."""
    return (left.index_select(0, expand(starts, places.size(0))) * right.index_select(0, places.to(_INT64))).sum(1)


def csr_pairs(
    starts: Any, places: Any, other_starts: Any, other_places: Any, columns: int
) -> tuple[Any, Any, Any, Any, Any]:
    """Which elements of two compressed matrices are multiplied for each element of their product: the starts of the
    product's rows and its columns; for each pair the element of the product, of the first and of the second matrix."""
    rows, places = expand(starts, places.size(0)), places.to(_INT64)
    counts = lengths(other_starts, other_places.size(0)).index_select(0, places)
    left = ops.arange(places.size(0), dtype=_INT64).repeat_interleave(counts)
    first = other_starts.to(_INT64).index_select(0, places) - (counts.cumsum(0) - counts)
    right = ops.arange(left.size(0), dtype=_INT64) + first.index_select(0, left)
    at = ops.stack([rows.index_select(0, left), other_places.to(_INT64).index_select(0, right)])
    sizes = (starts.size(0) - 1, columns)
    order, unique, which = coo_sorted(at, sizes)
    found = coordinates(unique, sizes)
    return compress(found[0], sizes[0]), found[1], which, left.index_select(0, order), right.index_select(0, order)


def fits(sizes: Sequence[int]) -> bool:
    """True if places of an array of these sizes are numbers of 63 bits."""
    return prod(sizes) < 2**63
