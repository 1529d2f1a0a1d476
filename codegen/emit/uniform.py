"""Parts of expressions that depend on parameters alone: they are computed once for a row, not for each element."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from ..expr import Emitted
from ..expr.kernel_text import emit_together, variable
from ..expr.typed import Arg, Node, Op, applied, may_fail, names, postorder, replaced, roots
from .expressions import Variable

_WORTHWHILE = 3.0
"""Cheaper parts, an instruction or two, are left where they are."""


def uniform_parts(
    value: Emitted, params: tuple[Variable, ...], known: Collection[str]
) -> tuple[Emitted, tuple[Variable, ...]]:
    """Return the expressions with names for such parts, and the parameters with these behind them. `known` are the
    parameters' names."""
    parts: dict[Node, Node] = {}
    seen: set[Node] = set()

    def visit(node: Node) -> None:
        if node in seen:
            return
        seen.add(node)
        if isinstance(node, Op) and names(node) and names(node) <= set(known) and _is_worthwhile(node):
            parts[node] = Arg(node.dtype, f"_p{len(parts)}")
        else:
            for child in node.children:
                visit(child)

    if known:
        visit(value.root)
    if not parts:
        return value, params
    computed = emit_together(tuple(parts))
    found = list(params)
    for part, text in zip(parts.values(), computed.values, strict=True):
        assert isinstance(part, Arg)
        found.append(Variable(variable(part.name), part.dtype.c_type, value=text, statements=computed.statements))
        computed = replace(computed, statements=())  # which are those of all values
    return emit_together([replaced(root, parts) for root in roots(value.root)]), tuple(found)


def _is_worthwhile(part: Node) -> bool:
    cost = sum(function.cost for function, _ in applied(part))
    return cost > _WORTHWHILE and not any(map(may_fail, postorder(part)))
