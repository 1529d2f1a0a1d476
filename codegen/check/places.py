"""Combines terms where they belong, one after the other: what `combined_at` of the runtime is compared with."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ..dtypes import DType
from ..model.places import Places
from .reductions import joined, start_of
from .samples import Array


def combined(
    places: Places, dtype: DType, terms: Array, rows: Array, sizes: Sequence[int], batch: tuple[int, ...]
) -> Array:
    """The result, of terms by dimensions in front and variables, and of the rows that they belong to."""
    import numpy as np

    width, count = prod(sizes[len(sizes) - places.row :]), prod(sizes[: len(sizes) - places.row])
    number = prod(terms.shape[len(batch) : terms.ndim - places.row])
    values = terms.reshape(prod(batch), number, width)
    where = rows.reshape(prod(batch), number)
    result = np.full((prod(batch), count, width), _empty(places, dtype), terms.dtype)
    reduction = "sum" if places.combination == "mean" else places.combination
    counts = np.zeros((prod(batch), count, 1), np.int64)
    with np.errstate(all="ignore"):
        for front, at in np.argwhere(where >= 0):
            place, term = where[front, at], values[front, at]
            known = result[front, place] if counts[front, place] else None
            result[front, place] = term if known is None else joined(reduction, known, term)
            counts[front, place] += 1
        if places.combination == "mean":
            result = np.where(counts > 0, result / np.maximum(counts, 1), result)
    return result.reshape(*batch, *sizes)


def _empty(places: Places, dtype: DType) -> object:
    """Return the value of an element to which no term belongs."""
    if places.empty is not None:
        return places.empty
    return float("nan") if places.combination == "mean" else start_of(places.combination, dtype)
