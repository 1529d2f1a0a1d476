"""The choice of the variable that runs along the lines of a kernel, and of the number of lines computed at a time."""

from __future__ import annotations

from collections.abc import Iterator

from ...dtypes import FLOAT32, FLOAT64, INT64, DType
from ...expr import Apply, Expr, names
from ...expr.affine import ONE, ZERO, Index
from ...expr.atoms import Range
from ...model.compute import Border
from ...nest.by_name import ByName
from ...nest.nodes import Place


def line_variable(nest: ByName) -> str | None:
    """The last variable of the results, unless ranges depend on it, so that each position has loops of its own."""
    if not nest.names or lane_range(nest) is not None:
        return None
    last = nest.names[-1]
    bounds = (bound for each in nest.ranges.values() for bound in (each.first, each.stop))
    return None if any(nest.depends(bound, last) for bound in bounds) else last


def lane_range(nest: ByName) -> Range | None:
    """The last range of a reduction, where lanes run along it: each sums a part of the terms.

    That is where neighbours along the last variable of the results are anywhere, as their indices are made of data, and
    those along the range are not.
    """
    if not nest.names or len(nest.stores) != 1 or len(nest.reductions) != 1 or nest.ragged or nest.reads_results:
        return None
    (fold,) = nest.reductions.values()
    if fold.finds:
        return None
    places = nest.places_within(fold.value).values()
    found = fold.ranges[-1]
    scattered = any(_is_scattered(nest, each, nest.names[-1]) for each in places)
    return found if scattered and not any(_is_scattered(nest, each, found.name) for each in places) else None


def range_ahead(nest: ByName) -> Range | None:
    """The range of a reduction whose bounds are data, where the places of terms are elements at its variable.

    Such places may be tested for several results at once, whose loops have no tests then.
    """
    if not nest.names or line_variable(nest) is not None or lane_range(nest) is not None or nest.reads_results:
        return None
    if len(nest.stores) != 1 or len(nest.reductions) != 1:
        return None
    (fold,) = nest.reductions.values()
    if fold.finds or fold.tests or len(fold.ranges) != 1:
        return None
    (found,) = fold.ranges
    if found.name not in nest.ragged or not all(_is_element(nest, each, None) for each in (found.first, found.stop)):
        return None
    places = nest.places_within(fold.value).values()
    computed = [tree for each in places for tree in each.computed]
    known = all(each.border is Border.ERROR for each in places)
    return found if computed and known and all(_is_element(nest, tree, found.name) for tree in computed) else None


def _is_element(nest: ByName, tree: Expr, variable: str | None) -> bool:
    """Return True if an integer is an element of a tensor, at a variable or at indices that are sure to be inside."""
    place = nest.place(tree)
    if place is None or place.dtype != INT64 or place.is_optional or place.is_result or place.tensor in nest.tables:
        return False
    if variable is not None:
        return all(each.plain == variable for each in place.indices)
    return all(place.sure) and not place.computed


def _is_scattered(nest: ByName, place: Place, variable: str) -> bool:
    """Return True if an index is made of data that depends on the variable."""
    return any(nest.depends(each, variable) for each in place.computed)


def division(nest: ByName, tree: Expr) -> Index | None:
    """Return what is divided, and by what, where a condition says that no remainder is left."""
    if not isinstance(tree, Apply) or tree.function != "eq" or tree.args[1] != ZERO:
        return None
    left = tree.args[0]
    if not isinstance(left, Apply) or left.function != "remainder" or not names(left.args[1]) <= nest.uniforms:
        return None
    affine = nest.index(left.args[0]).affine
    return None if affine is None else Index(affine, left.args[1])


def row_step(nest: ByName) -> Expr:
    """Return the distance of lines that are computed together: what is divided by it has the same remainder in all."""
    return next((each.divisor for each in _divided(nest, nest.names[-2])), ONE)


def _divided(nest: ByName, variable: str) -> Iterator[Index]:
    """The indices that depend on a variable and are divided, and what conditions divide."""
    indices = (each for place in nest.places for each in place.indices)
    conditions = (division(nest, each) for fold in nest.reductions.values() for each in fold.tests)
    for each in (*indices, *conditions):
        if each is not None and each.divisor != ONE and each.uses(variable):
            yield each


def rows_at_a_time(nest: ByName, dtype: DType, sums_batch: bool) -> int:
    """Return the number of lines, of neighbouring positions of the variable before, that take part in the same loops.

    Each sum waits for the one before it, and there are several units that add: lines that have nothing to do with each
    other keep them busy, and share what they read at the same places. Their variables must fit into registers, and the
    loops must not depend on the line. Where an index is divided, lines are as far apart as leaves the same remainder.
    Lines of the gradient of weights, a sum over the whole batch, are often three, and each reads all images.
    """
    if dtype not in (FLOAT32, FLOAT64) or line_variable(nest) is None or len(nest.names) < 2 or not nest.reductions:
        return 1
    if nest.reads_results:
        return 1  # the line before may be read
    row = nest.names[-2]
    for fold in nest.reductions.values():
        bounds = [bound for each in fold.ranges for bound in (each.first, each.stop)]
        conditions = [each for each in fold.tests if division(nest, each) is None]
        if any(nest.depends(each, row) for each in (*bounds, *conditions)):
            return 1
    divided = list(_divided(nest, row))
    if any(each.affine is None or each.affine.factor(row) != ONE for each in divided):
        return 1
    if len({each.divisor for each in divided}) > 1:
        return 1
    arrays = sum(2 if each.finds else 1 for each in nest.reductions.values())
    return {1: 3 if sums_batch else 4, 2: 2}.get(arrays, 1)
