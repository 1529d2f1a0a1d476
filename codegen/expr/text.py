"""Prints an expression tree in the language, with as few parentheses as possible."""

from __future__ import annotations

import math

from .functions import FUNCTIONS
from .functions.lists import ITEM, LIST
from .tree import Apply, Expr, Literal, Name, Number

# Python's precedences, loosest first; only their order matters.
_TERNARY, _OR, _AND, _NOT, _COMPARE, _BITOR, _XOR, _BITAND = range(8)
_SHIFT, _SUM, _PRODUCT, _SIGN, _POWER, _ATOM = range(8, 14)

_PRECEDENCES = {
    "or": _OR, "and": _AND, "|": _BITOR, "^": _XOR, "&": _BITAND, "<<": _SHIFT, ">>": _SHIFT, "+": _SUM, "-": _SUM,
    "*": _PRODUCT, "/": _PRODUCT, "//": _PRODUCT, "%": _PRODUCT, "**": _POWER,
    **dict.fromkeys(("<", "<=", ">", ">=", "==", "!="), _COMPARE),
}  # fmt: skip
_PREFIXES = {"not": ("not ", _NOT), "-": ("-", _SIGN), "~": ("~", _SIGN)}
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
        return expr.name, _ATOM
    if isinstance(expr, Literal):
        text = literal_text(expr.value)
        return text, _SIGN if text.startswith("-") else _ATOM
    assert isinstance(expr, Apply)
    if expr.function in BINARY:
        return _binary(expr)
    if expr.function in UNARY:
        text, precedence = UNARY[expr.function]
        return text + _within(expr.args[0], precedence), precedence
    if expr.function == "where":
        condition, then, other = expr.args
        return (
            f"{_within(then, _OR)} if {_within(condition, _OR)} else {_within(other, _TERNARY)}",
            _TERNARY,
        )
    args = [to_text(arg) for arg in expr.args]
    if expr.function == LIST:
        return f"[{', '.join(args)}]", _ATOM
    if expr.function == ITEM:
        return f"{_within(expr.args[0], _ATOM)}[{args[1]}]", _ATOM
    return f"{expr.function}({', '.join(args)})", _ATOM


def _binary(expr: Apply) -> tuple[str, int]:
    text, precedence = BINARY[expr.function]
    left, right = precedence, precedence + 1
    if precedence == _COMPARE:
        left += 1  # comparisons would chain
    elif precedence == _POWER:
        left, right = _POWER + 1, _SIGN  # associates to the right; a sign after it needs no parentheses
    return f"{_within(expr.args[0], left)} {text} {_within(expr.args[1], right)}", precedence


def _within(expr: Expr, precedence: int) -> str:
    text, own = _print(expr)
    return text if own >= precedence else f"({text})"
