"""Prints an expression tree in the language, with as few parentheses as possible."""

from __future__ import annotations

import math

from .functions import FUNCTIONS
from .functions.lists import ITEM, LIST
from .tree import Apply, Expr, Literal, Name, Number

# Python's precedences, loosest first; only their order matters.
TERNARY, OR, AND, NOT, COMPARE, BITOR, XOR, BITAND = range(8)
SHIFT, SUM, PRODUCT, SIGN, POWER, ATOM = range(8, 14)

_PRECEDENCES = {
    "or": OR, "and": AND, "|": BITOR, "^": XOR, "&": BITAND, "<<": SHIFT, ">>": SHIFT, "+": SUM, "-": SUM,
    "*": PRODUCT, "/": PRODUCT, "//": PRODUCT, "%": PRODUCT, "**": POWER,
    **dict.fromkeys(("<", "<=", ">", ">=", "==", "!="), COMPARE),
}  # fmt: skip
_PREFIXES = {"not": ("not ", NOT), "-": ("-", SIGN), "~": ("~", SIGN)}
BINARY = {f.name: (f.symbol, _PRECEDENCES[f.symbol]) for f in FUNCTIONS.values() if f.symbol and f.arity == 2}
UNARY = {f.name: _PREFIXES[f.symbol] for f in FUNCTIONS.values() if f.symbol and f.arity == 1}


def symbol(function: str) -> str:
    """The name of a function in messages: `'+'` or `exp`."""
    if function in BINARY:
        return f"'{BINARY[function][0]}'"
    return f"'{UNARY[function][0].strip()}'" if function in UNARY else function


def literal_text(value: Number) -> str:
    """A number in the language; infinities and NaN by name."""
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    return repr(value)


def to_text(expr: Expr) -> str:
    """Return an expression as text of the language."""
    return _print(expr)[0]


def _print(expr: Expr) -> tuple[str, int]:
    if isinstance(expr, Name):
        return expr.name, ATOM
    if isinstance(expr, Literal):
        text = literal_text(expr.value)
        return text, SIGN if text.startswith("-") else ATOM
    assert isinstance(expr, Apply)
    if expr.function in BINARY:
        return _binary(expr)
    if expr.function in UNARY:
        text, precedence = UNARY[expr.function]
        return text + _within(expr.args[0], precedence), precedence
    if expr.function == "where":
        condition, then, other = expr.args
        return (
            f"{_within(then, OR)} if {_within(condition, OR)} else {_within(other, TERNARY)}",
            TERNARY,
        )
    args = [to_text(arg) for arg in expr.args]
    if expr.function == LIST:
        return f"[{', '.join(args)}]", ATOM
    if expr.function == ITEM:
        return f"{_within(expr.args[0], ATOM)}[{args[1]}]", ATOM
    return f"{expr.function}({', '.join(args)})", ATOM


def _binary(expr: Apply) -> tuple[str, int]:
    text, precedence = BINARY[expr.function]
    left, right = precedence, precedence + 1
    if precedence == COMPARE:
        left += 1  # comparisons would chain
    elif precedence == POWER:
        left, right = POWER + 1, SIGN  # associates to the right; a sign after it needs no parentheses
    return f"{_within(expr.args[0], left)} {text} {_within(expr.args[1], right)}", precedence


def _within(expr: Expr, precedence: int) -> str:
    text, own = _print(expr)
    return text if own >= precedence else f"({text})"
