"""The body `rows`: values of each row, and results that are made of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any

from ..dtypes import DType
from ..expr import names
from ..expr.lower import Env
from .body import Body
from .computation import row_dtypes
from .family import Family
from .parts import Expression
from .rows_in_python import rows_in_python

if TYPE_CHECKING:
    from .operator import Declaration, Operator


@dataclass(frozen=True)
class Let:
    """A value of each row: `combine` of the expression over all elements, or (None) the expression of other values."""

    name: str
    expression: Expression
    combine: str | None


def needed(lets: Iterable[Let], used: Iterable[str]) -> tuple[Let, ...]:
    """Return the values that these names need, in their order."""
    wanted, found = set(used), list[Let]()
    for let in reversed(tuple(lets)):
        if let.name in wanted:
            wanted |= names(let.expression.tree)
            found.insert(0, let)
    return tuple(found)


class Extent(Enum):
    """The elements of a result of rows: one for each element, row or place."""

    ELEMENT = "value"
    ROW = "results"
    PLACE = "across"
    """A place in the row: the sum over all rows."""


@dataclass(frozen=True)
class Rows(Body):
    """Values of each row one after the other; then results, in the order of the schema."""

    family = Family.ROWS

    lets: tuple[Let, ...]
    outputs: tuple[tuple[Extent, Expression], ...]
    degrees: tuple[int, ...] = ()
    """A row times a number has the results times powers of that number: its exponents. The first is of sums of squares,
    or a root of them. None: not so."""
    per_row: frozenset[str] = frozenset()
    """The tensors of which each row has one element."""
    per_place: frozenset[str] = frozenset()
    """The tensors whose elements are the same in all rows."""
    per_piece: frozenset[str] = frozenset()
    """The tensors that results of elements alone read, and that are mostly the same along pieces of a row."""
    fixed: Mapping[str, DType] = field(default_factory=dict)
    own: tuple[DType | None, ...] = (None,)

    @property
    def steps(self) -> tuple[Any, ...]:
        """The steps that are computed one after the other (ordered_rows.py)."""
        return self.lets

    def extent(self, tensor: str) -> Extent:
        """Return what a tensor has one element for; its gradient has one there as well."""
        if tensor in self.per_row:
            return Extent.ROW
        return Extent.PLACE if tensor in self.per_place else Extent.ELEMENT

    def of(self, extent: Extent) -> tuple[Expression, ...]:
        return tuple(expression for each, expression in self.outputs if each is extent)

    @property
    def expressions(self) -> tuple[Expression, ...]:
        return (*(let.expression for let in self.lets), *(expression for _, expression in self.outputs))

    # ---- answers (body.py)

    def by_operators(self, operator: Operator) -> str | None:
        tensors, numbers = operator.inputs, operator.params
        function = rows_in_python(self, [each.name for each in (*tensors, *numbers)])
        extents = tuple(extent.value for extent, _ in self.outputs)
        return None if function is None else f"({function}, {extents!r})"

    @property
    def sums_rows(self) -> bool:
        return any(extent is Extent.PLACE for extent, _ in self.outputs)

    def variable_dtypes(self, operator: Declaration, dtype: DType) -> dict[str, DType]:
        return row_dtypes(operator, self, dtype)

    def typed(self, operator: Operator, dtype: DType) -> Iterator[tuple[Expression, Env, DType]]:
        env = row_dtypes(operator, self, dtype)
        for expression in self.expressions:
            yield expression, env, dtype

    def own_dtypes(self, operator: Declaration) -> tuple[DType | None, ...]:
        return self.own

    def shape_text(self, operator: Operator) -> str | None:
        return "the input's shape"
