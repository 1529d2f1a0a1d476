"""The body `composite`: Python."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..dtypes import EVERY_DTYPE, DType
from ..source import Scalar
from .body import Body
from .compute import Compute
from .family import Family
from .folding import Folding
from .parts import Requirement
from .rows import Rows

if TYPE_CHECKING:
    from .operator import Declaration, Derivative


@dataclass(frozen=True)
class Composite(Body):
    """Python in terms of other operators; or, if it is `opaque`, in terms of the core."""

    family = Family.COMPOSITE

    source: Scalar
    core: str | None = field()
    require: tuple[Requirement[Scalar, Scalar], ...] = ()
    """Conditions on the arguments, checked before the body runs: Python, as what their messages quote."""
    opaque: bool = False
    """True if the body reads memory or handles itself. A call is then not decomposed for tensors of other kinds."""
    loops: Compute | Rows | Folding | None = None
    """The expressions over indices, or the rows or folds in an order, that it computes;"""
    automatic: tuple[str, ...] = ()
    """and the arguments by which these have derivatives."""

    @property
    def quoted(self) -> tuple[Scalar, ...]:
        """The expressions of the requirements."""
        return tuple(value for each in self.require for value in each.values)

    @property
    def python(self) -> Scalar | None:
        return self.source

    @property
    def reason(self) -> str | None:
        return "its body reads memory" if self.opaque else "it is made of operators that have rules"

    def dtypes(
        self,
        declaration: Declaration,
        derivatives: Mapping[str, Derivative],
        complex_derivatives: Mapping[str, Derivative],
    ) -> frozenset[DType]:
        """Others compute."""
        return EVERY_DTYPE
