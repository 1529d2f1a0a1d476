"""Rewrites expressions to simpler ones, by a table of rewrites in the language itself.

Kernels use the exact rewrites only: they hold for every dtype and every value, signed zeros and NaN included,
and do not change the dtype of the result (but for bool, which arithmetic takes as a small integer). In
derivatives all are used, which hold for finite real numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property

from .functions import FUNCTIONS
from .parse import parse
from .tree import Apply, Expr, Literal, Name, apply

# Larger integers might wrap in a narrow dtype, or in every one, where folding would change the result.
_SMALL = 127
_LARGEST = 2**63 - 1

# Pairs of a pattern and its replacement. `a` and `b` match numbers, `n` a negative number, `f` and `g` anything but a
# number, other names anything; a name matches the same expression wherever it occurs. A number matches itself in any
# type, in exact rewrites only the integer, as a float among integers makes the result floating. The first pattern that
# matches is used; operands are simplified before.
EXACT = (
    ("1 * x", "x"),
    ("x * 1", "x"),
    ("x ** 1", "x"),
    ("x - 0", "x"),  # also of -0.0, unlike the sum
    ("-(-x)", "x"),
)
LOOSE = (
    ("0 + x", "x"),
    ("x + 0", "x"),
    ("x + -y", "x - y"),
    ("x + n", "x - -n"),
    ("-x + y", "y - x"),
    ("n + x", "x - -n"),
    ("a * x + b * x", "(a + b) * x"),
    ("a * x + x", "(a + 1) * x"),
    ("x + b * x", "(1 + b) * x"),
    ("x + x", "2 * x"),
    ("x - x", "0"),
    ("x - 0", "x"),
    ("0 - x", "-x"),
    ("x - -y", "x + y"),
    ("x - n", "x + -n"),
    ("a * x - b * x", "(a - b) * x"),
    ("a * x - x", "(a - 1) * x"),
    ("x - b * x", "(1 - b) * x"),
    ("0 * x", "0"),
    ("x * 0", "0"),
    ("1 * x", "x"),
    ("-1 * x", "-x"),
    ("-x * y", "-(x * y)"),
    ("where(c, 1, 0) * x", "where(c, x, 0)"),  # piecewise derivatives: a factor moves inside
    ("where(c, 0, 1) * x", "where(c, 0, x)"),
    ("1 / x * y", "y / x"),  # the reciprocal alone may overflow
    ("x * 1", "x"),
    ("x * -1", "-x"),
    ("x * -y", "-(x * y)"),
    ("x * where(c, 1, 0)", "where(c, x, 0)"),
    ("x * where(c, 0, 1)", "where(c, 0, x)"),
    ("x * (1 / y)", "x / y"),
    # Products go from left to right, their number in front: neither a factor's square nor its double overflows alone.
    ("a * (b * f)", "a * b * f"),
    ("f * a", "a * f"),
    ("a * f * (b * g)", "a * b * (f * g)"),
    ("f * (b * g)", "b * (f * g)"),
    ("a * f * x", "a * (f * x)"),
    ("f * (x * y)", "f * x * y"),
    ("0 / x", "0"),
    ("x / 1", "x"),
    ("-x / y", "-(x / y)"),
    ("n / x", "-(-n / x)"),
    ("x ** 0", "1"),
    ("x ** 1", "x"),
    ("where(c, x, x)", "x"),
    ("where(True, x, y)", "x"),
    ("where(False, x, y)", "y"),
    ("False & x", "False"),
    ("x & False", "False"),
    ("False and x", "False"),
    ("x and False", "False"),
)


@dataclass(frozen=True)
class _Rewrite:
    pattern: Apply
    result: Expr
    exact: bool

    def apply(self, node: Apply) -> Expr | None:
        """The replacement of the node; None if the pattern does not match."""
        if any(head is not None and head != _head(arg) for head, arg in zip(self._heads, node.args, strict=True)):
            return None
        bound: dict[str, Expr] = {}
        return instantiated(self.result, bound) if _matches(self.pattern, node, self.exact, bound) else None

    @cached_property
    def _heads(self) -> tuple[str | type[Literal] | None, ...]:
        """The functions of the pattern's arguments, which tell most mismatches early; None: any argument matches."""
        return tuple(_head(each) for each in self.pattern.args)


def _head(expr: Expr) -> str | type[Literal] | None:
    return expr.function if isinstance(expr, Apply) else Literal if isinstance(expr, Literal) else None


@cache
def _rewrites(exact: bool) -> Mapping[str, tuple[_Rewrite, ...]]:
    """The rewrites by the outermost function of their patterns."""
    by_function: dict[str, tuple[_Rewrite, ...]] = {}
    for rows, is_exact in ((EXACT, True), (() if exact else LOOSE, False)):
        for pattern, result in rows:
            tree = parse(pattern)
            assert isinstance(tree, Apply)
            row = _Rewrite(tree, parse(result), is_exact)
            by_function[tree.function] = (*by_function.get(tree.function, ()), row)
    return by_function


def simplify(expr: Expr, exact: bool = False) -> Expr:
    """The expression with constants folded and neutral operands dropped."""
    return Simplifier(exact)(expr)


class Simplifier:
    """Simplifies expressions, of whose common parts each is looked at once."""

    def __init__(self, exact: bool = False) -> None:
        self._exact = exact
        self._done: dict[Expr, Expr] = {}

    def __call__(self, node: Expr) -> Expr:
        if not isinstance(node, Apply):
            return node
        if node not in self._done:
            args = tuple(map(self, node.args))
            self._done[node] = _rewritten(Apply(node.function, args, span=node.span), self._exact)
        return self._done[node]


def build(function: str, *args: Expr) -> Expr:
    """An application, simplified by all rewrites; its arguments are simplified already."""
    return _rewritten(apply(function, *args), exact=False)


def _rewritten(node: Apply, exact: bool) -> Expr:
    folded = _fold(node, exact)
    if folded is not None:
        return folded
    results = (row.apply(node) for row in _rewrites(exact).get(node.function, ()))
    return next((result for result in results if result is not None), node)


def _matches(pattern: Expr, node: Expr, exact: bool, bound: dict[str, Expr]) -> bool:
    """True if the node matches the pattern; `bound` gets the expressions that the names match."""
    if isinstance(pattern, Name):
        accepts = _ACCEPTED.get(pattern.name)
        return (accepts is None or accepts(node)) and bound.setdefault(pattern.name, node) == node
    if isinstance(pattern, Literal):
        if not isinstance(node, Literal) or isinstance(node.value, bool) is not isinstance(pattern.value, bool):
            return False
        return node.value == pattern.value and (isinstance(node.value, int) or not exact)
    assert isinstance(pattern, Apply)
    if not isinstance(node, Apply) or node.function != pattern.function:
        return False
    return all(_matches(part, arg, exact, bound) for part, arg in zip(pattern.args, node.args, strict=True))


def instantiated(result: Expr, bound: Mapping[str, Expr]) -> Expr:
    """An expression with simplified ones in the place of its names, simplified."""
    if isinstance(result, Name):
        return bound[result.name]
    if not isinstance(result, Apply):
        return result
    return build(result.function, *(instantiated(arg, bound) for arg in result.args))


def _is_number(expr: Expr) -> bool:
    return isinstance(expr, Literal) and not isinstance(expr.value, bool)


_ACCEPTED: Mapping[str, Callable[[Expr], bool]] = {
    "a": _is_number,
    "b": _is_number,
    "n": lambda expr: isinstance(expr, Literal) and _is_number(expr) and expr.value < 0,
    **dict.fromkeys("fg", lambda expr: not _is_number(expr)),
}
"""Conditions on the expressions that names of patterns match."""


def _fold(node: Apply, exact: bool) -> Expr | None:
    """The value of an operator applied to numbers; None if it must be computed in the dtype of the operands."""
    values = [arg.value for arg in node.args if isinstance(arg, Literal) and not isinstance(arg.value, bool)]
    python = FUNCTIONS[node.function].python
    if python is None or len(values) != len(node.args):
        return None
    try:
        value = python(*values)
    except (ArithmeticError, ValueError):
        return None
    if node.function == "neg" or isinstance(value, bool):
        return None if exact and isinstance(value, bool) else Literal(value, span=node.span)
    if isinstance(value, complex) or (isinstance(value, float) and not math.isfinite(value)):
        return None
    if node.function == "pow" and (exact or not isinstance(value, int)):
        return None  # for the C library to round
    if isinstance(value, int) and abs(value) > (_SMALL if exact else _LARGEST):
        return None
    return Literal(value, span=node.span)
