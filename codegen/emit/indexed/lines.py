"""The choice of the variable that runs along the lines of a kernel, and of the number of lines computed at a time."""

from __future__ import annotations

from ...dtypes import FLOAT32, FLOAT64, DType
from ...expr.affine import ONE
from ...expr.atoms import Range, Read, within
from ...expr.indexed import POSITIONS
from ...model.compute import Compute
from ...model.recurrence import order


def line_variable(body: Compute) -> str | None:
    """The last variable of the results, unless ranges depend on it, so that each position has loops of its own."""
    if not body.names or lane_range(body) is not None:
        return None
    last = body.names[-1]
    bounds = (bound for each in body.ranges.values() for bound in (each.first, each.stop))
    return None if any(body.depends(bound, last) for bound in bounds) else last


def in_order(body: Compute) -> bool:
    """Return True if an element depends on others of its line, so that they are computed in order."""
    found = order(body)
    return found is not None and found.along_line


def lane_range(body: Compute) -> Range | None:
    """The last range of a reduction, where lanes run along it: each sums a part of the terms.

    That is where neighbours along the last variable of the results are anywhere, as their indices are made of data, and
    those along the range are not.
    """
    if not body.names or len(body.results) != 1 or len(body.folds) != 1 or body.ragged or body.own:
        return None
    (fold,) = body.folds.values()
    if fold.reduction in POSITIONS:
        return None
    reads = [each for _, each in within(body.atoms, fold.value) if isinstance(each, Read)]
    found = fold.ranges[-1]
    scattered = any(_is_scattered(body, each, body.names[-1]) for each in reads)
    return found if scattered and not any(_is_scattered(body, each, found.name) for each in reads) else None


def _is_scattered(body: Compute, read: Read, variable: str) -> bool:
    """Return True if an index is made of data that depends on the variable."""
    return any(body.index(each).affine is None and body.depends(each, variable) for each in read.indices)


def rows_at_a_time(body: Compute, dtype: DType) -> int:
    """Return the number of lines, of neighbouring positions of the variable before, that take part in the same loops.

    Each sum waits for the one before it, and there are several units that add: lines that have nothing to do with each
    other keep them busy, and share what they read at the same places. Their variables must fit into registers, and the
    loops must not depend on the line.
    """
    if dtype not in (FLOAT32, FLOAT64) or line_variable(body) is None or len(body.names) < 2 or not body.folds:
        return 1
    if body.own:
        return 1  # the line before may be read
    row = body.names[-2]
    for fold in body.folds.values():
        bounds = [bound for each in fold.ranges for bound in (each.first, each.stop)]
        conditions = [] if fold.condition is None else [fold.condition]
        if any(body.depends(each, row) for each in (*bounds, *conditions)):
            return 1
    indices = [body.index(each) for read in body.reads.values() for each in read.indices]
    if any(each.divisor != ONE for each in indices):
        return 1
    arrays = sum(2 if each.reduction in POSITIONS else 1 for each in body.folds.values())
    return {1: 4, 2: 2}.get(arrays, 1)
