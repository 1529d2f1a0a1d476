"""Combines terms where they belong, one after the other: what `combined_at` of the runtime is compared with."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ..model.places import Places
from .samples import Array

_START = {"sum": 0, "mean": 0, "prod": 1}


def combined(places: Places, terms: Array, rows: Array, sizes: Sequence[int], batch: tuple[int, ...]) -> Array:
    """The result, of terms by dimensions in front and variables, and of the rows that they belong to."""
    import numpy as np

    width, count = prod(sizes[len(sizes) - places.row :]), prod(sizes[: len(sizes) - places.row])
    number = prod(terms.shape[len(batch) : terms.ndim - places.row])
    values = terms.reshape(prod(batch), number, width)
    where = rows.reshape(prod(batch), number)
    result = np.full((prod(batch), count, width), _empty(places, terms.dtype), terms.dtype)
    counts = np.zeros((prod(batch), count, 1), np.int64)
    with np.errstate(all="ignore"):
        for front, at in np.argwhere(where >= 0):
            place, term = where[front, at], values[front, at]
            known = result[front, place] if counts[front, place] else None
            result[front, place] = term if known is None else _joined(places.combination, known, term)
            counts[front, place] += 1
        if places.combination == "mean":
            result = np.where(counts > 0, result / np.maximum(counts, 1), result)
    return result.reshape(*batch, *sizes)


def _joined(combination: str, known: Array, term: Array) -> Array:
    import numpy as np

    join = {"prod": np.multiply, "max": np.maximum, "min": np.minimum}.get(combination, np.add)
    return join(known, term).astype(known.dtype)


def _empty(places: Places, dtype: object) -> float | int:
    """What an element is to which no term belongs."""
    import numpy as np

    if places.empty is not None:
        return places.empty
    if places.combination in ("max", "min"):
        return _end(np.dtype(dtype), places.combination)  # type: ignore[call-overload]
    return float("nan") if places.combination == "mean" else _START[places.combination]


def _end(dtype: Array, combination: str) -> float | int:
    import numpy as np

    if dtype.kind == "b":
        return combination == "min"
    if dtype.kind == "f":
        return -np.inf if combination == "max" else np.inf
    return int(np.iinfo(dtype).min if combination == "max" else np.iinfo(dtype).max)
