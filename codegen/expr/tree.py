"""The expression tree: three kinds of frozen nodes, and functions that every pass uses.

Operators are applications of named functions (`a + b` is `add(a, b)`), so that one table (functions/)
has every fact about each. Nodes compare by structure, not by position, and cache their hash: a derivative shares many
subtrees, and passes memoize on them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from typing import TypeAlias

from ..source import Scalar

Number: TypeAlias = bool | int | float
"""The value of a literal. A bool is not an int here, nor an int a float."""


@dataclass(frozen=True)
class Span:
    """The position of a node in the text of the expression, in characters."""

    offset: int
    length: int
    origin: Scalar | None = field(default=None, repr=False, compare=False)
    """The text, where the tree may have parts of several: of local names and of functions of the file."""


NOWHERE = Span(0, 0)


@dataclass(frozen=True, eq=False)
class Structural:
    """Equality and a cached hash by `key`, for this tree and the typed one."""

    @property
    def key(self) -> tuple[object, ...]:
        raise NotImplementedError

    @cached_property
    def _hash(self) -> int:
        return hash((type(self), self.key))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Structural) or type(self) is not type(other):
            return NotImplemented if not isinstance(other, Structural) else False
        return self._hash == other._hash and self._digest == other._digest

    @cached_property
    def _digest(self) -> bytes:
        """A digest that equal trees share and no others. Comparing part by part would visit parts again that occur more
        than once, which is often in trees of derivatives."""
        found = blake2b(type(self).__name__.encode(), digest_size=16)
        _feed(found, self.key)
        return found.digest()


def _feed(found: blake2b, key: object) -> None:
    if isinstance(key, Structural):
        found.update(key._digest)
    elif isinstance(key, tuple):
        found.update(b"(")
        for each in key:
            _feed(found, each)
        found.update(b")")
    else:
        found.update(f"{key!r};".encode())


def literal_key(value: Number) -> tuple[object, ...]:
    """A key that distinguishes 1, 1.0 and True, and 0.0 and -0.0, and is equal for all NaN."""
    return (type(value), repr(value))


@dataclass(frozen=True, eq=False)
class Expr(Structural):
    """Base of the nodes. `str` prints it in the language."""

    span: Span = field(default=NOWHERE, kw_only=True, repr=False)

    @property
    def children(self) -> tuple[Expr, ...]:
        return ()

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset[str]().union(*(child._names for child in self.children))

    @cached_property
    def _applications(self) -> frozenset[Expr]:
        return frozenset[Expr]().union(*(child._applications for child in self.children))

    def __str__(self) -> str:
        from .text import to_text

        return to_text(self)


@dataclass(frozen=True, eq=False)
class Name(Expr):
    """An argument of the operator, `grad`, `result`, ..."""

    name: str

    @property
    def key(self) -> tuple[object, ...]:
        return (self.name,)

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset({self.name})


@dataclass(frozen=True, eq=False)
class Literal(Expr):
    """A number, True or False."""

    value: Number

    @property
    def key(self) -> tuple[object, ...]:
        return literal_key(self.value)


@dataclass(frozen=True, eq=False)
class Apply(Expr):
    """A function of the table, or an operator, applied to its arguments."""

    function: str
    args: tuple[Expr, ...]

    @property
    def key(self) -> tuple[object, ...]:
        return (self.function, self.args)

    @property
    def children(self) -> tuple[Expr, ...]:
        return self.args

    @cached_property
    def _applications(self) -> frozenset[Expr]:
        return super()._applications | {self}


def apply(function: str, *args: Expr, span: Span = NOWHERE) -> Apply:
    """Return the application of a function to arguments."""
    return Apply(function, args, span=span)


def names_in_order(*trees: Expr) -> tuple[str, ...]:
    """The names that expressions use, in the order of their first use."""
    found: dict[str, None] = {}
    seen: set[Expr] = set()

    def visit(node: Expr) -> None:
        if node in seen:
            return
        seen.add(node)
        if isinstance(node, Name):
            found[node.name] = None
        for child in node.children:
            visit(child)

    for tree in trees:
        visit(tree)
    return tuple(found)


def names(expr: Expr) -> frozenset[str]:
    """The names that an expression uses."""
    return expr._names


def applications(expr: Expr) -> frozenset[Expr]:
    """The distinct applications of functions in an expression, each of which is computed once for an element."""
    return expr._applications


def substitute(expr: Expr, replacements: Mapping[str, Expr]) -> Expr:
    """The expression with names replaced simultaneously."""
    done: dict[Expr, Expr] = {}

    def visit(node: Expr) -> Expr:
        if isinstance(node, Name):
            return replacements.get(node.name, node)
        if not isinstance(node, Apply):
            return node
        if node not in done:
            done[node] = Apply(node.function, tuple(map(visit, node.args)), span=node.span)
        return done[node]

    return visit(expr)


def replaced(expr: Expr, old: Expr, new: Expr) -> Expr:
    """The expression with every occurrence of the subtree `old` replaced."""
    done: dict[Expr, Expr] = {old: new}

    def visit(node: Expr) -> Expr:
        if node not in done:
            if not isinstance(node, Apply):
                return node
            done[node] = Apply(node.function, tuple(map(visit, node.args)), span=node.span)
        return done[node]

    return visit(expr)
