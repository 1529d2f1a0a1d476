"""The bodies `reduce` and `scan` of one value."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from ..dtypes import DType
from ..expr import Apply, Name
from ..expr.lower import Env
from .body import Body
from .family import Family
from .parts import End, Expression, Found

if TYPE_CHECKING:
    from .operator import Operator

COMBINATIONS = {
    "add": "sum",
    "mul": "product",
    "maximum": "max",
    "minimum": "min",
    "bitwise_or": "max",
    "bitwise_and": "min",
}
"""Words for how the results of parts make that of the whole, by the function that combines elements."""


class Accumulation(Body):
    """The base of reductions and scans: `combine` joins `acc` and `self`."""

    is_scan: bool
    combine: Expression
    identity: Expression | End
    map: Expression | None = None
    finalize: Expression | None = None

    def typed(self, operator: Operator, dtype: DType) -> Iterator[tuple[Expression, Env, DType]]:
        yield self.combine, {"acc": dtype, "self": dtype}, dtype
        if isinstance(self.identity, Expression):
            yield self.identity, {}, dtype
        if self.map is not None:
            yield self.map, {"self": dtype}, dtype
        if self.finalize is not None:
            yield self.finalize, {"acc": dtype, "count": dtype}, dtype

    def formula(self, names: tuple[str, ...]) -> str:
        finish = f", then `{self.finalize.source.value}`" if self.finalize else ""
        return f"`acc = {self.combine.source.value}` over the elements{finish}"

    def dtype_text(self, operator: Operator) -> str | None:
        return "int64" if self.found == (Found.POSITION,) else None


@dataclass(frozen=True)
class Reduce(Accumulation):
    """`combine` joins `acc` and `self`, `map` prepares each element, `finalize` makes a result of `acc` and `count`."""

    family = Family.REDUCE
    is_scan = False

    combine: Expression
    identity: Expression | End
    refuses_empty: bool = field()
    map: Expression | None = field()
    finalize: Expression | None = field()
    found: tuple[Found, ...] = (Found.VALUE,)
    degree: int | None = None
    """The degree, as in `Rows`."""
    pairwise: str | None = None

    @cached_property
    def degrees(self) -> tuple[int, ...]:  # type: ignore[override]
        # Sums of the elements themselves leave the range only where they are infinite, which a negative degree says.
        return () if self.degree is None else (self.degree if self.map else -self.degree,)

    @property
    def combination(self) -> str | None:
        tree = self.combine.tree
        word = COMBINATIONS.get(tree.function) if isinstance(tree, Apply) and self.found == (Found.VALUE,) else None
        if self.finalize is None or word is None:
            return word
        is_mean = self.finalize.tree == Apply("div", (Name("acc"), Name("count")))
        return "avg" if word == "sum" and is_mean else None

    def shape_text(self, operator: Operator) -> str | None:
        return "the input's shape without `dim`"


@dataclass(frozen=True)
class Scan(Accumulation):
    """A body that combines the elements of a line one after the other, with a result for each."""

    family = Family.SCAN
    is_scan = True

    combine: Expression
    identity: Expression | End
    found: tuple[Found, ...] = (Found.VALUE,)

    def shape_text(self, operator: Operator) -> str | None:
        return "the input's shape"
