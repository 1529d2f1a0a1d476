"""The nodes of loop nests: what an operator computes, for which positions, and in which order.

Expressions are what `expr` prints for C, with their typed trees (`Emitted.root`), so that a printer may print them for
another target.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from ..dtypes import INT64, DType
from ..expr import Emitted, Expr
from ..expr.affine import Index
from ..expr.atoms import Range
from ..expr.tree import Number
from ..expr.typed import Node as Typed
from ..expr.typed_expression import TypedExpression
from ..model.compute import Outside


@dataclass(frozen=True)
class Axis:
    """A loop: `index` runs from `first` to `size`, one position after the other, or the other way."""

    index: str
    size: str
    body: tuple[Node, ...]
    first: str = "0"
    descending: bool = False
    in_order: bool = False
    """True if what is computed at a position depends on the one before it."""
    range: Range | None = None
    """The bounds of an axis of a reduction over computed indices, as they are written."""


@dataclass(frozen=True)
class Place:
    """The place of an element whose indices are computed."""

    tensor: str
    trees: tuple[Expr, ...]
    """The indices as they are written."""
    indices: tuple[Index, ...]
    """Their affine forms."""
    sure: tuple[bool, ...]
    """For each of them, whether it is inside wherever the element is read."""
    border: Outside
    """The meaning of an index that is outside, or the value there."""
    dtype: DType
    is_optional: bool
    is_result: bool
    """True if the tensor is a result, of which an element before is read."""

    @property
    def unsure(self) -> tuple[int, ...]:
        """The dimensions whose indices may be outside."""
        return tuple(dim for dim, is_sure in enumerate(self.sure) if not is_sure)

    @property
    def computed(self) -> tuple[Expr, ...]:
        """The indices that have no affine form, as they are made of data."""
        pairs = zip(self.trees, self.indices, strict=True)
        return tuple(tree for tree, each in pairs if each.affine is None)


@dataclass(frozen=True)
class Load:
    """An argument of the expressions that follow: an element of a tensor, at positions of axes, or a variable."""

    name: str
    element: str
    place: Place | None = None

    @property
    def dtype(self) -> DType:
        return INT64 if self.place is None else self.place.dtype

    @property
    def expressions(self) -> tuple[Expr, ...]:
        return () if self.place is None else self.place.trees


@dataclass(frozen=True)
class Truncated:
    """A number without its fraction, as an index; beyond 64 bits, and for NaN, one that is outside of every tensor."""

    name: str
    element: str
    value: Emitted

    dtype = INT64

    @cached_property
    def expression(self) -> Expr:
        """The number where an expression is expected."""
        return TypedExpression(self.value.root)

    @property
    def expressions(self) -> tuple[Expr, ...]:
        return (self.expression,)


@dataclass(frozen=True)
class Front:
    """The index of the dimensions in front, which are one."""

    name: str


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
    dtype: DType
    sizes: tuple[int, ...]
    numbers: tuple[Number, ...]


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
    is_product: bool = False
    """True if the element is written as a product, which a sum may add with one rounding."""
    vanishing: frozenset[str] = frozenset()
    """The loads of which one that is zero is enough for a term of a sum to be zero."""


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

    @cached_property
    def expression(self) -> Expr:
        """The value where an expression is expected."""
        return TypedExpression(self.value.root)


@dataclass(frozen=True)
class Guard:
    """The end of the axis around it, once the condition does not hold, or (`skips`) of its step where it does not."""

    condition: Emitted
    skips: bool = False
    tests: tuple[Expr, ...] = ()
    """The conditions that hold together where it does, as they are written."""


@dataclass(frozen=True)
class Reduction:
    """A variable with what is found at the positions of the axes in the body. Expressions call it `name`."""

    name: str
    variable: str
    body: tuple[Node, ...]
    most: int | None
    """The greatest sum, of integers that are not negative; None: it is not known."""
    tested: frozenset[str]
    """The elements of which the terms are made that may be outside."""
    is_safe: bool
    """True if its elements are sure to be inside, and no integers are divided."""

    @cached_property
    def axes(self) -> tuple[Axis, ...]:
        """The axes, one within the other."""
        found: list[Axis] = []
        body = self.body
        while axis := next((each for each in body if isinstance(each, Axis)), None):
            found.append(axis)
            body = axis.body
        return tuple(found)

    @property
    def ranges(self) -> tuple[Range, ...]:
        return tuple(each.range for each in self.axes if each.range is not None)

    @property
    def tests(self) -> tuple[Expr, ...]:
        """The conditions under which a term takes part."""
        return next((each.tests for each in self.axes[-1].body if isinstance(each, Guard)), ())

    @cached_property
    def term(self) -> Join | Find:
        """The combination with the element at one position."""
        return next(each for each in self.axes[-1].body if isinstance(each, (Join, Find)))

    @property
    def finds(self) -> bool:
        """True if the position of an extremum is found."""
        return isinstance(self.term, Find)

    @property
    def element(self) -> Typed:
        """The typed tree of the element at one position."""
        return self.term.element.root

    @cached_property
    def value(self) -> Expr:
        """The same where an expression is expected."""
        return TypedExpression(self.element)

    @property
    def dtype(self) -> DType:
        """The dtype of what is found."""
        return INT64 if self.finds else self.element.dtype

    @property
    def expressions(self) -> tuple[Expr, ...]:
        bounds = (bound for each in self.ranges for bound in (each.first, each.stop))
        return (self.value, *bounds, *self.tests)


@dataclass(frozen=True)
class Scope:
    """Nodes whose expressions have variables of their own."""

    body: tuple[Node, ...]


@dataclass(frozen=True)
class Comment:
    """Text about what the nodes do not say."""

    text: str


Node = (
    Axis | Load | Truncated | Front | Map | Table | Identity | Accumulate | Join | Count | Find | Store | Guard
    | Reduction | Scope | Comment
)  # fmt: skip
_Kind = TypeVar("_Kind", bound=Node)


def every(nodes: Iterable[Node], kind: type[_Kind]) -> list[_Kind]:
    """Return the nodes of one kind, also those within others, in their order."""
    found: list[_Kind] = []
    for node in nodes:
        if isinstance(node, kind):
            found.append(node)
        if isinstance(node, (Axis, Reduction, Scope)):
            found += every(node.body, kind)
    return found
