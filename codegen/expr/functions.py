"""The table of elementwise functions and operators: arity, typing rule, definition, C name, derivative.

A function without a definition is a primitive: each target and the evaluator know it. All others are defined
in the language itself, so that every target, the evaluator and differentiation agree about them. Definitions
and derivatives may use the parameters; derivatives also use `result`, the value of the application itself. They are
written so that nothing overflows or underflows on the way to a value that does not, and that complex numbers find the
branch of the function: a quotient is divided twice rather than by a square, a root of a product is a product of roots.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from ..dtypes import DType, Kind
from .special import SPECIAL


class Rule(enum.Enum):
    """How operand and result dtypes follow from the dtypes of the arguments."""

    ARITHMETIC = "arithmetic"
    """The common dtype; bool counts as a small integer."""
    FLOATING = "floating"
    """The common dtype, integers and bool converted to floating point."""
    SAME = "same"
    """The common dtype, bool included."""
    BITWISE = "bitwise"
    """The common dtype of integers or of bool."""
    SHIFT = "shift"
    """The common dtype of integers; bool counts as a small integer."""
    COMPARISON = "comparison"
    """Operands in the common dtype, result bool."""
    LOGICAL = "logical"
    """Operands by their truth, result bool."""
    SELECT = "select"
    """First argument by its truth, the others in their common dtype."""


@dataclass(frozen=True)
class Function:
    """One entry. `definitions` maps a kind of operand (or `any`, `integral`) to text in the language;
    `c_name` is that of the primitive for floating operands in <math.h>, without its suffix, and `complex_name` that
    for complex ones in <complex.h>."""

    name: str
    params: tuple[str, ...]
    rule: Rule
    c_name: str | None = None
    definitions: Mapping[str, str] = field(default_factory=dict)
    derivatives: tuple[str, ...] | None = None
    complex_name: str | None = None

    @property
    def arity(self) -> int:
        return len(self.params)

    def definition(self, operand: DType) -> str | None:
        """Its meaning for operands of this dtype; None: a primitive."""
        classes = {Kind.FLOATING: "floating", Kind.COMPLEX: "complex"}
        for key in (operand.kind.value, classes.get(operand.kind, "integral"), "any"):
            if key in self.definitions:
                return self.definitions[key]
        return None

    def takes(self, operand: DType) -> bool:
        """Has it a meaning for operands of this dtype? All functions have for real ones."""
        if not operand.is_complex or self.complex_name or self.name in COMPLEX_OPERATORS:
            return True
        return self.definition(operand) is not None


COMPLEX_OPERATORS = frozenset(("add", "sub", "neg", "eq", "ne", "real", "imag"))
"""Primitives that every target writes as operators for complex operands too."""

_TABLE: dict[str, Function] = {}


def _add(
    name: str,
    params: str,
    rule: Rule,
    *derivatives: str,
    c: str | None = None,
    c_complex: bool = False,
    differentiable: bool = True,
    **definitions: str,
) -> None:
    names = tuple(params.split())
    if differentiable and not derivatives:
        derivatives = ("0",) * len(names)
    complex_name = f"c{c}" if c_complex else None
    _TABLE[name] = Function(name, names, rule, c, definitions, derivatives if differentiable else None, complex_name)


_A, _F, _S = Rule.ARITHMETIC, Rule.FLOATING, Rule.SAME

# ---- operators --------------------------------------------------------------------------------------------

_add("add", "x y", _A, "1", "1")
_add("sub", "x y", _A, "1", "-1")
# Products and quotients as torch computes them: a product of infinities may be NaN, and a quotient neither overflows
# nor underflows on the way. The larger part of the divisor divides the smaller one.
_add(
    "mul", "x y", _A, "y", "x",
    complex="complex(real(x) * real(y) - imag(x) * imag(y), real(x) * imag(y) + imag(x) * real(y))",
)  # fmt: skip
_IS_WIDE = "(abs(real(y)) >= abs(imag(y)))"
_RATIO = f"(where({_IS_WIDE}, imag(y), real(y)) / where({_IS_WIDE}, real(y), imag(y)))"
_SCALE = f"(1 / (where({_IS_WIDE}, real(y), imag(y)) + where({_IS_WIDE}, imag(y), real(y)) * {_RATIO}))"
_add(
    "div", "x y", _F, "1 / y", "-(result / y)",
    complex="where(y == 0, complex(real(x) / abs(real(y)), imag(x) / abs(imag(y))), complex("
    f"where({_IS_WIDE}, real(x) + imag(x) * {_RATIO}, real(x) * {_RATIO} + imag(x)) * {_SCALE}, "
    f"where({_IS_WIDE}, imag(x) - real(x) * {_RATIO}, imag(x) * {_RATIO} - real(x)) * {_SCALE}))",
)  # fmt: skip
_add("neg", "x", _A, "-1")
_add(
    "pow", "x y", _A, "where(y == 0, 0, y * x ** (y - 1))", "where((x == 0) & (y >= 0), 0, result * log(x))",
    c="pow", complex="where(y == 0, 1, where((x == 0) & (real(y) > 0), 0, exp(y * log(x))))",
)  # fmt: skip
for _name in ("lt", "le", "gt", "ge", "eq", "ne"):
    _add(_name, "x y", Rule.COMPARISON)
for _name in ("logical_and", "logical_or"):
    _add(_name, "x y", Rule.LOGICAL)
_add("logical_not", "x", Rule.LOGICAL)
for _name in ("bitwise_and", "bitwise_or", "bitwise_xor"):
    _add(_name, "x y", Rule.BITWISE)
_add("bitwise_not", "x", Rule.BITWISE)
for _name in ("bitwise_left_shift", "bitwise_right_shift"):
    _add(_name, "x y", Rule.SHIFT)
_add("where", "condition x y", Rule.SELECT, "0", "where(condition, 1, 0)", "where(condition, 0, 1)")

# The quotient as Python and torch compute it: from the exact remainder, corrected to the nearest integer, so
# that it agrees with the remainder where x / y itself rounds up to an integer.
_SIGNS_DIFFER = "(fmod(x, y) != 0) & ((y < 0) != (fmod(x, y) < 0))"
_QUOTIENT = f"((x - fmod(x, y)) / y - where({_SIGNS_DIFFER}, 1, 0))"
_add(
    "floor_divide", "x y", _A,
    floating=f"where(y == 0, x / y, where({_QUOTIENT} != 0, floor({_QUOTIENT}) + "
    f"where({_QUOTIENT} - floor({_QUOTIENT}) > 0.5, 1, 0), copysign(0, x / y)))",
)  # fmt: skip
_add(
    "remainder", "x y", _A, "1", "-floor_divide(x, y)",
    floating=f"where({_SIGNS_DIFFER}, fmod(x, y) + y, fmod(x, y))",
)  # fmt: skip
_add("trunc_divide", "x y", _A, floating="trunc(x / y)")
_add("fmod", "x y", _A, "1", "-trunc_divide(x, y)", c="fmod")

# ---- exponentials, logarithms, powers ---------------------------------------------------------------------

_add("exp", "x", _F, "result", c="exp", c_complex=True)
_add(
    "exp2", "x", _F, f"result * {math.log(2)!r}", c="exp2",
    complex=f"exp(complex(real(x) * {math.log(2)!r}, imag(x) * {math.log(2)!r}))",
)  # fmt: skip
_add(
    "expm1", "x", _F, "result + 1", c="expm1",
    complex="complex(expm1(real(x)) * cos(imag(x)) - 2 * square(sin(0.5 * imag(x))), exp(real(x)) * sin(imag(x)))",
)  # fmt: skip
_add("log", "x", _F, "1 / x", c="log", c_complex=True)
_add(
    "log2", "x", _F, f"{1 / math.log(2)!r} / x", c="log2",
    complex="complex(real(log(x)) * 1.4426950408889634, imag(log(x)) * 1.4426950408889634)",
)  # fmt: skip
_add(
    "log10", "x", _F, f"{1 / math.log(10)!r} / x", c="log10",
    complex="complex(real(log(x)) * 0.43429448190325176, imag(log(x)) * 0.43429448190325176)",
)  # fmt: skip
_add(
    "log1p", "x", _F, "1 / (1 + x)", c="log1p",
    complex="complex(where(abs(x) < 0.5, 0.5 * log1p(real(x) * (2 + real(x)) + square(imag(x))), "
    "log(hypot(1 + real(x), imag(x)))), atan2(imag(x), 1 + real(x)))",
)  # fmt: skip
_add(
    "logaddexp", "x y", _F, "sigmoid(x - y)", "sigmoid(y - x)",
    floating="x if (abs(x) == inf) & (x == y) else maximum(x, y) + log1p(exp(-abs(x - y)))",
    complex="x if (real(x) == -inf) & (real(y) == -inf) else "
    "(y if real(x) < real(y) else x) + log1p(exp(x - y if real(x) < real(y) else y - x))",
)  # fmt: skip
_add("sqrt", "x", _F, "0.5 / result", c="sqrt", c_complex=True)
_add("rsqrt", "x", _F, "-0.5 * result / x", any="1 / sqrt(x)")
_add("cbrt", "x", _F, "1 / (3 * result * result)", c="cbrt")
_add("reciprocal", "x", _F, "-(result * result)", any="1 / x")
_add("square", "x", _A, "2 * x", any="x * x")
_add("hypot", "x y", _F, "x / result", "y / result", c="hypot")

# ---- trigonometric and hyperbolic -------------------------------------------------------------------------

_add("sin", "x", _F, "cos(x)", c="sin", c_complex=True)
_add("cos", "x", _F, "-sin(x)", c="cos", c_complex=True)
_add("tan", "x", _F, "1 + result * result", c="tan", c_complex=True)
_add("asin", "x", _F, "1 / (sqrt(1 - x) * sqrt(1 + x))", c="asin", c_complex=True)
_add("acos", "x", _F, "-1 / (sqrt(1 - x) * sqrt(1 + x))", c="acos", c_complex=True)
_add("atan", "x", _F, "1 / (1 + x * x)", c="atan", c_complex=True)
_add(
    "atan2", "x y", _F, "where((x == 0) & (y == 0), 0, y / hypot(x, y) / hypot(x, y))",
    "where((x == 0) & (y == 0), 0, -(x / hypot(x, y) / hypot(x, y)))", c="atan2",
)  # fmt: skip
_add("sinh", "x", _F, "cosh(x)", c="sinh", c_complex=True)
_add("cosh", "x", _F, "sinh(x)", c="cosh", c_complex=True)
_add("tanh", "x", _F, "1 - result * result", c="tanh", c_complex=True)
# Far out the square would overflow, and its root is the number itself or its negative.
_add("asinh", "x", _F, "1 / where(abs(x) < 1e9, sqrt(x * x + 1), where(real(x) < 0, -x, x))", c="asinh", c_complex=True)
_add("acosh", "x", _F, "1 / (sqrt(x - 1) * sqrt(x + 1))", c="acosh", c_complex=True)
_add("atanh", "x", _F, "1 / (1 - x) / (1 + x)", c="atanh", c_complex=True)

# ---- special functions ------------------------------------------------------------------------------------

_add("erf", "x", _F, f"{2 / math.sqrt(math.pi)!r} * exp(-(x * x))", c="erf")
_add("erfc", "x", _F, f"{-2 / math.sqrt(math.pi)!r} * exp(-(x * x))", c="erfc")
# The check of derivatives, which runs while weaving, has no values of these.
for _name, _params in SPECIAL.items():
    _add(_name, _params, _F, c=f"ow_{_name}", differentiable=False)
# 1 / (1 + exp(-x)) overflows to 0 where the result is a denormal number; exp(-|x|) never overflows. That of a complex
# number a + b i is multiplied by the conjugate of its denominator and by exp(-2 |a|) where a < 0; both that and the
# denominator are written with exp(-|a|) - 1 and 1 + cos(b), so that they keep their digits beside the poles.
_power, _less_1 = "exp(-abs(real(x)))", "expm1(-abs(real(x)))"
_sine, _cosine = "sin(0.5 * imag(x))", "cos(0.5 * imag(x))"
_left = f"{_power} * ({_less_1} + 2 * square({_cosine}))"
_right = f"{_power} * 2 * square({_cosine}) - {_less_1}"
_imaginary = f"{_power} * 2 * {_sine} * {_cosine}"
_length = f"(square({_less_1}) + 4 * {_power} * square({_cosine}))"
_add(
    "sigmoid", "x", _F, "result * (1 - result)", any="where(x < 0, exp(-abs(x)), 1) / (1 + exp(-abs(x)))",
    complex=f"complex(where(real(x) == inf, 1, where(real(x) < 0, {_left}, {_right}) / {_length}),"
    f" where(real(x) == inf, 0, {_imaginary} / {_length} + 0.0))",
)  # fmt: skip

# ---- signs, rounding, order -------------------------------------------------------------------------------

_add("abs", "x", _A, "sign(x)", c="fabs", signed="where(x < 0, -x, x)", unsigned="x", complex="hypot(real(x), imag(x))")
_add(
    "sign",
    "x",
    _A,
    any="where(x > 0, 1, where(x < 0, -1, 0))",
    unsigned="where(x > 0, 1, 0)",
    complex="where(x == 0, 0, complex(real(x) / abs(x), imag(x) / abs(x)))",
)  # NaN gives 0, as in torch
_add("relu", "x", _A, "where(x <= 0, 0, 1)", any="where(x < 0, 0, x)", unsigned="x")
_add("copysign", "x y", _F, "where(x == 0, 0, where(signbit(x) == signbit(y), 1, -1))", "0", c="copysign")
_add("nextafter", "x y", _F, c="nextafter", differentiable=False)
_add("gcd", "x y", Rule.SHIFT, differentiable=False)
_add("lcm", "x y", Rule.SHIFT, differentiable=False)
_add("floor", "x", _S, c="floor", integral="x")
_add("ceil", "x", _S, c="ceil", integral="x")
_add("trunc", "x", _S, c="trunc", integral="x")
_add("round", "x", _S, c="rint", integral="x")  # halves to even, as Python rounds

# The first two keep NaN of either operand, and x of equal ones; the last two prefer the number. Comparisons vectorise.
_TIE = "where(x == y, 0.5, where(x {} y, 0, 1))"
_add(
    "minimum", "x y", _S, _TIE.format(">"), _TIE.format("<"),
    floating="where((y < x) | (y != y), y, x)", integral="where(x < y, x, y)",
)  # fmt: skip
_add(
    "maximum", "x y", _S, _TIE.format("<"), _TIE.format(">"),
    floating="where((y > x) | (y != y), y, x)", integral="where(x > y, x, y)",
)  # fmt: skip
_add(
    "fmin", "x y", _S, "where((x <= y) | (y != y), 1, 0)", "where((x <= y) | (y != y), 0, 1)",
    floating="where((x < y) | (y != y), x, y)", integral="where(x < y, x, y)",
)  # fmt: skip
_add(
    "fmax", "x y", _S, "where((x >= y) | (y != y), 1, 0)", "where((x >= y) | (y != y), 0, 1)",
    floating="where((x > y) | (y != y), x, y)", integral="where(x > y, x, y)",
)  # fmt: skip
_add(
    "clamp", "x low high", _S, "where((x >= low) & (x <= high), 1, 0)",
    "where((x < low) & (low < high), 1, 0)", "where((x > high) | (high < low), 1, 0)",
    any="minimum(maximum(x, low), high)",
)  # fmt: skip

# ---- parts of complex numbers -----------------------------------------------------------------------------

_add("real", "x", _S, "1", integral="x", floating="x")
_add("imag", "x", _S, integral="0 * x", floating="where(x == x, 0, 0)")  # 0 * x would be NaN of infinities
_add("conj", "x", _A, "1", any="x", complex="complex(real(x), -imag(x))")
_add("angle", "x", _F, floating="where(x < 0, pi, where(x != x, x, 0))", complex="atan2(imag(x), real(x))")
_add("complex", "re im", _F, differentiable=False)

# ---- classification ---------------------------------------------------------------------------------------

_C = Rule.COMPARISON
_add("isnan", "x", _C, floating="x != x", integral="False", complex="x != x")
_add("isinf", "x", _C, floating="abs(x) == inf", integral="False", complex="isinf(real(x)) | isinf(imag(x))")
_add("isfinite", "x", _C, floating="abs(x) < inf", integral="True", complex="isfinite(real(x)) & isfinite(imag(x))")
_add("signbit", "x", _C, signed="x < 0", unsigned="False", bool="False")

FUNCTIONS: Mapping[str, Function] = MappingProxyType(_TABLE)

CONSTANTS: Mapping[str, float] = MappingProxyType({"inf": math.inf, "nan": math.nan, "pi": math.pi})

# What people write from habit, and what it is called here.
FOREIGN_NAMES: Mapping[str, str] = MappingProxyType(
    {
        "absolute": "abs", "fabs": "abs", "arccos": "acos", "arccosh": "acosh", "arcsin": "asin",
        "arcsinh": "asinh", "arctan": "atan", "arctan2": "atan2", "arctanh": "atanh", "clip": "clamp",
        "expit": "sigmoid", "ln": "log", "max": "maximum", "min": "minimum", "mod": "remainder",
        "negative": "neg", "power": "pow", "rint": "round", "sgn": "sign", "divide": "div",
        "multiply": "mul", "subtract": "sub", "select": "where", "nearbyint": "round",
    }
)  # fmt: skip
