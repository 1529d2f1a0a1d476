"""Rows as operators of tensors, where no kernel computes a call."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .._base.shapes import broadcast_shapes
from .._dispatch.op import Op


def rows_by_operators(
    op: Op, ndim: int, tensors: Sequence[Any], numbers: Sequence[Any], along: Sequence[int]
) -> list[Any]:
    """Return the results of an operator of rows, with the dimensions of a row kept.

    Args:
        ndim: the number of dimensions of a call. Those before them are of several calls, each with its own sums over
            all rows.
        tensors: tensors that broadcast together.
        along: the dimensions of a row in a call, from the first one.
    """
    assert op.by_operators is not None
    function, extents = op.by_operators
    tensors = [
        each.reshape([1] * (ndim - each.ndim) + list(each.shape)) if each.ndim < ndim else each for each in tensors
    ]
    shape = broadcast_shapes(*(each.shape for each in tensors))
    over = [d - ndim for d in along]  # tensors have different numbers of dimensions in front
    others = [d for d in range(-ndim, 0) if d not in over]
    of_row = [1 if d - len(shape) in over else size for d, size in enumerate(shape)]
    found = function(*tensors, *numbers, over, math.prod(shape[d] for d in over))
    return [
        result.expand(of_row if extent == "results" else shape) if extent != "across" or not others
        else result.expand(shape).sum(others, True)
        for result, extent in zip(found, extents, strict=True)
    ]  # fmt: skip
