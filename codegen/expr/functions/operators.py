"""Operators: arithmetic, comparisons, logic, bits, choices and integer division."""

from __future__ import annotations

import operator
from typing import Any

from . import arrays
from .function import Function, Rule, row

_A, _COMPARISON, _LOGICAL, _BITWISE, _SHIFT = Rule.ARITHMETIC, Rule.COMPARISON, Rule.LOGICAL, Rule.BITWISE, Rule.SHIFT

# Products and quotients of complex numbers are computed as in torch: a product of infinities may be NaN, and
# intermediate results of a quotient do not underflow, since the larger part of the divisor divides the smaller one. If
# sums of two parts overflow, those of their halves do not, which are exact.
_IS_WIDE = "(abs(real(y)) >= abs(imag(y)))"
_RATIO = f"(where({_IS_WIDE}, imag(y), real(y)) / where({_IS_WIDE}, real(y), imag(y)))"


def _divisor(factor: str = "") -> str:
    large, small = f"where({_IS_WIDE}, real(y), imag(y))", f"where({_IS_WIDE}, imag(y), real(y))"
    return f"({factor}{large} + {factor}{small} * {_RATIO})"


def _dividend(part: str, factor: str = "") -> str:
    a, b = f"{factor}real(x)", f"{factor}imag(x)"
    if part == "real":
        return f"where({_IS_WIDE}, {a} + {b} * {_RATIO}, {a} * {_RATIO} + {b})"
    return f"where({_IS_WIDE}, {b} - {a} * {_RATIO}, {b} * {_RATIO} - {a})"


def _part_of_quotient(part: str) -> str:
    sums, half = _dividend(part), "0.5 * "
    fits = f"(abs({sums}) < inf) & (abs({_divisor()}) < inf)"
    return f"where({fits}, {sums} * (1 / {_divisor()}), {_dividend(part, half)} / {_divisor(half)})"


# The quotient as Python and torch compute it: from the exact remainder, corrected to the nearest integer, so
# that it agrees with the remainder where x / y itself rounds up to an integer.
_SIGNS_DIFFER = "(fmod(x, y) != 0) & ((y < 0) != (fmod(x, y) < 0))"
_QUOTIENT = f"((x - fmod(x, y)) / y - where({_SIGNS_DIFFER}, 1, 0))"


def _comparison(name: str, symbol: str, numpy: str, commutative: bool = False) -> Function:
    python = getattr(operator, name)
    return row(
        name, "x y", _COMPARISON, symbol=symbol, numpy=numpy, python=python, lanes=f"ow_{name}_lanes", rounds=False,
        commutative=commutative, c_complex="operator" if commutative else None,
    )  # fmt: skip


def _logical(name: str, rule: Rule, symbol: str, params: str = "x y", **columns: Any) -> Function:
    return row(name, params, rule, symbol=symbol, rounds=False, **columns)


_BOTH: dict[str, Any] = {"commutative": True, "associative": True}

OPERATORS = (
    row(
        "add", "x y", _A, "1", "1",
        symbol="+", python=operator.add, c_complex="operator", modular=True, meaning="Sum", **_BOTH,
    ),
    row("sub", "x y", _A, "1", "-1", symbol="-", numpy="subtract", python=operator.sub, c_complex="operator",
        modular=True, foreign=("subtract",), meaning="Difference"),
    row(
        "mul", "x y", _A, "y", "x",
        complex="complex(real(x) * real(y) - imag(x) * imag(y), real(x) * imag(y) + imag(x) * real(y))",
        symbol="*", numpy="multiply", python=operator.mul, modular=True, foreign=("multiply",), **_BOTH,
    ),
    row(
        "div", "x y", Rule.FLOATING, "1 / y", "-(result / y)",
        complex="where(y == 0, complex(real(x) / abs(real(y)), imag(x) / abs(imag(y))), complex("
        f"{_part_of_quotient('real')}, {_part_of_quotient('imag')}))",
        symbol="/", numpy="divide", python=operator.truediv, cost=2, foreign=("divide",),
        meant="'//' divides integers",
    ),
    row("neg", "x", _A, "-1", symbol="-", numpy="negative", python=operator.neg, c_complex="operator", signs=True,
        rounds=False, monotone=True, foreign=("negative",)),
    row(
        "pow", "x y", _A, "where(y == 0, 0, y * x ** (y - 1))", "where((x == 0) & (y >= 0), 0, result * log(x))",
        complex="where(y == 0, 1, where((x == 0) & (real(y) > 0), 0, exp(y * log(x))))",
        symbol="**", c="pow", c_integer="ipow", native={"float32": "ow_powf"}, numpy=arrays.power, python=operator.pow,
        libmvec=True, exact=False, branches="integral", cost=12, foreign=("power",),
    ),
    _comparison("lt", "<", "less"),
    _comparison("le", "<=", "less_equal"),
    _comparison("gt", ">", "greater"),
    _comparison("ge", ">=", "greater_equal"),
    _comparison("eq", "==", "equal", commutative=True),
    _comparison("ne", "!=", "not_equal", commutative=True),
    _logical("logical_and", _LOGICAL, "and", meaning="True where both are; both are computed", **_BOTH),
    _logical("logical_or", _LOGICAL, "or", meaning="True where either is; both are computed", **_BOTH),
    _logical("logical_not", _LOGICAL, "not", "x", meaning="True where `x` is not"),
    _logical("bitwise_and", _BITWISE, "&", meant="conditions are joined as '(a > 0) & (b > 0)'", modular=True, **_BOTH),
    _logical("bitwise_or", _BITWISE, "|", meant="conditions are joined as '(a > 0) | (b > 0)'", modular=True, **_BOTH),
    _logical("bitwise_xor", _BITWISE, "^", meant="a power is written '**'", modular=True, **_BOTH),
    _logical("bitwise_not", _BITWISE, "~", "x", numpy="invert", meant="a condition is negated with 'not'"),
    _logical("bitwise_left_shift", _SHIFT, "<<", c_integer="shl", numpy=arrays.left_shift),
    _logical("bitwise_right_shift", _SHIFT, ">>", c_integer="shr", numpy=arrays.right_shift),
    row(
        "where", "condition x y", Rule.SELECT, "0", "where(condition, 1, 0)", "where(condition, 0, 1)",
        lanes="ow_where_lanes", rounds=False, modular=True, foreign=("select",),
    ),
    row(
        "floor_divide", "x y", _A,
        floating=f"where(y == 0, x / y, where({_QUOTIENT} != 0, floor({_QUOTIENT}) + "
        f"where({_QUOTIENT} - floor({_QUOTIENT}) > 0.5, 1, 0), copysign(0, x / y)))",
        symbol="//", c_integer="floordiv", may_fail=True, cost=4,
    ),
    row(
        "remainder", "x y", _A, "1", "-floor_divide(x, y)",
        floating=f"where({_SIGNS_DIFFER}, fmod(x, y) + y, fmod(x, y))",
        symbol="%", c_integer="rem", may_fail=True, cost=4, foreign=("mod",),
    ),
    row(
        "trunc_divide", "x y", _A,
        floating="trunc(x / y)", c_integer="truncdiv", may_fail=True, numpy=arrays.trunc_divide, cost=4,
        meaning="Quotient rounded towards zero",
    ),
    row(
        "fmod", "x y", _A, "1", "-trunc_divide(x, y)",
        c="fmod", c_integer="fmod", may_fail=True, blocks=("float32", "float64"), cost=4,
    ),
)  # fmt: skip
