"""The positions to which an index outside of a dimension leads, by the rules that let it lead to one."""

from __future__ import annotations

from ..expr import Apply, Expr, Literal
from ..expr.affine import ONE, ZERO, product
from .compute import Border


def led(index: Expr, size: Expr, rule: object) -> Expr:
    """The position that an index outside of a dimension leads to."""
    last = Apply("sub", (size, ONE))
    if rule is Border.WRAP:
        return Apply("remainder", (index, size))
    if rule is Border.REFLECT:
        period = Apply("maximum", (product(Literal(2), last), ONE))
        turned = Apply("remainder", (index, period))
        return Apply("minimum", (turned, Apply("sub", (period, turned))))
    return Apply("minimum", (Apply("maximum", (index, ZERO)), last))
