"""The body `factory`: a new tensor."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..dtypes import DType
from ..expr import names
from ..expr.lower import Env
from .body import Body
from .computation import position_dtype
from .family import Family
from .parts import Expression

if TYPE_CHECKING:
    from .operator import Operator


@dataclass(frozen=True)
class Factory(Body):
    """`value` of element `i`; None leaves the memory uninitialised. `shape`, `let` and `fill` are Python."""

    family = Family.FACTORY

    shape: str
    let: tuple[tuple[str, str], ...]
    value: Expression | None
    fill: str | None = field()
    """The returned expression in terms of `result`, whose memory is not initialised."""
    default_dtype: DType | None = field()
    """The dtype of the result when none is given; None: it follows from the numbers."""

    @property
    def has_table(self) -> bool:
        """A factory without a value leaves memory as it is and has no loops."""
        return self.value is not None

    def typed(self, operator: Operator, dtype: DType) -> Iterator[tuple[Expression, Env, DType]]:
        if self.value is not None:
            work = position_dtype(dtype)
            yield self.value, dict.fromkeys(names(self.value.tree), work), work

    def interprets(self, name: str) -> bool:
        return name in dict(self.let)

    def is_shape(self, name: str) -> bool:
        return name == self.shape

    def shape_text(self, operator: Operator) -> str | None:
        return f"shape `{self.shape}`" if operator.schema.argument(self.shape) else "one dimension"

    def dtype_text(self, operator: Operator) -> str | None:
        numbers = "that of the numbers given, or " if operator.params else ""
        return str(self.default_dtype) if self.default_dtype else f"{numbers}the default dtype"
