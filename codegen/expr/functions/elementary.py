"""Exponentials, logarithms, powers, trigonometric and hyperbolic functions."""

from __future__ import annotations

import math
from typing import Any

from .function import Function, Rule, row

_COMPLEX = ("complex64", "complex128")


def _row(name: str, params: str, *derivatives: str, complex_c: bool = False, **columns: Any) -> Function:
    """A function of <math.h> with a vector form in libmvec, and of <complex.h> if it has one of this name."""
    with_c: dict[str, Any] = {
        "c": name,
        "libmvec": True,
        "exact": False,
        "c_complex": f"c{name}" if complex_c else None,
        "cost": 4,
    }
    return row(name, params, Rule.FLOATING, *derivatives, **(with_c | columns))


def _defined(name: str, params: str, *derivatives: str, **columns: Any) -> Function:
    return row(name, params, Rule.FLOATING, *derivatives, **columns)


EXPONENTIALS = (
    _row(
        "exp", "x", "result", complex_c=True, native={"float32": "ow_expf", "float64": "ow_exp"}, avx512=True,
        blocks=("float32", "float64", *_COMPLEX),
    ),
    _row(
        "exp2", "x", f"result * {math.log(2)!r}",
        complex=f"exp(complex(real(x) * {math.log(2)!r}, imag(x) * {math.log(2)!r}))",
        native={"float32": "ow_exp2f"}, avx512=True, blocks=("float32",),
    ),
    _row(
        "expm1", "x", "result + 1",
        complex="complex(expm1(real(x)) * cos(imag(x)) - 2 * square(sin(0.5 * imag(x))), exp(real(x)) * sin(imag(x)))",
        native={"float32": "ow_expm1f", "float64": "ow_expm1"}, avx512=True, blocks=("float32",),
    ),
    _row("log", "x", "1 / x", complex_c=True, avx512=True, blocks=("float32", "float64", *_COMPLEX), foreign=("ln",)),
    _row(
        "log2", "x", f"{1 / math.log(2)!r} / x",
        complex="complex(real(log(x)) * 1.4426950408889634, imag(log(x)) * 1.4426950408889634)",
    ),
    _row(
        "log10", "x", f"{1 / math.log(10)!r} / x",
        complex="complex(real(log(x)) * 0.43429448190325176, imag(log(x)) * 0.43429448190325176)",
    ),
    _row(
        "log1p", "x", "1 / (1 + x)",
        complex="complex(where(abs(x) < 0.5, 0.5 * log1p(real(x) * (2 + real(x)) + square(imag(x))), "
        "log(hypot(1 + real(x), imag(x)))), atan2(imag(x), 1 + real(x)))",
    ),
    _defined(
        "logaddexp", "x y", "sigmoid(x - y)", "sigmoid(y - x)",
        floating="x if (abs(x) == inf) & (x == y) else maximum(x, y) + log1p(exp(-abs(x - y)))",
        complex="x if (real(x) == -inf) & (real(y) == -inf) else "
        "(y if real(x) < real(y) else x) + log1p(exp(x - y if real(x) < real(y) else y - x))",
        commutative=True, associative=True, cost=10,
    ),
    _row(
        "sqrt", "x", "0.5 / result", complex_c=True, native={"complex64": "ow_csqrtf"}, libmvec=False, exact=True,
        blocks=("float32", "float64"), lanes="ow_sqrt_lanes", cost=3,
    ),
    _defined("rsqrt", "x", "-0.5 * result / x", any="1 / sqrt(x)", cost=4),
    _row("cbrt", "x", "1 / (3 * result * result)", meaning="Cube root"),
    _defined("reciprocal", "x", "-(result * result)", any="1 / x", cost=2),
    row("square", "x", Rule.ARITHMETIC, "2 * x", any="x * x"),
    _row(
        "hypot", "x y", "x / result", "y / result", native={"float32": "ow_hypotf", "float64": "ow_hypot"},
        libmvec=False, by_level=False, commutative=True,
    ),
)  # fmt: skip

TRIGONOMETRIC = (
    _row("sin", "x", "cos(x)", complex_c=True, avx512=True, blocks=("float32", *_COMPLEX)),
    _row("cos", "x", "-sin(x)", complex_c=True, avx512=True, blocks=("float32", *_COMPLEX)),
    _defined("cosm1", "x", "-sin(x)", any="-2 * square(sin(0.5 * x))", cost=4),
    _row("tan", "x", "1 + result * result", complex_c=True, blocks=_COMPLEX),
    _row(
        "asin", "x", "1 / (sqrt(1 - x) * sqrt(1 + x))", complex_c=True, numpy="arcsin", foreign=("arcsin",),
    ),
    _row(
        "acos", "x", "-1 / (sqrt(1 - x) * sqrt(1 + x))", complex_c=True, numpy="arccos", foreign=("arccos",),
    ),
    _row("atan", "x", "1 / (1 + x * x)", complex_c=True, numpy="arctan", foreign=("arctan",)),
    _row(
        "atan2", "x y", "where((x == 0) & (y == 0), 0, y / hypot(x, y) / hypot(x, y))",
        "where((x == 0) & (y == 0), 0, -(x / hypot(x, y) / hypot(x, y)))",
        numpy="arctan2", cost=12, foreign=("arctan2",),
    ),
    _row("sinh", "x", "cosh(x)", complex_c=True, blocks=_COMPLEX, cost=6),
    _row("cosh", "x", "sinh(x)", complex_c=True, blocks=_COMPLEX, cost=6),
    _row("tanh", "x", "1 - result * result", complex_c=True, avx512=True, blocks=("float32", *_COMPLEX), cost=6),
    # The square of a large number would overflow; the root is then the number itself or its negative.
    _row(
        "asinh", "x", "1 / where(abs(x) < 1e9, sqrt(x * x + 1), where(real(x) < 0, -x, x))", complex_c=True,
        numpy="arcsinh", cost=6, foreign=("arcsinh",),
    ),
    _row(
        "acosh", "x", "1 / (sqrt(x - 1) * sqrt(x + 1))", complex_c=True, numpy="arccosh", cost=6, foreign=("arccosh",),
    ),
    _row(
        "atanh", "x", "1 / (1 - x) / (1 + x)", complex_c=True, native={"float32": "ow_atanhf"}, numpy="arctanh", cost=6,
        foreign=("arctanh",),
    ),
)  # fmt: skip
