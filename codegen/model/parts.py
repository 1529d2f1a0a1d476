"""Parts of the bodies of several families."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Generic, TypeVar

from ..dtypes import DType
from ..expr import Expr
from ..source import Scalar

T = TypeVar("T")
V = TypeVar("V")

OTHER = "other_"
"""The prefix of the variables of a second state, which a reduction combines with the first."""


def python_name(name: str) -> str:
    """Return the name of an argument in functions of Python: as in torch, `self` is called `input` there."""
    return "input" if name == "self" else name


class End(Enum):
    """An end of a dtype's range: what an optional bound is when it is None, where a search for an extremum starts."""

    LOWEST = "lowest"
    HIGHEST = "highest"


class Found(Enum):
    """The result of a reduction or a scan: the combination of elements, or the position of an element."""

    VALUE = "value"
    POSITION = "position"


ERROR_KINDS: Mapping[str, str] = {
    "RuntimeError": "OW_RUNTIME_ERROR",
    "IndexError": "OW_INDEX_ERROR",
    "TypeError": "OW_TYPE_ERROR",
    "ValueError": "OW_VALUE_ERROR",
    "NotImplementedError": "OW_NOT_IMPLEMENTED",
}
"""The exceptions that a requirement may raise, with their names in the core."""


@dataclass(frozen=True)
class Requirement(Generic[T, V]):
    """A condition on arguments and the error when it does not hold; its message is text and values in turn."""

    check: T
    error: str
    message: tuple[str | V, ...]
    dtypes: frozenset[DType] | None = None
    """The dtypes of the results for which it must hold; None: all dtypes."""

    @property
    def values(self) -> tuple[T | V, ...]:
        """The values that are computed for it: the condition, and what its message quotes."""
        return (self.check, *(part for part in self.message if not isinstance(part, str)))


@dataclass(frozen=True)
class Expression:
    """An expression of ops.yaml and the place it was read from."""

    tree: Expr
    source: Scalar = field(repr=False, compare=False)

    @property
    def line(self) -> int:
        return self.source.locate(0)[0]
