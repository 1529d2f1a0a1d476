"""Expressions and their derivatives in arithmetic of hundreds of digits, in which nothing overflows: what gradients are
compared with over the whole range of exponents."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, TypeAlias

from mpmath import mp

from codegen.dtypes import FLOAT64
from codegen.expr import Expr, parse
from codegen.expr.functions import FUNCTIONS
from codegen.expr.tree import Apply, Literal, Name

Number: TypeAlias = Any
"""Of mpmath, or a truth."""

_ORDINARY, _DIFFERENCES = 1000, 260
_SPECIAL, _SPECIAL_DIFFERENCES = 500, 110
"""Bits of the arithmetic, and of them those by which the two ends of a difference are apart; the functions of special.h
take long in more of them."""


def derivative(tree: Expr, values: Mapping[str, float], name: str) -> Number:
    """By differences of a step so small that neither rounding nor curvature shows; NaN outside the domain."""
    bits, apart = (_SPECIAL, _SPECIAL_DIFFERENCES) if is_special(tree) else (_ORDINARY, _DIFFERENCES)
    with mp.workprec(bits):
        exact = {each: mp.mpf(value) for each, value in values.items()}
        step = abs(exact[name] or mp.mpf(2) ** -140) * mp.mpf(2) ** -apart
        try:
            ends = [evaluate(tree, {**exact, name: exact[name] + sign * step}) for sign in (1, -1)]
        except (ValueError, ZeroDivisionError, mp.NoConvergence):
            return mp.nan
        if any(isinstance(end, mp.mpc) for end in ends):
            return mp.nan
        return (ends[0] - ends[1]) / (2 * step)


def is_special(tree: Expr) -> bool:
    """Does it call a function of special.h?"""
    own = isinstance(tree, Apply) and FUNCTIONS[tree.function].is_special
    return own or any(map(is_special, tree.children))


def evaluate(tree: Expr, values: Mapping[str, Number]) -> Number:
    """The value in the arithmetic that is set."""
    done: dict[Expr, Number] = {}

    def visit(node: Expr) -> Number:
        if isinstance(node, Name):
            return values[node.name]
        if isinstance(node, Literal):
            return node.value if isinstance(node.value, bool) else mp.mpf(node.value)
        if node not in done:
            assert isinstance(node, Apply)
            done[node] = apply(node)
        return done[node]

    def apply(node: Apply) -> Number:
        if node.function == "where":
            condition, then, other = node.args
            return visit(then if visit(condition) else other)
        operands = [visit(each) for each in node.args]
        known = _PRIMITIVES.get(node.function)
        if known is not None:
            return known(*operands)
        function = FUNCTIONS[node.function]
        definition = function.definition(FLOAT64)
        assert definition is not None, f"no exact {node.function}"
        return evaluate(_parsed(definition), dict(zip(function.params, operands, strict=True)))

    return visit(tree)


@cache
def _parsed(text: str) -> Expr:
    return parse(text)


def _quotient(x: Number, y: Number) -> Number:
    return x / y if y else mp.nan if not x or mp.isnan(x) else mp.inf * mp.sign(x)


def _power(x: Number, y: Number) -> Number:
    if not x:
        return mp.mpf(1) if not y else mp.mpf(0) if y > 0 else mp.inf
    return mp.power(x, y)


def _fmod(x: Number, y: Number) -> Number:
    """The remainder has the sign of x."""
    return x if mp.isinf(y) else mp.sign(x) * mp.fmod(abs(x), abs(y))


def _polynomial(name: str) -> Callable[[Number, Number], Number]:
    kind = {
        "chebyshev_polynomial_t": mp.chebyt,
        "chebyshev_polynomial_u": mp.chebyu,
        "shifted_chebyshev_polynomial_t": lambda n, x: mp.chebyt(n, 2 * x - 1),
        "shifted_chebyshev_polynomial_u": lambda n, x: mp.chebyu(n, 2 * x - 1),
        "hermite_polynomial_h": mp.hermite,
        "hermite_polynomial_he": lambda n, x: mp.mpf(2) ** (-n / 2) * mp.hermite(n, x / mp.sqrt(2)),
        "laguerre_polynomial_l": mp.laguerre,
        "legendre_polynomial_p": mp.legendre,
    }.get(name)
    return lambda x, n: kind(mp.floor(n), x) if kind and n >= 0 else mp.mpf(0)


_PRIMITIVES: Mapping[str, Callable[..., Number]] = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": _quotient,
    "neg": lambda x: -x,
    "pow": _power,
    "lt": lambda x, y: x < y,
    "le": lambda x, y: x <= y,
    "gt": lambda x, y: x > y,
    "ge": lambda x, y: x >= y,
    "eq": lambda x, y: x == y,
    "ne": lambda x, y: x != y,
    "logical_and": lambda x, y: bool(x) and bool(y),
    "logical_or": lambda x, y: bool(x) or bool(y),
    "logical_not": lambda x: not x,
    "bitwise_and": lambda x, y: x and y,
    "bitwise_or": lambda x, y: x or y,
    "bitwise_xor": lambda x, y: x != y,
    "exp": mp.exp,
    "exp2": lambda x: mp.power(2, x),
    "expm1": lambda x: mp.exp(x) - 1,
    "log": lambda x: mp.log(x) if x else -mp.inf,
    "log2": lambda x: mp.log(x, 2),
    "log10": lambda x: mp.log(x, 10),
    "log1p": lambda x: mp.log(1 + x) if x != -1 else -mp.inf,
    "sqrt": mp.sqrt,
    "cbrt": lambda x: mp.sign(x) * mp.cbrt(abs(x)),
    "hypot": mp.hypot,
    **{name: getattr(mp, name) for name in ("sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh")},
    **{name: getattr(mp, name) for name in ("tanh", "asinh", "acosh", "atanh", "erf", "erfc", "erfinv")},
    "abs": abs,
    "floor": mp.floor,
    "ceil": mp.ceil,
    "trunc": lambda x: mp.sign(x) * mp.floor(abs(x)),
    "round": mp.nint,
    "copysign": lambda x, y: abs(x) if y >= 0 else -abs(x),
    "signbit": lambda x: x < 0,
    "isnan": mp.isnan,
    "fmod": _fmod,
    "floor_divide": lambda x, y: mp.floor(x / y),
    "remainder": lambda x, y: x - y * mp.floor(x / y),
    "lgamma": lambda x: mp.re(mp.loggamma(x)),
    "digamma": lambda x: mp.psi(0, x),
    "ndtri": lambda x: mp.sqrt(2) * mp.erfinv(2 * x - 1),
    "erfcx": lambda x: mp.exp(x * x) * mp.erfc(x),
    "i0": lambda x: mp.besseli(0, x),
    "i0e": lambda x: mp.besseli(0, x) * mp.exp(-abs(x)),
    "i1": lambda x: mp.besseli(1, x),
    "i1e": lambda x: mp.besseli(1, x) * mp.exp(-abs(x)),
    "k0": lambda x: mp.besselk(0, x),
    "k0e": lambda x: mp.besselk(0, x) * mp.exp(x),
    "k1": lambda x: mp.besselk(1, x),
    "k1e": lambda x: mp.besselk(1, x) * mp.exp(x),
    "bessel_j0": lambda x: mp.besselj(0, x),
    "bessel_j1": lambda x: mp.besselj(1, x),
    "bessel_y0": lambda x: mp.bessely(0, x),
    "bessel_y1": lambda x: mp.bessely(1, x),
    "airy_ai": mp.airyai,
    "zeta": mp.zeta,
    "igamma": lambda a, x: mp.gammainc(a, 0, x, regularized=True),
    "igammac": lambda a, x: mp.gammainc(a, x, mp.inf, regularized=True),
    **{name: _polynomial(name) for name, function in FUNCTIONS.items() if function.params == ("x", "n")},
}
