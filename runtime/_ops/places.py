"""Terms that belong to computed places, which entries with `value[index[n]]: {sum: ...}` combine."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import prod
from typing import Any

from .._base.dtypes import EXPORTS
from .._base.finfo import iinfo
from .._base.shapes import broadcast_shapes
from .._dispatch.ops import ops
from .values import wide

__all__ = ["combined_at"]

_BOOL, _INT64, _UINT8 = (EXPORTS[name] for name in ("bool", "int64", "uint8"))


def combined_at(
    operator: str,
    combination: str,
    sizes: list[int],
    terms: Any,
    places: Any,
    count: int,
    row: int = 0,
    empty: float | None = None,
) -> Any:
    """Combine terms where they belong.

    Parameters
    ----------
    operator : str
        The name in messages.
    combination : str
        One of 'sum', 'prod', 'mean', 'max' and 'min'.
    sizes : list of int
        Those of the result, behind the dimensions in front that the terms and the places have.
    terms : Tensor
        Shape (*front, *variables), with `count` variables.
    places : Tensor
        The rows that terms belong to, shape (*front, *variables) without the last `row` variables; -1 is none.
    empty : float, optional
        What an element is to which no term belongs. By default 0, 1, NaN, the lowest and the highest number.

    Raises
    ------
    RuntimeError
        A size is negative.
    IndexError
        A place is outside, which is less than -1.

    The terms of an element are combined in the order of their positions, whatever the number of threads.
    """
    if any(size < 0 for size in sizes):
        raise RuntimeError(f"{operator}(): the shape of the result would be {tuple(sizes)}")
    outside = f"{operator}(): a place is outside of the result, whose shape is {tuple(sizes)}"
    ops.assert_values(places >= -1, "IndexError", outside)
    own = terms.ndim - count
    front = broadcast_shapes(terms.shape[:own], places.shape[: places.ndim - count + row])
    positions = terms.shape[own : terms.ndim - row]
    rows, batch, width = prod(sizes[: len(sizes) - row]), prod(front), prod(sizes[len(sizes) - row :])
    source = wide(terms).expand((*front, *terms.shape[own:])).reshape(batch * prod(positions), width)
    index = places.expand((*front, *positions)).reshape(batch, prod(positions))
    if batch > 1:
        index = ops.where(index < 0, index, index + rows * ops.arange(batch, device=index.device).unsqueeze(1))
    total = batch * rows
    index = ops.where(index < 0, total, index).reshape(-1)  # what is left out has a row of its own
    result = _COMBINE[combination](source, index, total + 1, empty).narrow(0, 0, total)
    return result.to(terms.dtype if terms.dtype != _BOOL else result.dtype).reshape((*front, *sizes))


def _sum(terms: Any, index: Any, rows: int, empty: float | None) -> Any:
    found = terms.new_zeros((rows, terms.shape[1])).index_add(0, index, terms)
    return found if empty is None else ops.where(_counts(index, rows) > 0, found, empty)


def _prod(terms: Any, index: Any, rows: int, empty: float | None) -> Any:
    found = terms.new_ones((rows, terms.shape[1])).index_reduce(0, index, terms, "prod")
    return found if empty is None else ops.where(_counts(index, rows) > 0, found, empty)


def _mean(terms: Any, index: Any, rows: int, empty: float | None) -> Any:
    counts = _counts(index, rows)
    found = _sum(terms, index, rows, None) / counts
    return found if empty is None else ops.where(counts > 0, found, empty)


def _counts(index: Any, rows: int) -> Any:
    """Return the number of terms of each row, as a column."""
    return index.new_zeros(rows).index_add(0, index, ops.ones_like(index)).unsqueeze(1)


def _extremum(terms: Any, index: Any, rows: int, empty: float | None, word: str) -> Any:
    """The first term of each place that is the largest or the smallest, or NaN."""
    if terms.dtype == _BOOL:
        return _extremum(terms.to(_UINT8), index, rows, 0 if empty is None else empty, word).to(_BOOL)
    number = len(terms)
    values = terms.detach()
    best = values.new_zeros((rows, terms.shape[1])).index_reduce(0, index, values, word, include_self=False)
    best = best.index_select(0, index)
    order = ops.arange(number, device=index.device).unsqueeze(1)
    order = ops.where((values == best) | ((values != values) & (best != best)), order, number)
    first = order.new_full((rows, terms.shape[1]), number).index_reduce(0, index, order, "amin")
    if empty is None:
        empty = _end(terms.dtype, word)
    if not number:
        return terms.new_full(first.shape, empty)
    return ops.where(first < number, terms.gather(0, first.clamp(max=number - 1)), empty)


def _end(dtype: Any, word: str) -> float:
    """Return the value of a reduction over no elements."""
    if dtype.is_floating_point:
        return float("-inf" if word == "amax" else "inf")
    limits = iinfo(dtype)
    return limits.min if word == "amax" else limits.max


_COMBINE: dict[str, Callable[[Any, Any, int, float | None], Any]] = {
    "sum": _sum,
    "prod": _prod,
    "mean": _mean,
    "max": partial(_extremum, word="amax"),
    "min": partial(_extremum, word="amin"),
}
