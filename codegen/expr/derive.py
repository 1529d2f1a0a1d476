"""Symbolic differentiation of elementwise expressions by the derivative column of the function table."""

from __future__ import annotations

from functools import cache

from .errors import ExpressionError
from .functions import FUNCTIONS
from .parse import parse
from .simplify import Simplifier, build, instantiated
from .text import symbol
from .tree import Apply, Expr, Literal, Name

_ZERO, _ONE = Literal(0), Literal(1)


def derive(expr: Expr, name: str) -> Expr:
    """The derivative of `expr` with respect to `name`, simplified.

    Comparisons, rounding and integer operations have derivative zero; at a kink the value is torch's
    subgradient. Raises ExpressionError for a function whose derivative is not known.
    """
    done: dict[Expr, Expr] = {}
    simplified = Simplifier()

    def visit(node: Expr) -> Expr:
        if isinstance(node, Name):
            return _ONE if node.name == name else _ZERO
        if not isinstance(node, Apply):
            return _ZERO
        if node not in done:
            done[node] = chain(node)
        return done[node]

    def chain(node: Apply) -> Expr:
        if node.function == "where":
            condition, then, other = node.args
            return build("where", condition, visit(then), visit(other))
        total: Expr = _ZERO
        for index, arg in enumerate(node.args):
            inner = visit(arg)
            if inner != _ZERO:
                total = build("add", total, build("mul", inner, _partial(node, index, simplified)))
        return total

    return visit(expr)


def _partial(node: Apply, index: int, simplified: Simplifier) -> Expr:
    """The derivative of a function by one of its arguments, in terms of the actual arguments."""
    function = FUNCTIONS[node.function]
    if function.derivatives is None:
        message = f"the derivative of {symbol(node.function)} is not known"
        raise ExpressionError.at(node.span, message, "declare a formula, or 'none'")
    actual = dict(zip((*function.params, "result"), map(simplified, (*node.args, node)), strict=True))
    return instantiated(_formula(function.derivatives[index]), actual)


@cache
def _formula(text: str) -> Expr:
    return parse(text)
