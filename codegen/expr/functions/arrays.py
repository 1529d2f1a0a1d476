"""Functions of NumPy arrays that NumPy lacks or defines otherwise, for the evaluator.

NumPy and SciPy are imported when the first of them is called: whoever weaves need not have SciPy.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from ..errors import ExpressionError

Array = Any
"""A NumPy array; precise types would add nothing but noise here."""


def on_elements(function: Callable[[float], float]) -> Callable[[Array], Array]:
    """A function of Python's numbers applied to each element in float64."""

    def apply(x: Array) -> Array:
        import numpy as np

        return np.asarray(np.frompyfunc(function, 1, 1)(x.astype("float64"))).astype("float64")

    return apply


def lcm(x: Array, y: Array) -> Array:
    """The least common multiple; it wraps if it does not fit."""
    import numpy as np

    unsigned = x.dtype.name if x.dtype.kind == "u" else f"u{x.dtype.name}"
    left, right = (np.where(each < 0, 0 - each.astype(unsigned), each.astype(unsigned)) for each in (x, y))
    common = np.gcd(left, right)
    return np.where(common == 0, 0, left // np.maximum(common, 1) * right)


def popcount(x: Array) -> Array:
    """Return the numbers of bits that are set."""
    import numpy as np

    octets = np.ascontiguousarray(x[..., np.newaxis]).view(np.uint8)
    return np.unpackbits(octets, axis=-1).sum(-1).astype(x.dtype)


def clz(x: Array) -> Array:
    """Zeros before the first bit that is set; all, where none is."""
    smeared, shift = x.astype(_unsigned(x)), 1
    while shift < 8 * x.dtype.itemsize:
        smeared = smeared | smeared >> smeared.dtype.type(shift)
        shift *= 2
    return popcount(~smeared).astype(x.dtype)


def ctz(x: Array) -> Array:
    """Zeros after the last bit that is set; all, where none is."""
    bits = x.astype(_unsigned(x))
    return popcount(~bits & (bits - bits.dtype.type(1))).astype(x.dtype)


def _unsigned(x: Array) -> str:
    return f"uint{8 * x.dtype.itemsize}"


def bits(x: Array) -> Array:
    """Return the bits of floating numbers as integers."""
    return x.view(f"int{8 * x.dtype.itemsize}")


def from_bits(x: Array) -> Array:
    """Return the floating numbers with these bits."""
    return x.view(f"float{8 * x.dtype.itemsize}")


def integer(x: Array) -> Array:
    """The integer part; the least integer for what is none or beyond 64 bits."""
    import numpy as np

    fits = (x >= -(2.0**63)) & (x < 2.0**63)
    return np.where(fits, np.where(fits, x, 0).astype(np.int64), np.iinfo(np.int64).min)


def power(base: Array, exponent: Array) -> Array:
    """Return powers; those of integers wrap around."""
    import numpy as np

    return np.power(base, exponent) if base.dtype.kind in "fc" else _integer_power(base, exponent)


def _integer_power(base: Array, exponent: Array) -> Array:
    """Powers wrap; negative exponents give the integer part of the true value."""
    import numpy as np

    base, exponent = np.broadcast_arrays(base, exponent)
    result, factor = np.ones_like(base), base.copy()
    negative = exponent < 0
    rest = exponent.astype("uint64")
    for _ in range(64):
        result = np.where((rest & np.uint64(1)) == 1, result * factor, result)
        factor = factor * factor
        rest = np.where(negative, np.uint64(0), rest >> np.uint64(1))
    sign = np.where((exponent & 1) == 1, base, np.ones_like(base))
    inverse = np.where(np.abs(base.astype("float64")) == 1, sign, np.zeros_like(base))
    return np.where(negative, inverse, result)


def complex_of(real: Array, imag: Array) -> Array:
    """Complex numbers from their parts; `real + 1j * imag` would give NaN for infinities."""
    import numpy as np

    real, imag = np.broadcast_arrays(real, imag)
    value = np.empty(real.shape, np.result_type(real, np.complex64))
    value.real, value.imag = real, imag
    return value


def left_shift(value: Array, count: Array) -> Array:
    """Shift to the left; a count outside [0, width) gives the result of an infinitely wide shift."""
    import numpy as np

    valid = (count >= 0) & (count < 8 * value.dtype.itemsize)
    return np.where(valid, np.left_shift(value, np.where(valid, count, 0)), 0)


def right_shift(value: Array, count: Array) -> Array:
    """Return integers shifted to the right; counts outside of the width shift all bits out."""
    import numpy as np

    bits = 8 * value.dtype.itemsize
    valid = (count >= 0) & (count < bits)
    # Two shifts, because a shift by the whole width is undefined in NumPy, too.
    shifted = np.right_shift(value, np.where(valid, count, bits - 1).astype(value.dtype))
    return np.where(valid, shifted, np.right_shift(shifted, 1))


def trunc_divide(x: Array, y: Array) -> Array:
    """Return quotients of integers, rounded towards zero."""
    import numpy as np

    quotient = np.floor_divide(x, y)
    return quotient + ((np.remainder(x, y) != 0) & ((x < 0) != (y < 0))).astype(x.dtype)


# ---- by SciPy ---------------------------------------------------------------------------------------------


def scipy_function(name: str) -> Callable[..., Array]:
    """A function of scipy.special, in float64."""

    def apply(*operands: Array) -> Array:
        return _scipy(name)(*(operand.astype("float64") for operand in operands))

    return apply


def _scipy(name: str) -> Callable[..., Array]:
    try:
        function: Callable[..., Array] = getattr(import_module("scipy.special"), name)
    except ModuleNotFoundError:
        message = f"a derivative is compared by SciPy's '{name}', which is not installed"
        raise ExpressionError(message, 0, 1, "pip install scipy") from None
    return function


def lgamma(x: Array) -> Array:
    """Unlike SciPy's function it is plus infinity at minus infinity, and finite for denormal numbers."""
    import numpy as np

    wide = x.astype("float64")
    near = np.where(abs(wide) < 1e-300, -np.log(abs(wide)), scipy_function("gammaln")(wide))
    return np.where(np.isinf(wide), np.inf, near)


def airy_ai(x: Array) -> Array:
    """Return Airy's function Ai."""
    return scipy_function("airy")(x)[0]


def polynomial(scipy: str, neighbour: int) -> Callable[[Array, Array], Array]:
    """A polynomial of degree trunc(n), plus `neighbour` times the one of the degree before. Degrees end at 1000, beyond
    which nothing is compared."""

    def apply(x: Array, n: Array) -> Array:
        import numpy as np

        function, x, degree = _scipy(scipy), x.astype("float64"), np.trunc(n.astype("float64"))
        whole = np.clip(np.nan_to_num(degree), 0, 1000).astype(int)
        result = function(whole, x)
        if neighbour:
            result = result + neighbour * np.where(whole == 0, 0, function(np.maximum(whole - 1, 0), x))
        return np.where(degree < 0, 0, np.where(degree <= 1000, result, np.nan))

    return apply
