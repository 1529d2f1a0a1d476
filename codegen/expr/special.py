"""The functions of the core's special.h: their parameters, and what SciPy calls them, by which they are evaluated.

Only evaluation needs SciPy, which whoever weaves need not have installed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any

from .errors import ExpressionError

_UNARY = {
    "lgamma": "gammaln", "digamma": "psi", "erfinv": "erfinv", "ndtri": "ndtri", "erfcx": "erfcx", "i0": "i0",
    "i0e": "i0e", "i1": "i1", "i1e": "i1e", "k0": "k0", "k0e": "k0e", "k1": "k1", "k1e": "k1e", "bessel_j0": "j0",
    "bessel_j1": "j1", "bessel_y0": "y0", "bessel_y1": "y1", "airy_ai": "airy",
}  # fmt: skip
_BINARY = {"zeta": "zeta", "igamma": "gammainc", "igammac": "gammaincc"}
POLYNOMIALS = {
    "chebyshev_polynomial_t": "eval_chebyt", "chebyshev_polynomial_u": "eval_chebyu",
    "chebyshev_polynomial_v": "eval_chebyu", "chebyshev_polynomial_w": "eval_chebyu",
    "shifted_chebyshev_polynomial_t": "eval_sh_chebyt", "shifted_chebyshev_polynomial_u": "eval_sh_chebyu",
    "shifted_chebyshev_polynomial_v": "eval_sh_chebyu", "shifted_chebyshev_polynomial_w": "eval_sh_chebyu",
    "hermite_polynomial_h": "eval_hermite", "hermite_polynomial_he": "eval_hermitenorm",
    "laguerre_polynomial_l": "eval_laguerre", "legendre_polynomial_p": "eval_legendre",
}  # fmt: skip
"""Of an argument and a degree."""

SPECIAL: Mapping[str, str] = MappingProxyType(
    {**dict.fromkeys(_UNARY, "x"), **dict.fromkeys(_BINARY, "x y"), **dict.fromkeys(POLYNOMIALS, "x n")}
)
"""Parameters by name."""
BRANCHING = frozenset({"zeta", "airy_ai"})
"""Those of them whose C branches, so that no compiler makes vector instructions of it."""

Array = Any


def value(name: str) -> Callable[..., Array]:
    """The function of NumPy arrays, in float64."""

    def apply(*operands: Array) -> Array:
        wide = [operand.astype("float64") for operand in operands]
        if name in POLYNOMIALS:
            return _polynomial(name, *wide)
        function = _scipy(name, {**_UNARY, **_BINARY}[name])
        if name == "lgamma":
            return _lgamma(wide[0], function)
        return function(*wide)[0] if name == "airy_ai" else function(*wide)

    return apply


def _scipy(name: str, scipys: str) -> Callable[..., Array]:
    try:
        function: Callable[..., Array] = getattr(import_module("scipy.special"), scipys)
    except ModuleNotFoundError:
        message = f"a derivative over '{name}' is compared by SciPy, which is not installed"
        raise ExpressionError(message, 0, 1, "pip install scipy") from None
    return function


def _lgamma(x: Array, gammaln: Callable[[Array], Array]) -> Array:
    """Unlike SciPy's it is plus infinity at minus infinity, and finite for denormal numbers."""
    import numpy as np

    return np.where(np.isinf(x), np.inf, np.where(abs(x) < 1e-300, -np.log(abs(x)), gammaln(x)))


def _polynomial(name: str, x: Array, n: Array) -> Array:
    """Of the degree trunc(n), up to 1000, beyond which nothing is compared. Chebyshev's V and W, which SciPy lacks, are
    the difference and the sum of two U."""
    import numpy as np

    function, degree = _scipy(name, POLYNOMIALS[name]), np.trunc(n)
    whole = np.clip(np.nan_to_num(degree), 0, 1000).astype(int)
    result = function(whole, x)
    if name.endswith(("_v", "_w")):
        before = np.where(whole == 0, 0, function(np.maximum(whole - 1, 0), x))
        result = result - before if name.endswith("_v") else result + before
    return np.where(degree < 0, 0, np.where(degree <= 1000, result, np.nan))
