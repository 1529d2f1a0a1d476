"""Rows and lines of folds whose elements have an order: running values, and elements at computed positions.

    sorted: -chance
    let: {before: {cumsum: chance}, third: 'self[2]'}

All that is computed after `sorted` is computed of the elements in this order, and goes back to their places.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..dtypes import INT64, DType
from ..expr import names
from .folding import Folding
from .parts import Expression
from .rows import Extent, Let, Rows, needed

if TYPE_CHECKING:
    from .operator import Declaration, Operator

RANK = "rank"
"""The position of an element in the order, from 0 on;"""
PLACE = "place"
"""and in the row as it lies."""
RUNNING = ("cumsum", "cumprod", "cummax", "cummin")
"""Values of an element and all before it in the order, by the functions that compute them."""


@dataclass(frozen=True)
class Running:
    """A value of each element: `function` of the expression at the element and at those before it."""

    name: str
    expression: Expression
    function: str
    extent: Extent = Extent.ELEMENT


@dataclass(frozen=True)
class Taken:
    """An element of the row: the expression at a position in the order, which each row has or each element."""

    name: str
    expression: Expression
    position: Expression
    extent: Extent


@dataclass(frozen=True)
class OrderedRows(Rows):
    """Rows whose elements are used in their order, or sorted."""

    steps: tuple[Let | Running | Taken, ...] = ()
    """The steps that are computed one after the other; `lets` are those of them that are values of rows."""
    key: Expression | None = None
    """The elements are put in the ascending order of this, equal ones in that of their places; None: as they lie."""

    @property
    def expressions(self) -> tuple[Expression, ...]:
        own = (each for step in self.steps for each in expressions_of(step))
        return (*own, *(() if self.key is None else (self.key,)), *(each for _, each in self.outputs))

    def by_operators(self, operator: Operator) -> str | None:
        return None

    @property
    def before(self) -> tuple[Let, ...]:
        """The values of the row that the key needs, in their order."""
        return () if self.key is None else needed(self.lets, names(self.key.tree))


@dataclass(frozen=True)
class OrderedFolding(Folding):
    """A scan, or a reduction from element to element, of lines that have an order."""

    steps: tuple[Taken, ...] = ()
    """The elements at positions that its expressions read."""
    key: Expression | None = None
    """The key, as in `Rows`."""

    def _around(self, operator: Declaration, dtype: DType) -> dict[str, DType]:
        own = {RANK: INT64, PLACE: INT64, **{step.name: dtype for step in self.steps}}
        return own | super()._around(operator, dtype)

    @property
    def expressions(self) -> tuple[Expression, ...]:
        own = (each for step in self.steps for each in expressions_of(step))
        return (*super().expressions, *own, *(() if self.key is None else (self.key,)))

    def by_operators(self, operator: Operator) -> str | None:
        return None

    @property
    def before(self) -> tuple[Let, ...]:
        """The key needs no values of the line."""
        return ()

    @property
    def outputs(self) -> tuple[tuple[Extent, Expression], ...]:
        extent = Extent.ELEMENT if self.is_scan else Extent.ROW
        return tuple((extent, each) for each in self.results)

    def extent(self, name: str) -> Extent:
        """Tensors are broadcast together, to an element for each place."""
        return Extent.ELEMENT


def expressions_of(step: Let | Running | Taken) -> tuple[Expression, ...]:
    """Return the expressions of a step."""
    return (step.expression, step.position) if isinstance(step, Taken) else (step.expression,)


def used_later(steps: Iterable[Let | Running | Taken], outputs: Iterable[Expression]) -> Iterator[str]:
    """The names that steps and results read."""
    for step in steps:
        for each in expressions_of(step):
            yield from names(each.tree)
    for each in outputs:
        yield from names(each.tree)
