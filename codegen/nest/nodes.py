"""The nodes of loop nests: what an operator computes, for which positions, and in which order.

Expressions are what `expr` prints for C, with their typed trees (`Emitted.root`), so that a printer may print them for
another target.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

from ..expr import Emitted


@dataclass(frozen=True)
class Axis:
    """A loop: `index` runs from `first` to `size`, one position after the other, or the other way."""

    index: str
    size: str
    body: tuple[Node, ...]
    first: str = "0"
    descending: bool = False


@dataclass(frozen=True)
class Load:
    """An argument of the expressions that follow: an element of a tensor, at positions of axes, or a variable."""

    name: str
    element: str


@dataclass(frozen=True)
class Map:
    """A variable with the value of an expression. A constant one keeps it."""

    name: str
    ctype: str
    value: Emitted
    constant: bool = False
    line: int = 0
    """The line of the declaration that it comes from."""


@dataclass(frozen=True)
class Table:
    """Numbers of the declaration, as a constant tensor."""

    name: str
    ctype: str
    sizes: tuple[int, ...]
    numbers: tuple[str, ...]


@dataclass(frozen=True)
class Identity:
    """A variable that begins as what an accumulation leaves unchanged, as C has it."""

    name: str
    ctype: str
    value: str


@dataclass(frozen=True)
class Accumulate:
    """The next values of variables, all of which follow from those before: at each position of the axis around it."""

    names: tuple[str, ...]
    ctypes: tuple[str, ...]
    value: Emitted
    line: int = 0


@dataclass(frozen=True)
class Join:
    """An element that is combined with a variable, `how` a reduction is named, in an order that is left open."""

    name: str
    how: str
    element: Emitted
    compound: bool
    """True if the element is an operation, which people put into parentheses."""
    line: int = 0


NEUTRAL = {"sum": "0", "prod": "1", "max": "-INFINITY", "min": "INFINITY", "any": "0", "all": "1"}
"""The value of a variable before the first of such elements, as people write it."""


@dataclass(frozen=True)
class Count:
    """The count of a step of the search for a position."""

    name: str


@dataclass(frozen=True)
class Find:
    """An element that becomes the value of a variable, and its count that of its position, if it is the first one, or
    greater (`max`) or less (`min`) than those before."""

    name: str
    how: str
    element: Emitted


@dataclass(frozen=True)
class Store:
    """Elements of results with the values of expressions, or to which these are added."""

    elements: tuple[str, ...]
    value: Emitted
    adds: bool = False
    line: int = 0


@dataclass(frozen=True)
class Guard:
    """The end of the axis around it, once the condition does not hold, or (`skips`) of its step where it does not."""

    condition: Emitted
    skips: bool = False


@dataclass(frozen=True)
class Scope:
    """Nodes whose expressions have variables of their own."""

    body: tuple[Node, ...]


@dataclass(frozen=True)
class Comment:
    """Text about what the nodes do not say."""

    text: str


Node = Axis | Load | Map | Table | Identity | Accumulate | Join | Count | Find | Store | Guard | Scope | Comment
_Kind = TypeVar("_Kind", bound=Node)


def every(nodes: Iterable[Node], kind: type[_Kind]) -> list[_Kind]:
    """Return the nodes of one kind, also those within others, in their order."""
    found: list[_Kind] = []
    for node in nodes:
        if isinstance(node, kind):
            found.append(node)
        elif isinstance(node, (Axis, Scope)):
            found += every(node.body, kind)
    return found
