"""Prints long formulas with their common parts assigned to names, as Python: `(_part0 := exp(x)) * (1 - _part0)`.

A derivative repeats parts of the expression, and names of `let` repeat theirs, so that the text of a formula may be a
multiple of its tree.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from .tree import Apply, Expr, Name, names

_SHORT = 64
"""The number of nodes up to which a formula is printed as it is."""


def text(tree: Expr, numbers: Collection[str] = ()) -> str:
    """The text of a formula. Parts of `numbers` alone, which are computed by Python, are not shared."""
    if _size(tree) <= _SHORT:
        return str(tree)
    shared = {node for node, count in _uses(tree).items() if count > 1 and not names(node) <= set(numbers)}
    done: dict[Expr, Expr] = {}

    def visit(node: Expr) -> Expr:
        """The node with its parts in the order in which Python computes them, the first of each with its name."""
        if not isinstance(node, Apply):
            return node
        if node in done:
            return done[node]
        args = tuple(map(visit, node.args))
        # A ternary would compute the condition first, but is read in another order.
        is_choice = node.function == "where"
        new = Name(f"where({', '.join(map(str, args))})") if is_choice else Apply(node.function, args)
        if node not in shared:
            return new
        name = f"_part{len(done)}"
        done[node] = Name(name)
        return Name(f"({name} := {new})")

    return str(visit(tree))


def _size(tree: Expr) -> int:
    """The number of nodes of the text."""
    sizes: dict[Expr, int] = {}

    def visit(node: Expr) -> int:
        if node not in sizes:
            sizes[node] = 1 + sum(map(visit, node.children))
        return sizes[node]

    return visit(tree)


def _uses(tree: Expr) -> Counter[Expr]:
    """Return the number of times that each application stands in the tree; equal applications count as one."""
    uses: Counter[Expr] = Counter()
    seen: set[Expr] = set()

    def visit(node: Expr) -> None:
        for child in node.children:
            if isinstance(child, Apply):
                uses[child] += 1
            if child not in seen:
                seen.add(child)
                visit(child)

    visit(tree)
    return uses
