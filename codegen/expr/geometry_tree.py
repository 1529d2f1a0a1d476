"""The nodes of geometry expressions and the table of their functions. Every node knows its type."""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from .tree import NOWHERE, Span, Structural


class GeometryType(enum.Enum):
    """The type of a value; `str` names it in messages."""

    INT = "an integer"
    BOOL = "a truth value"
    INT_LIST = "a list of integers"

    def __str__(self) -> str:
        return self.value


INT, BOOL, INT_LIST = GeometryType.INT, GeometryType.BOOL, GeometryType.INT_LIST

BASE_SCOPE: Mapping[str, GeometryType] = MappingProxyType(
    {"shape": INT_LIST, "strides": INT_LIST, "offset": INT, "ndim": INT, "numel": INT}
)
"""What every view sees of its input."""


@dataclass(frozen=True, eq=False)
class Geometry(Structural):
    """Base of the nodes."""

    type: GeometryType
    span: Span = field(default=NOWHERE, kw_only=True, repr=False)

    @property
    def children(self) -> tuple[Geometry, ...]:
        return ()


@dataclass(frozen=True, eq=False)
class Variable(Geometry):
    name: str

    @property
    def key(self) -> tuple[object, ...]:
        return (self.type, self.name)


@dataclass(frozen=True, eq=False)
class Number(Geometry):
    """An integer that fits in int64; a truth value is 0 or 1."""

    value: int

    @property
    def key(self) -> tuple[object, ...]:
        return (self.type, self.value)


@dataclass(frozen=True, eq=False)
class Call(Geometry):
    """A function of FUNCTIONS or an operator of OPERATORS, applied."""

    function: str
    args: tuple[Geometry, ...]

    @property
    def key(self) -> tuple[object, ...]:
        return (self.type, self.function, self.args)

    @property
    def children(self) -> tuple[Geometry, ...]:
        return self.args


@dataclass(frozen=True)
class Signature:
    params: Mapping[str, GeometryType]
    result: GeometryType

    def usage(self, name: str) -> str:
        return f"{name}({', '.join(self.params)})"


def _signature(result: GeometryType, **params: GeometryType) -> Signature:
    return Signature(MappingProxyType(params), result)


FUNCTIONS: Mapping[str, Signature] = MappingProxyType(
    {
        "len": _signature(INT, list=INT_LIST),
        "min": _signature(INT, a=INT, b=INT),
        "max": _signature(INT, a=INT, b=INT),
        "ceil_div": _signature(INT, a=INT, b=INT),
        "default": _signature(INT, argument=INT, value=INT),
        "stepped": _signature(INT, stride=INT, step=INT),
        "swap": _signature(INT_LIST, list=INT_LIST, first=INT, second=INT),
        "remove": _signature(INT_LIST, list=INT_LIST, at=INT),
        "insert": _signature(INT_LIST, list=INT_LIST, at=INT, value=INT),
        "replace": _signature(INT_LIST, list=INT_LIST, at=INT, value=INT),
        "gather": _signature(INT_LIST, list=INT_LIST, indices=INT_LIST),
        "prepend": _signature(INT_LIST, value=INT, list=INT_LIST),
        "concat": _signature(INT_LIST, first=INT_LIST, second=INT_LIST),
        "view_strides": _signature(INT_LIST, shape=INT_LIST, strides=INT_LIST, size=INT_LIST),
        "infer_size": _signature(INT_LIST, size=INT_LIST, numel=INT),
        "expand_shape": _signature(INT_LIST, shape=INT_LIST, size=INT_LIST),
        "expand_strides": _signature(INT_LIST, shape=INT_LIST, strides=INT_LIST, size=INT_LIST),
        "squeeze_shape": _signature(INT_LIST, shape=INT_LIST, dims=INT_LIST),
        "squeeze_strides": _signature(INT_LIST, shape=INT_LIST, strides=INT_LIST, dims=INT_LIST),
    }
)
"""What can be called.

`default(argument, value)` stands in for an optional integer that was not given. A stride `stepped(stride, step)` leads
`step` times as far, or as far as before where that is beyond 64 bits: then there is no position that it leads to.
"""


def type_of(tree: Geometry) -> GeometryType:
    return tree.type


def variables(tree: Geometry) -> Iterator[Variable]:
    """Every use of a name, from left to right."""
    if isinstance(tree, Variable):
        yield tree
    for child in tree.children:
        yield from variables(child)


def names(tree: Geometry) -> frozenset[str]:
    """The names that an expression uses."""
    return frozenset(variable.name for variable in variables(tree))
