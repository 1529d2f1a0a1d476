"""Rewrites expressions to simpler ones.

Kernels use the exact rules only: they hold for every dtype and every value, signed zeros and NaN included,
and do not change the dtype of the result (but for bool, which arithmetic takes as a small integer). In
derivatives all rules are used, which hold for finite real numbers.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable

from .tree import Apply, Expr, Literal, Number, apply

_FOLDED: dict[str, Callable[[float, float], float]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "pow": operator.pow,
}
# Larger integers would wrap in the narrowest dtype they might meet, so that folding would show.
_SMALL = 127


def simplify(expr: Expr, exact: bool = False) -> Expr:
    """The expression with constants folded and neutral operands dropped."""
    done: dict[Expr, Expr] = {}

    def visit(node: Expr) -> Expr:
        if not isinstance(node, Apply):
            return node
        if node not in done:
            args = tuple(map(visit, node.args))
            done[node] = _once(Apply(node.function, args, span=node.span), exact)
        return done[node]

    return visit(expr)


def build(function: str, *args: Expr) -> Expr:
    """An application with all rules used on it; its arguments are simple already."""
    return _once(apply(function, *args), exact=False)


def _once(node: Apply, exact: bool) -> Expr:
    folded = _fold(node, exact)
    if folded is not None:
        return folded
    simple = _exact(node)
    if simple is None and not exact:
        simple = _loose(node)
    return node if simple is None else simple


def _fold(node: Apply, exact: bool) -> Expr | None:
    values = [arg.value for arg in node.args if isinstance(arg, Literal)]
    if len(values) != len(node.args) or any(isinstance(value, bool) for value in values):
        return None
    if node.function == "neg":
        return Literal(-values[0], span=node.span)
    if node.function not in _FOLDED:
        return None
    try:
        value = _FOLDED[node.function](*values)
    except (ArithmeticError, ValueError):
        return None
    if isinstance(value, complex) or (isinstance(value, float) and not math.isfinite(value)):
        return None
    if node.function == "pow" and (exact or not isinstance(value, int)):
        return None  # for the C library to round
    if exact and isinstance(value, int) and abs(value) > _SMALL:
        return None
    return Literal(value, span=node.span)


def _is(expr: Expr, value: Number, exact: bool = False) -> bool:
    if not isinstance(expr, Literal) or isinstance(expr.value, bool) or expr.value != value:
        return False
    return isinstance(expr.value, int) or not exact


def _exact(node: Apply) -> Expr | None:
    """Only the integers 0 and 1: a float among integers makes the result floating."""
    first, *rest = node.args
    if node.function == "mul" and (_is(first, 1, True) or _is(rest[0], 1, True)):
        return rest[0] if _is(first, 1, True) else first
    if node.function == "pow" and _is(rest[0], 1, True):
        return first
    if node.function == "sub" and _is(rest[0], 0, True):
        return first  # also for -0.0, unlike the sum
    if node.function == "neg" and isinstance(first, Apply) and first.function == "neg":
        return first.args[0]
    return None


def _negated(expr: Expr) -> Expr | None:
    """The expression without its sign, if it has one."""
    if isinstance(expr, Apply) and expr.function == "neg":
        return expr.args[0]
    if isinstance(expr, Literal) and not isinstance(expr.value, bool) and expr.value < 0:
        return Literal(-expr.value)
    return None


def _loose(node: Apply) -> Expr | None:
    rule = _RULES.get(node.function)
    return None if rule is None else rule(*node.args)


def _add(left: Expr, right: Expr) -> Expr | None:
    if _is(left, 0):
        return right
    if _is(right, 0):
        return left
    positive = _negated(right)
    if positive is not None:
        return build("sub", left, positive)
    positive = _negated(left)
    return _joined(left, right, 1) if positive is None else build("sub", right, positive)


def _sub(left: Expr, right: Expr) -> Expr | None:
    if left == right or _is(right, 0):
        return Literal(0) if left == right else left
    if _is(left, 0):
        return build("neg", right)
    positive = _negated(right)
    return _joined(left, right, -1) if positive is None else build("add", left, positive)


def _joined(left: Expr, right: Expr, sign: int) -> Expr | None:
    """Multiples of the same expression as one."""
    (first, rest), (second, other) = _scaled(left), _scaled(right)
    return build("mul", Literal(first + sign * second), rest) if rest == other else None


def _scaled(expr: Expr) -> tuple[float, Expr]:
    """A number and what it is multiplied by."""
    if isinstance(expr, Apply) and expr.function == "mul" and _is_number(expr.args[0]):
        factor, rest = expr.args
        assert isinstance(factor, Literal)
        return factor.value, rest
    return 1, expr


def _is_number(expr: Expr) -> bool:
    return isinstance(expr, Literal) and not isinstance(expr.value, bool)


def _mul(left: Expr, right: Expr) -> Expr | None:
    if _is(left, 0) or _is(right, 0):
        return Literal(0)
    for one, other in ((left, right), (right, left)):
        if _is(one, 1):
            return other
        if _is(one, -1):
            return build("neg", other)
        if isinstance(one, Apply) and one.function == "neg":
            factors = (one.args[0], other) if one is left else (other, one.args[0])
            return build("neg", build("mul", *factors))
        if _selects(one):
            assert isinstance(one, Apply)
            condition, then, otherwise = one.args
            return build("where", condition, build("mul", other, then), build("mul", other, otherwise))
        if isinstance(one, Apply) and one.function == "div" and _is(one.args[0], 1):
            return build("div", other, one.args[1])  # the reciprocal alone may overflow
    return _ordered(left, right)


def _ordered(left: Expr, right: Expr) -> Expr | None:
    """A product from left to right, then times its number: neither a factor's square nor its double overflows alone."""
    if _is_number(right) and not _is_number(left):
        return build("mul", right, left)
    (first, rest), (second, other) = _scaled(left), _scaled(right)
    if _is_number(left):
        return None if other is right else build("mul", build("mul", left, Literal(second)), other)
    if rest is not left or other is not right:
        return build("mul", Literal(first * second), build("mul", rest, other))
    if isinstance(right, Apply) and right.function == "mul":
        return build("mul", build("mul", left, right.args[0]), right.args[1])
    return None


def _selects(expr: Expr) -> bool:
    """A choice of 0 or 1, as piecewise derivatives are; a factor moves inside it."""
    return (
        isinstance(expr, Apply)
        and expr.function == "where"
        and all(_is(arm, 0) or _is(arm, 1) for arm in expr.args[1:])
    )


def _div(left: Expr, right: Expr) -> Expr | None:
    if _is(left, 0):
        return Literal(0)
    if _is(right, 1):
        return left
    positive = _negated(left)
    return None if positive is None else build("neg", build("div", positive, right))


def _pow(base: Expr, exponent: Expr) -> Expr | None:
    if _is(exponent, 0):
        return Literal(1)
    return base if _is(exponent, 1) else None


def _where(condition: Expr, then: Expr, other: Expr) -> Expr | None:
    if then == other:
        return then
    if isinstance(condition, Literal):
        return then if condition.value else other
    return None


def _compare(holds: bool) -> Callable[[Expr, Expr], Expr | None]:
    """Comparison of literals for equality, which derivatives of powers leave behind."""

    def rule(left: Expr, right: Expr) -> Expr | None:
        if isinstance(left, Literal) and isinstance(right, Literal):
            return Literal((left.value == right.value) is holds)
        return None

    return rule


def _and(left: Expr, right: Expr) -> Expr | None:
    false = Literal(False)
    return false if false in (left, right) else None


_RULES: dict[str, Callable[..., Expr | None]] = {
    "add": _add,
    "sub": _sub,
    "mul": _mul,
    "div": _div,
    "pow": _pow,
    "where": _where,
    "eq": _compare(True),
    "ne": _compare(False),
    "bitwise_and": _and,
    "logical_and": _and,
}
