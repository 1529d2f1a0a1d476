"""The choice of the variable that runs along the lines of a kernel, and of the number of lines computed at a time."""

from __future__ import annotations

from collections.abc import Iterator

from ...dtypes import FLOAT32, FLOAT64, DType
from ...expr import Apply, Expr, Name, names
from ...expr.affine import ONE, ZERO, Index
from ...expr.atoms import Range, Read, within
from ...expr.indexed import POSITIONS, conjuncts
from ...model.compute import Border, Compute
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


def range_ahead(body: Compute) -> Range | None:
    """The range of a reduction whose bounds are data, where the places of terms are elements at its variable.

    Such places may be tested for several results at once, whose loops have no tests then.
    """
    if not body.names or line_variable(body) is not None or lane_range(body) is not None or body.own:
        return None
    if len(body.results) != 1 or len(body.folds) != 1:
        return None
    (fold,) = body.folds.values()
    if fold.reduction in POSITIONS or fold.condition is not None or len(fold.ranges) != 1:
        return None
    (found,) = fold.ranges
    if found.name not in body.ragged or not all(_is_element(body, each, None) for each in (found.first, found.stop)):
        return None
    reads = [each for _, each in within(body.atoms, fold.value) if isinstance(each, Read)]
    places = [(each, tree) for each in reads for tree in each.indices if body.index(tree).affine is None]
    known = all(body.outside.get(each.tensor, Border.ERROR) is Border.ERROR for each in reads)
    return found if places and known and all(_is_element(body, tree, found.name) for _, tree in places) else None


def _is_element(body: Compute, tree: Expr, variable: str | None) -> bool:
    """Return True if an integer is an element of a tensor, at a variable or at indices that are sure to be inside."""
    read = body.atoms.get(tree.name) if isinstance(tree, Name) else None
    if not isinstance(read, Read) or read.tensor not in body.integers or read.tensor in body.optional:
        return False
    if variable is not None:
        return all(body.index(each).plain == variable for each in read.indices)
    return all(body.is_sure(read, dim) and body.index(each).affine is not None for dim, each in enumerate(read.indices))


def _is_scattered(body: Compute, read: Read, variable: str) -> bool:
    """Return True if an index is made of data that depends on the variable."""
    return any(body.index(each).affine is None and body.depends(each, variable) for each in read.indices)


def division(body: Compute, tree: Expr) -> Index | None:
    """Return what is divided, and by what, where a condition says that no remainder is left."""
    if not isinstance(tree, Apply) or tree.function != "eq" or tree.args[1] != ZERO:
        return None
    left = tree.args[0]
    if not isinstance(left, Apply) or left.function != "remainder" or not names(left.args[1]) <= body.uniforms.keys():
        return None
    affine = body.index(left.args[0]).affine
    return None if affine is None else Index(affine, left.args[1])


def row_step(body: Compute) -> Expr:
    """Return the distance of lines that are computed together: what is divided by it has the same remainder in all."""
    return next((each.divisor for each in _divided(body, body.names[-2])), ONE)


def _divided(body: Compute, variable: str) -> Iterator[Index]:
    """The indices that depend on a variable and are divided, and what conditions divide."""
    indices = (body.index(each) for read in body.reads.values() for each in read.indices)
    conditions = (division(body, each) for fold in body.folds.values() for each in conjuncts(fold.condition))
    for each in (*indices, *conditions):
        if each is not None and each.divisor != ONE and each.uses(variable):
            yield each


def rows_at_a_time(body: Compute, dtype: DType) -> int:
    """Return the number of lines, of neighbouring positions of the variable before, that take part in the same loops.

    Each sum waits for the one before it, and there are several units that add: lines that have nothing to do with each
    other keep them busy, and share what they read at the same places. Their variables must fit into registers, and the
    loops must not depend on the line. Where an index is divided, lines are as far apart as leaves the same remainder.
    """
    if dtype not in (FLOAT32, FLOAT64) or line_variable(body) is None or len(body.names) < 2 or not body.folds:
        return 1
    if body.own:
        return 1  # the line before may be read
    row = body.names[-2]
    for fold in body.folds.values():
        bounds = [bound for each in fold.ranges for bound in (each.first, each.stop)]
        conditions = [each for each in conjuncts(fold.condition) if division(body, each) is None]
        if any(body.depends(each, row) for each in (*bounds, *conditions)):
            return 1
    divided = list(_divided(body, row))
    if any(each.affine is None or each.affine.factor(row) != ONE for each in divided):
        return 1
    if len({each.divisor for each in divided}) > 1:
        return 1
    arrays = sum(2 if each.reduction in POSITIONS else 1 for each in body.folds.values())
    return {1: 4, 2: 2}.get(arrays, 1)
