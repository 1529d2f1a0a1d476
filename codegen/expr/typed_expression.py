"""An expression whose dtypes are decided already: a typed tree where an expression is expected.

Passes that ask which names and functions an expression has see the same tree without its conversions.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from .tree import Apply, Expr, Literal, Name
from .typed import Arg, Const, Node, Op, postorder


@dataclass(frozen=True, eq=False)
class TypedExpression(Expr):
    """A typed tree, which lowering leaves as it is."""

    node: Node

    @property
    def key(self) -> tuple[object, ...]:
        return (self.node,)

    @cached_property
    def children(self) -> tuple[Expr, ...]:
        return (_untyped(self.node),)


def _untyped(root: Node) -> Expr:
    done: dict[Node, Expr] = {}
    for node in postorder(root):
        if isinstance(node, Arg):
            done[node] = Name(node.name)
        elif isinstance(node, Const):
            done[node] = Literal(node.value)
        elif isinstance(node, Op):
            done[node] = Apply(node.function, tuple(done[each] for each in node.operands))
        else:
            (done[node],) = (done[each] for each in node.children)
    return done[root]
