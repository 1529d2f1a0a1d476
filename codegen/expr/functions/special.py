"""Special functions. Most are functions of the core's special.h, which SciPy evaluates."""

from __future__ import annotations

import math
from typing import Any

from . import arrays
from .function import Function, Rule, row

_REAL = ("float32", "float64")


def _error(name: str, sign: int) -> Function:
    return row(
        name, "x", Rule.FLOATING, f"{sign * 2 / math.sqrt(math.pi)!r} * exp(-(x * x))", c=name,
        numpy=arrays.on_elements(getattr(math, name)), libmvec=True, exact=False, avx512=True, blocks=("float32",),
        cost=6,
    )  # fmt: skip


def _special(name: str, params: str, scipy: str, cost: float, **columns: Any) -> Function:
    """A function of special.h, which the check of derivatives while weaving cannot evaluate."""
    named = {"c": f"ow_{name}", "scipy": scipy, "exact": False, "cost": cost}
    return row(name, params, Rule.FLOATING, differentiable=False, **named, **columns)


def _polynomial(name: str, scipy: str, **columns: Any) -> Function:
    """A polynomial of an argument and a degree."""
    numpy = arrays.polynomial(scipy, columns.pop("neighbour", 0))
    return _special(name, "x n", scipy, 60, numpy=numpy, blocks=_REAL, **columns)


# 1 / (1 + exp(-x)) overflows to 0 where the result is a denormal number; exp(-|x|) never overflows. That of a complex
# number a + b i is multiplied by the conjugate of its denominator and by exp(-2 |a|) where a < 0; both that and the
# denominator are written with exp(-|a|) - 1 and 1 + cos(b), so that they keep their digits beside the poles.
_POWER, _LESS_1 = "exp(-abs(real(x)))", "expm1(-abs(real(x)))"
_SINE, _COSINE = "sin(0.5 * imag(x))", "cos(0.5 * imag(x))"
_LEFT = f"{_POWER} * ({_LESS_1} + 2 * square({_COSINE}))"
_RIGHT = f"{_POWER} * 2 * square({_COSINE}) - {_LESS_1}"
_IMAGINARY = f"{_POWER} * 2 * {_SINE} * {_COSINE}"
_LENGTH = f"(square({_LESS_1}) + 4 * {_POWER} * square({_COSINE}))"

SPECIAL = (
    _error("erf", 1),
    _error("erfc", -1),
    _special("lgamma", "x", "gammaln", 30, numpy=arrays.lgamma, blocks=_REAL),
    _special("digamma", "x", "psi", 30, blocks=("float64",)),
    _special("erfinv", "x", "erfinv", 20, blocks=("float64",)),
    _special("ndtri", "x", "ndtri", 20, blocks=_REAL),
    _special("erfcx", "x", "erfcx", 20),
    _special("i0", "x", "i0", 20),
    _special("i0e", "x", "i0e", 20),
    _special("i1", "x", "i1", 20),
    _special("i1e", "x", "i1e", 20),
    _special("k0", "x", "k0", 40),
    _special("k0e", "x", "k0e", 40),
    _special("k1", "x", "k1", 40),
    _special("k1e", "x", "k1e", 40),
    _special("bessel_j0", "x", "j0", 40, blocks=_REAL),
    _special("bessel_j1", "x", "j1", 40, blocks=_REAL),
    _special("bessel_y0", "x", "y0", 40, blocks=_REAL),
    _special("bessel_y1", "x", "y1", 40, blocks=_REAL),
    _special("airy_ai", "x", "airy", 60, numpy=arrays.airy_ai, branches="floating"),
    _special("zeta", "x y", "zeta", 100, branches="floating"),
    _special("igamma", "x y", "gammainc", 200, blocks=_REAL, fills=True),
    _special("igammac", "x y", "gammaincc", 200, blocks=_REAL, fills=True),
    _polynomial("chebyshev_polynomial_t", "eval_chebyt"),
    _polynomial("chebyshev_polynomial_u", "eval_chebyu"),
    # SciPy lacks Chebyshev's V and W, which are the difference and the sum of two U.
    _polynomial("chebyshev_polynomial_v", "eval_chebyu", neighbour=-1),
    _polynomial("chebyshev_polynomial_w", "eval_chebyu", neighbour=1),
    _polynomial("shifted_chebyshev_polynomial_t", "eval_sh_chebyt"),
    _polynomial("shifted_chebyshev_polynomial_u", "eval_sh_chebyu"),
    _polynomial("shifted_chebyshev_polynomial_v", "eval_sh_chebyu", neighbour=-1),
    _polynomial("shifted_chebyshev_polynomial_w", "eval_sh_chebyu", neighbour=1),
    _polynomial("hermite_polynomial_h", "eval_hermite"),
    _polynomial("hermite_polynomial_he", "eval_hermitenorm"),
    _polynomial("laguerre_polynomial_l", "eval_laguerre"),
    _polynomial("legendre_polynomial_p", "eval_legendre"),
    row(
        "sigmoid", "x", Rule.FLOATING, "result * (1 - result)",
        any="where(x < 0, exp(-abs(x)), 1) / (1 + exp(-abs(x)))",
        complex=f"complex(where(real(x) == inf, 1, where(real(x) < 0, {_LEFT}, {_RIGHT}) / {_LENGTH}),"
        f" where(real(x) == inf, 0, {_IMAGINARY} / {_LENGTH} + 0.0))",
        native={"float32": "ow_sigmoidf"}, exact=False, avx512=True, blocks=("float32",), cost=6, foreign=("expit",),
    ),
)  # fmt: skip
