"""The typed tree: an expression for given dtypes, made of primitives, with every conversion explicit.

`lower.py` makes it, targets print it and the evaluator computes it. Nodes compare by structure, so that equal
subexpressions are one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ..dtypes import DType
from .functions import ROWS, Function
from .tree import Number, Structural, literal_key


@dataclass(frozen=True, eq=False)
class Node(Structural):
    """A node of a typed expression tree."""

    dtype: DType

    @property
    def children(self) -> tuple[Node, ...]:
        return ()


@dataclass(frozen=True, eq=False)
class Arg(Node):
    """An argument, already in its compute dtype. Bool arguments are 0 or 1."""

    name: str

    @property
    def key(self) -> tuple[object, ...]:
        return (self.dtype, self.name)


@dataclass(frozen=True, eq=False)
class Const(Node):
    """A number of its dtype: a float for floating dtypes (rounded when it is used), an int for integers."""

    value: Number

    @property
    def key(self) -> tuple[object, ...]:
        return (self.dtype, literal_key(self.value))


@dataclass(frozen=True, eq=False)
class Cast(Node):
    """A conversion; to bool it is `!= 0`."""

    operand: Node

    @property
    def key(self) -> tuple[object, ...]:
        return (self.dtype, self.operand)

    @property
    def children(self) -> tuple[Node, ...]:
        return (self.operand,)


@dataclass(frozen=True, eq=False)
class Op(Node):
    """A primitive function applied to operands of one dtype (`where`: after its bool condition)."""

    function: str
    operands: tuple[Node, ...]

    @property
    def key(self) -> tuple[object, ...]:
        return (self.dtype, self.function, self.operands)

    @property
    def children(self) -> tuple[Node, ...]:
        return self.operands

    @property
    def operand_dtype(self) -> DType:
        """The dtype in which the function is computed."""
        return self.operands[-1].dtype

    @property
    def row(self) -> Function:
        """The row of the function in the table."""
        return ROWS[self.function]


@dataclass(frozen=True, eq=False)
class Results(Node):
    """Several values of one element, computed together; it is the root of a tree."""

    nodes: tuple[Node, ...]

    @property
    def key(self) -> tuple[object, ...]:
        return self.nodes

    @property
    def children(self) -> tuple[Node, ...]:
        return self.nodes


def constant(value: Number, dtype: DType) -> Const:
    """A number converted to the dtype as a cast does at run time; integers wrap."""
    if dtype.is_bool:
        return Const(dtype, value != 0)
    if dtype.is_floating or dtype.is_complex:
        try:
            return Const(dtype, float(value))
        except OverflowError:
            return Const(dtype, float("inf") if value > 0 else float("-inf"))
    wrapped = int(value) & ((1 << dtype.bits) - 1)
    return Const(dtype, wrapped - (1 << dtype.bits) if wrapped > dtype.highest else wrapped)


def convert(node: Node, dtype: DType) -> Node:
    """The node converted to another dtype. In a choice between numbers the numbers are converted."""
    if node.dtype == dtype:
        return node
    if isinstance(node, Const):
        return constant(node.value, dtype)
    if isinstance(node, Op) and node.function == "where" and any(map(_is_choice, node.operands[1:])):
        condition, then, other = node.operands
        return Op(dtype, "where", (condition, convert(then, dtype), convert(other, dtype)))
    return Cast(dtype, node)


def _is_choice(node: Node) -> bool:
    return isinstance(node, Const) or (isinstance(node, Op) and node.function == "where")


def postorder(root: Node) -> list[Node]:
    """Every distinct node, operands before what uses them."""
    seen: dict[Node, None] = {}

    def visit(node: Node) -> None:
        if node not in seen:
            for child in node.children:
                visit(child)
            seen[node] = None

    visit(root)
    return list(seen)


def roots(root: Node) -> tuple[Node, ...]:
    """The values of a tree, of which there is more than one where they are computed together."""
    return root.nodes if isinstance(root, Results) else (root,)


def names(root: Node) -> frozenset[str]:
    """The names of the arguments that a tree reads."""
    return frozenset(node.name for node in postorder(root) if isinstance(node, Arg))


def certain(root: Node) -> frozenset[str]:
    """The names of the arguments that a tree reads whichever arms its choices take."""
    found: dict[Node, frozenset[str]] = {}
    for node in postorder(root):
        if isinstance(node, Arg):
            found[node] = frozenset({node.name})
        elif isinstance(node, Op) and node.function == "where":
            condition, then, other = (found[each] for each in node.operands)
            found[node] = condition | (then & other)
        else:
            found[node] = frozenset[str]().union(*(found[each] for each in node.children))
    return found[root]


def applied(root: Node) -> Iterator[tuple[Function, DType]]:
    """The primitives that a tree applies, with the dtypes in which they are computed."""
    return ((node.row, node.operand_dtype) for node in postorder(root) if isinstance(node, Op))


def replaced(root: Node, new: Mapping[Node, Node]) -> Node:
    """The tree with subtrees replaced wherever they occur."""
    done = dict(new)

    def visit(node: Node) -> Node:
        if node not in done:
            if isinstance(node, Cast):
                done[node] = Cast(node.dtype, visit(node.operand))
            elif isinstance(node, Op):
                done[node] = Op(node.dtype, node.function, tuple(map(visit, node.operands)))
            else:
                done[node] = node
        return done[node]

    return visit(root)


def may_fail(node: Node) -> bool:
    """True if the node itself (not its operands) may report an error at run time, as integer division by zero does."""
    return isinstance(node, Op) and node.row.may_fail and node.dtype.is_integer
