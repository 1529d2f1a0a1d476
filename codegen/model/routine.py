"""The bodies that are routines of the core."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..dtypes import DTYPE_CLASSES, DType
from ..source import Scalar
from .body import Body
from .family import Family
from .parts import python_name
from .routines import INDEXINGS

if TYPE_CHECKING:
    from .operator import Declaration, Derivative, Operator


class _Mover(Body):
    """The base of routines that compute nothing themselves and therefore accept complex numbers."""

    def dtypes(
        self,
        declaration: Declaration,
        derivatives: Mapping[str, Derivative],
        complex_derivatives: Mapping[str, Derivative],
    ) -> frozenset[DType]:
        return DTYPE_CLASSES["any"]

    def dtype_text(self, operator: Operator) -> str | None:
        return "that of the input"


@dataclass(frozen=True)
class Extern(Body):
    """A body that is a product of the core, with the signature of a generalised ufunc."""

    family = Family.EXTERN

    routine: str = field()
    signature: str = field()

    def rule(self, operator: Operator) -> str | None:
        return self.signature

    def shape_text(self, operator: Operator) -> str | None:
        inputs, result = self.signature.split("->")
        named = (
            f"{python_name(argument.name)} ({_sizes(sizes)})"
            for argument, sizes in zip(operator.inputs, inputs.split(",("), strict=True)
        )
        return f"shape ({_sizes(result)}) for {', '.join(named)}"

    def dtype_text(self, operator: Operator) -> str | None:
        return "that of the input"


def _sizes(text: str) -> str:
    """Sizes of the signature of a routine, without parentheses."""
    return ", ".join(text.strip("()").split(","))


@dataclass(frozen=True)
class Indexing(_Mover):
    """A routine over computed places; a reduction combines what is written there with what there is."""

    family = Family.INDEXING

    routine: str = field()
    reductions: tuple[str, ...] = field()
    words: tuple[str, ...] = field()
    numbers: Mapping[str, str] = field()
    source: Scalar = field(repr=False, compare=False)

    @property
    def updates_self(self) -> bool:
        return INDEXINGS.get(self.routine, False)


@dataclass(frozen=True)
class Random(Body):
    """Fills `self` with numbers of a distribution of the core."""

    family = Family.RANDOM

    routine: str = field()


@dataclass(frozen=True)
class Lapack(Body):
    """A routine of LAPACK, called for each matrix of a batch; it may have several results."""

    family = Family.LAPACK

    routine: str = field()

    def dtypes(
        self,
        declaration: Declaration,
        derivatives: Mapping[str, Derivative],
        complex_derivatives: Mapping[str, Derivative],
    ) -> frozenset[DType]:
        return DTYPE_CLASSES["lapack"]


@dataclass(frozen=True)
class Core(_Mover):
    """A function of the core that is given the whole call."""

    family = Family.CORE

    routine: str = field()
