"""Signs, rounding to integers, order, parts of complex numbers, classification; few of these round their result."""

from __future__ import annotations

from typing import Any

from . import arrays
from .function import Function, Rule, row

_A, _F, _S, _C = Rule.ARITHMETIC, Rule.FLOATING, Rule.SAME, Rule.COMPARISON


def _representable(name: str, params: str, rule: Rule, *derivatives: str, **columns: Any) -> Function:
    """A function whose result the format of the operands can represent."""
    return row(name, params, rule, *derivatives, **({"rounds": False} | columns))


def _rounding(name: str, c: str, **columns: Any) -> Function:
    return _representable(name, "x", _S, c=c, integral="x", lanes=f"ow_{c}_lanes", **columns)


def _classes(name: str, **columns: Any) -> Function:
    return _representable(name, "x", _C, **columns)


_BOTH: dict[str, Any] = {"commutative": True, "associative": True}

SIGNS = (
    _representable(
        "abs", "x", _A, "sign(x)", signed="where(x < 0, -x, x)", unsigned="x", complex="hypot(real(x), imag(x))",
        c="fabs", numpy="fabs", lanes="ow_abs_lanes", signs=True, monotone=True, holomorphic=False,
        foreign=("absolute", "fabs"),
    ),
    _representable(
        "sign", "x", _A, any="where(x > 0, 1, where(x < 0, -1, 0))",  # NaN gives 0, as in torch
        unsigned="where(x > 0, 1, 0)", complex="where(x == 0, 0, complex(real(x) / abs(x), imag(x) / abs(x)))",
        holomorphic=False, foreign=("sgn",),
    ),
    _representable("relu", "x", _A, "where(x <= 0, 0, 1)", any="where(x < 0, 0, x)", unsigned="x"),
    _representable(
        "copysign", "x y", _F, "where(x == 0, 0, where(signbit(x) == signbit(y), 1, -1))", "0", c="copysign",
        lanes="ow_copysign_lanes", signs=True, monotone=True,
    ),
    row("nextafter", "x y", _F, c="nextafter", differentiable=False, cost=6),
    _representable(
        "gcd", "x y", Rule.SHIFT, c_integer="gcd", differentiable=False, branches="integral", cost=30, **_BOTH
    ),
    _representable(
        "lcm", "x y", Rule.SHIFT, c_integer="lcm", numpy=arrays.lcm, differentiable=False, branches="integral",
        cost=30, **_BOTH,
    ),
)  # fmt: skip

ROUNDING = (
    _rounding("floor", "floor"),
    _rounding("ceil", "ceil"),
    _rounding("trunc", "trunc"),
    _rounding("round", "rint", numpy="rint", foreign=("rint", "nearbyint"), meaning="Nearest integer, ties to even"),
)

# The first two keep NaN of either operand, and x of equal ones; the next two prefer the number. Comparisons vectorise.
_TIE = "where(x == y, 0.5, where(x {} y, 0, 1))"
ORDER = (
    _representable(
        "minimum", "x y", _S, _TIE.format(">"), _TIE.format("<"),
        floating="where((y < x) | (y != y), y, x)", integral="where(x < y, x, y)",
        native={"float32": "ow_minimumf", "float64": "ow_minimum"}, lanes="ow_minimum_lanes", monotone=True,
        foreign=("min",), **_BOTH,
    ),
    _representable(
        "maximum", "x y", _S, _TIE.format("<"), _TIE.format(">"),
        floating="where((y > x) | (y != y), y, x)", integral="where(x > y, x, y)",
        native={"float32": "ow_maximumf", "float64": "ow_maximum"}, lanes="ow_maximum_lanes", monotone=True,
        foreign=("max",), **_BOTH,
    ),
    _representable(
        "fmin", "x y", _S, "where((x <= y) | (y != y), 1, 0)", "where((x <= y) | (y != y), 0, 1)",
        floating="where((x < y) | (y != y), x, y)", integral="where(x < y, x, y)", **_BOTH,
    ),
    _representable(
        "fmax", "x y", _S, "where((x >= y) | (y != y), 1, 0)", "where((x >= y) | (y != y), 0, 1)",
        floating="where((x > y) | (y != y), x, y)", integral="where(x > y, x, y)", **_BOTH,
    ),
    _representable(
        "clamp", "x low high", _S, "where((x >= low) & (x <= high), 1, 0)",
        "where((x < low) & (low < high), 1, 0)", "where((x > high) | (high < low), 1, 0)",
        any="minimum(maximum(x, low), high)", foreign=("clip",), meaning="`x`, but at least `low` and at most `high`",
    ),
)  # fmt: skip

PARTS = (
    _representable("real", "x", _S, "1", integral="x", floating="x", c_complex="operator", holomorphic=False,
                   meaning="Real part; a real number itself"),
    _representable(
        "imag", "x", _S, integral="0 * x", floating="where(x == x, 0, 0)",  # 0 * x would be NaN for infinities
        c_complex="operator", holomorphic=False, meaning="Imaginary part; 0 of real numbers",
    ),
    _representable("conj", "x", _A, "1", any="x", complex="complex(real(x), -imag(x))", holomorphic=False),
    row(
        "angle", "x", _F, floating="where(x < 0, pi, where(x != x, x, 0))", complex="atan2(imag(x), real(x))",
        holomorphic=False, cost=4,
    ),
    _representable("complex", "re im", _F, numpy=arrays.complex_of, differentiable=False, holomorphic=False),
)  # fmt: skip

CLASSES = (
    _classes("isnan", floating="x != x", integral="False", complex="x != x"),
    _classes("isinf", floating="abs(x) == inf", integral="False", complex="isinf(real(x)) | isinf(imag(x))"),
    _classes("isfinite", floating="abs(x) < inf", integral="True", complex="isfinite(real(x)) & isfinite(imag(x))"),
    _classes("signbit", signed="x < 0", unsigned="False", bool="False", native={"float64": "ow_signbit"}),
)
