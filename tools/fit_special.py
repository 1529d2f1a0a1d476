"""Coefficients for runtime/core/special*.h: Chebyshev series by mpmath to 40 digits, and an exact Taylor series.

`python tools/fit_special.py` prints them. Each function is fitted on [-1, 1] of the variable that the comment names, by
interpolation at Chebyshev nodes; coefficients below a quarter of the last place of the sum are left out. What is a
polynomial instead has its coefficients lowest first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction

import mpmath as mp
from fit_avx512 import interpolated, rounded

mp.mp.dps = 40
NODES = 64


def chebyshev(function: Callable[[mp.mpf], mp.mpf]) -> list[mp.mpf]:
    """The coefficients of T0, T1, ...; that of T0 is halved already."""
    angles = [(k + mp.mpf(1) / 2) * mp.pi / NODES for k in range(NODES)]
    values = [function(mp.cos(angle)) for angle in angles]
    found = [
        2 * mp.fsum(value * mp.cos(order * angle) for value, angle in zip(values, angles, strict=True)) / NODES
        for order in range(NODES)
    ]
    found[0] /= 2
    scale = max(abs(each) for each in found) * mp.mpf(2) ** -55
    while abs(found[-1]) < scale:
        found.pop()
    return found


def near(t: mp.mpf) -> mp.mpf:
    """x of [0, 8] for t = x / 4 - 1."""
    return 4 * (t + 1)


def far(t: mp.mpf) -> mp.mpf:
    """x of [8, inf) for t = 16 / x - 1."""
    return 16 / (t + 1) if t > -1 else mp.inf


def short(t: mp.mpf) -> mp.mpf:
    """x of [0, 2] for t = x * x / 2 - 1."""
    return mp.sqrt(2 * (t + 1))


def long(t: mp.mpf) -> mp.mpf:
    """x of [2, inf) for t = 4 / x - 1."""
    return 4 / (t + 1)


# Airy's function: zeta = 2 / 3 * |x| ** 1.5 where the expansions in 1 / zeta begin, at 2 and at -4.
ZETA_OF_2 = mp.mpf(2) / 3 * mp.mpf(2) ** mp.mpf("1.5")
ZETA_OF_4 = mp.mpf(16) / 3


def airy_far(t: mp.mpf) -> mp.mpf:
    """Return the scaled Airy function for large arguments, with t = 2 * ZETA_OF_2 / zeta - 1."""
    zeta = 2 * ZETA_OF_2 / (t + 1)
    x = (mp.mpf(3) / 2 * zeta) ** (mp.mpf(2) / 3)
    return 2 * mp.sqrt(mp.pi) * mp.root(x, 4) * mp.exp(zeta) * mp.airyai(x)


def airy_waves(t: mp.mpf) -> tuple[mp.mpf, mp.mpf]:
    """P and zeta * Q of DLMF 9.7.9 and 9.7.11 for t = 2 * (ZETA_OF_4 / zeta)**2 - 1."""
    zeta = ZETA_OF_4 * mp.sqrt(2 / (t + 1))
    x = (mp.mpf(3) / 2 * zeta) ** (mp.mpf(2) / 3)
    scale, angle = mp.sqrt(mp.pi) * mp.root(x, 4), zeta - mp.pi / 4
    ai, bi, cos, sin = mp.airyai(-x), mp.airybi(-x), mp.cos(angle), mp.sin(angle)
    return scale * (ai * cos - bi * sin), zeta * scale * (ai * sin + bi * cos)


def inverse_erf(w: mp.mpf) -> mp.mpf:
    """erfinv(x) / x for w = -log(1 - x * x)."""
    if w < mp.mpf(10) ** -30:
        return mp.sqrt(mp.pi) / 2
    x = mp.sqrt(-mp.expm1(-w))
    if w < 20:
        return mp.erfinv(x) / x
    return mp.findroot(lambda y: mp.log(mp.erfc(y) * (2 - mp.erfc(y))) + w, mp.sqrt(w)) / x


def inverse_erf_far(low: str, high: str) -> Callable[[mp.mpf], mp.mpf]:
    """The same for t = 2 * (sqrt(w) - low) / (high - low) - 1."""
    return lambda t: inverse_erf((mp.mpf(low) + (mp.mpf(high) - mp.mpf(low)) * (t + 1) / 2) ** 2)


FITS: dict[str, Callable[[mp.mpf], mp.mpf]] = {
    "i0_near": lambda t: mp.exp(-near(t)) * mp.besseli(0, near(t)),
    "i0_far": lambda t: mp.sqrt(far(t)) * mp.exp(-far(t)) * mp.besseli(0, far(t)),
    "i1_near": lambda t: mp.exp(-near(t)) * mp.besseli(1, near(t)) / near(t),
    "i1_far": lambda t: mp.sqrt(far(t)) * mp.exp(-far(t)) * mp.besseli(1, far(t)),
    "i0_short": lambda t: mp.besseli(0, short(t)),
    "i1_short": lambda t: mp.besseli(1, short(t)) / short(t),
    "k0_short": lambda t: mp.besselk(0, short(t)) + mp.log(short(t) / 2) * mp.besseli(0, short(t)),
    "k1_short": lambda t: short(t) * (mp.besselk(1, short(t)) - mp.log(short(t) / 2) * mp.besseli(1, short(t))),
    "k0_long": lambda t: mp.sqrt(long(t)) * mp.exp(long(t)) * mp.besselk(0, long(t)),
    "k1_long": lambda t: mp.sqrt(long(t)) * mp.exp(long(t)) * mp.besselk(1, long(t)),
    "airy_left": lambda t: mp.airyai(2 * (t - 1)),
    "airy_right": lambda t: mp.exp(t + 1) * mp.airyai(t + 1),
    "airy_far": airy_far,
    "airy_p": lambda t: airy_waves(t)[0],
    "airy_q": lambda t: airy_waves(t)[1],
}


def without_zeros(order: int, function: Callable[[mp.mpf], mp.mpf]) -> Callable[[mp.mpf], mp.mpf]:
    """The function of x by its zeros below 8, which are the first two of J of this order, for v = 1 - x * x / 64. Its
    other zeros are real, which makes all coefficients positive: no digits are lost in the sum."""
    squares = [mp.besseljzero(order, k) ** 2 for k in (1, 2)]

    def rest(v: mp.mpf) -> mp.mpf:
        x = 8 * mp.sqrt(1 - v)
        return function(x) / mp.fprod(x * x - each for each in squares)

    return rest


def lgamma_near(t: mp.mpf) -> mp.mpf:
    """log(gamma(1 + a)) by its zeros, 0 and 1, for a = t + 1."""
    a = t + 1
    if min(abs(a), abs(t)) < mp.mpf(10) ** -25:
        return mp.euler if t < -0.5 else 1 - mp.euler
    return mp.loggamma(1 + a) / (a * t)


def bessel_x(t: mp.mpf) -> mp.mpf:
    """x of [0, 8] for t = x * x / 32 - 1."""
    return mp.sqrt(32 * (t + 1))


def regular_y0(t: mp.mpf) -> mp.mpf:
    """Y0(x) without its logarithm: DLMF 10.8.1."""
    x = bessel_x(t)
    return mp.bessely(0, x) - 2 / mp.pi * mp.log(x / 2) * mp.besselj(0, x)


def regular_y1(t: mp.mpf) -> mp.mpf:
    """Y1(x) without its logarithm and its pole, by x."""
    x = bessel_x(t)
    return (mp.bessely(1, x) - 2 / mp.pi * (mp.log(x / 2) * mp.besselj(1, x) - 1 / x)) / x


POLYNOMIALS: dict[str, tuple[Callable[[mp.mpf], mp.mpf], int, int]] = {
    "erfinvf_near": (lambda t: inverse_erf(mp.mpf("2.5") * (t + 1)), -1, 10),
    "erfinvf_far": (inverse_erf_far("2.225", "4.025"), -1, 10),
    "erfinv_near": (lambda t: inverse_erf(mp.mpf("3.125") * (t + 1)), -1, 24),
    "erfinv_middle": (inverse_erf_far("2.5", "4"), -1, 20),
    "erfinv_far": (inverse_erf_far("4", "6.25"), -1, 20),
    "erfinv_beyond": (inverse_erf_far("6.25", "14"), -1, 21),
    "erfinv_end": (inverse_erf_far("14", "28"), -1, 18),
    "j0_near": (without_zeros(0, lambda x: mp.besselj(0, x)), 0, 14),
    "j1_near": (without_zeros(1, lambda x: mp.besselj(1, x) / x), 0, 14),
    "y0_near": (regular_y0, -1, 17),
    "y1_near": (regular_y1, -1, 16),
    "lgamma_near": (lgamma_near, -1, 26),
}
"""The beginnings of the intervals that end at 1, and the numbers of coefficients. A name with `f` before the underscore
is one of single precision."""

TEMME_ORDERS = 7


def temme() -> list[list[Fraction]]:
    """Taylor coefficients of c0(eta), c1(eta), ... of DLMF 8.12.8 that matter for |eta| < 0.48 and a >= 100, by the
    recurrence in Temme, "The asymptotic expansion of the incomplete gamma functions" (1979)."""
    degree = 21 + 2 * TEMME_ORDERS
    alpha = [Fraction(0), Fraction(1)]
    for n in range(2, degree + 3):
        convolution = sum((j * alpha[j] * alpha[n - j + 1] for j in range(2, n)), Fraction(0))
        alpha.append((alpha[n - 1] - convolution) / (n + 1))
    # Stirling's series of the gamma function: DLMF 5.11.3 and 5.11.5.
    stirling = [Fraction(1)]
    for k in range(1, TEMME_ORDERS):
        double_factorial = Fraction(1)
        for odd in range(1, 2 * k + 2, 2):
            double_factorial *= odd
        stirling.append(double_factorial * alpha[2 * k + 1])
    first = [Fraction(-1, 3)] + [(n + 2) * alpha[n + 2] for n in range(1, degree + 1)]
    rows = [first]
    for k in range(1, TEMME_ORDERS):
        last, factor = rows[-1], (-1) ** k * stirling[k]
        rows.append([factor * first[n] + (n + 2) * last[n + 2] for n in range(len(last) - 2)])
    return [
        [value for n, value in enumerate(row) if abs(float(value)) * 0.48**n * 0.01**k > 2**-58]
        for k, row in enumerate(rows)
    ]


def print_table(name: str, coefficients: Iterable[float]) -> None:
    """Print coefficients as a C array."""
    texts = [each.hex() for each in coefficients]
    print(f"static const double ow_{name}[{len(texts)}] = {{")
    for start in range(0, len(texts), 4):
        print("    " + ", ".join(texts[start : start + 4]) + ",")
    print("};")


def main() -> None:
    """Print all tables."""
    for name, function in FITS.items():
        print_table(name, map(float, chebyshev(function)))
    for name, (function, low, count) in POLYNOMIALS.items():
        coefficients = interpolated(function, mp.mpf(low), mp.mpf(1), count)
        if "f_" in name:
            texts = [rounded(each).hex() for each in coefficients]
            print(f"static const float ow_{name}[{count}] = {{\n    {'f, '.join(texts)}f,\n}};")
        else:
            print_table(name, map(float, coefficients))
    for order, row in enumerate(temme()):
        print_table(f"temme{order}", map(float, row))


if __name__ == "__main__":
    main()
