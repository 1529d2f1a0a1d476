"""Largest error of special functions in units in the last place, against mpmath.

`python benchmarks/accuracy_special.py [--count COUNT] [NAME ...]` prints the second table of docs/accuracy.md: of
functions for which NumPy has no reference, or SciPy's has too few digits. Values are random, of the ranges in CASES,
and rounded to the dtype before either computes. A star marks functions whose unit is that of a larger number than the
result: of Bessel functions, and of Airy's left of zero, that of their amplitude, of quantiles q that of 1 + |q|, of
polynomials p(x) that of |p(x)| + |x p'(x)|, by which a change of x in its last place moves them.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mpmath as mp
import numpy as np
import opweave
from accuracy_table import AccuracyTable

mp.mp.dps = 40

Number = Any
"""An mpf."""
Samples = tuple[np.ndarray, ...]


@dataclass(frozen=True)
class Case:
    exact: Callable[..., Number]
    samples: Callable[[np.random.Generator, int], Samples]
    magnitude: Callable[..., Number] | None = None


def spread(low: float, high: float, sign: bool = False) -> Callable[[np.random.Generator, int], Samples]:
    """Numbers between two ends, half of them evenly, the other half by their logarithms."""

    def draw(random: np.random.Generator, count: int) -> Samples:
        even = random.uniform(low, high, count // 2)
        powers = np.exp(random.uniform(np.log(max(low, 1e-30)), np.log(high), count - count // 2))
        values = np.concatenate([even, powers])
        return (values * random.choice([-1, 1], count) if sign else values,)

    return draw


def gamma_arguments(random: np.random.Generator, count: int) -> Samples:
    """Small, moderate and large ones, the second near the first where that is large."""
    a = np.exp(random.uniform(np.log(1e-6), np.log(3000), count))
    near = a * np.exp(random.normal(size=count) * np.minimum(1, 4 / np.sqrt(a)))
    return a, np.where(random.random(count) < 0.7, near, np.exp(random.uniform(-12, 6, count)))


def polynomial_arguments(random: np.random.Generator, count: int) -> Samples:
    """Return arguments of polynomials of degrees up to 200: within [-1, 1], close to its ends, and beyond."""
    ends = 1 + random.choice([-1, 1], count) * np.exp(random.uniform(-30, 0, count))
    beyond = np.exp(random.uniform(0, 4, count))
    x = np.choose(random.integers(0, 3, count), [random.uniform(0, 1, count), ends, beyond])
    return x * random.choice([-1, 1], count), random.integers(0, 201, count).astype(float)


def recurrence(first: Callable[[Number], Number], step: Callable[..., Number]) -> Callable[[Number, Number], Number]:
    def value(x: Number, n: Number) -> Number:
        before, now = mp.mpf(0), mp.mpf(1)
        for k in range(int(n)):
            before, now = now, first(x) if k == 0 else step(x, k, now, before)
        return now

    return value


def polynomial(exact: Callable[[Number, Number], Number]) -> Case:
    def magnitude(x: Number, n: Number) -> Number:
        h = mp.mpf(10) ** -15 * max(abs(x), mp.mpf(10) ** -15)
        slope = (exact(x + h, n) - exact(x - h, n)) / (2 * h)
        return abs(exact(x, n)) + abs(x * slope)

    return Case(exact, polynomial_arguments, magnitude)


def shifted(case: Case) -> Case:
    """Return the case of shifted polynomials, which are as sensitive to 2 x - 1 as the polynomial itself."""

    def magnitude(x: Number, n: Number) -> Number:
        assert case.magnitude is not None
        return case.magnitude(2 * x - 1, n)

    return Case(lambda x, n: case.exact(2 * x - 1, n), case.samples, magnitude)


def chebyshev(first: Callable[[Number], Number]) -> Case:
    return polynomial(recurrence(first, lambda x, k, p, before: 2 * x * p - before))


def quantile(p: Number) -> Number:
    with mp.workdps(80):
        return mp.sqrt(2) * mp.erfinv(2 * p - 1)


def amplitude(x: Number) -> Number:
    """Nearly that of Bessel functions."""
    return 1 / mp.sqrt(1 + abs(x))


CHEBYSHEV = {
    "t": chebyshev(lambda x: x),
    "u": chebyshev(lambda x: 2 * x),
    "v": chebyshev(lambda x: 2 * x - 1),
    "w": chebyshev(lambda x: 2 * x + 1),
}
CASES: dict[str, Case] = {
    "lgamma": Case(mp.loggamma, spread(0, 20)),
    "erfinv": Case(mp.erfinv, spread(0, 1, sign=True)),
    "ndtri": Case(quantile, spread(1e-30, 1), lambda p: 1 + abs(quantile(p))),
    "bessel_j0": Case(lambda x: mp.besselj(0, x), spread(0, 100, sign=True), amplitude),
    "bessel_j1": Case(lambda x: mp.besselj(1, x), spread(0, 100, sign=True), amplitude),
    "bessel_y0": Case(lambda x: mp.bessely(0, x), spread(0, 100), amplitude),
    "bessel_y1": Case(lambda x: mp.bessely(1, x), spread(0, 100), amplitude),
    "igamma": Case(lambda a, x: mp.gammainc(a, 0, x, regularized=True), gamma_arguments),
    "igammac": Case(lambda a, x: mp.gammainc(a, x, mp.inf, regularized=True), gamma_arguments),
    "airy_ai": Case(mp.airyai, spread(0, 100, sign=True), lambda x: mp.mpf(0) if x > 0 else 1 / mp.root(1 - x, 4)),
    "modified_bessel_k0": Case(lambda x: mp.besselk(0, x), spread(0, 700)),
    "modified_bessel_k1": Case(lambda x: mp.besselk(1, x), spread(0, 700)),
    "scaled_modified_bessel_k0": Case(lambda x: mp.exp(x) * mp.besselk(0, x), spread(0, 700)),
    "scaled_modified_bessel_k1": Case(lambda x: mp.exp(x) * mp.besselk(1, x), spread(0, 700)),
    "spherical_bessel_j0": Case(mp.sinc, spread(0, 100, sign=True)),
    **{f"chebyshev_polynomial_{letter}": case for letter, case in CHEBYSHEV.items()},
    **{f"shifted_chebyshev_polynomial_{letter}": shifted(case) for letter, case in CHEBYSHEV.items()},
    "hermite_polynomial_h": polynomial(recurrence(lambda x: 2 * x, lambda x, k, p, before: 2 * (x * p - k * before))),
    "hermite_polynomial_he": polynomial(recurrence(lambda x: x, lambda x, k, p, before: x * p - k * before)),
    "laguerre_polynomial_l": polynomial(
        recurrence(lambda x: 1 - x, lambda x, k, p, before: ((2 * k + 1 - x) * p - k * before) / (k + 1))
    ),
    "legendre_polynomial_p": polynomial(
        recurrence(lambda x: x, lambda x, k, p, before: ((2 * k + 1) * x * p - k * before) / (k + 1))
    ),
}


def error_in_ulp(got: np.ndarray, exact: list[Number], units: list[Number]) -> float:
    """The largest; infinite where a result overflows that should not, or the reverse."""
    worst, largest = 0.0, 0.75 * float(np.finfo(got.dtype).max)  # whose last place is that of all that are larger
    for value, want, unit in zip(got, exact, units, strict=True):
        with np.errstate(over="ignore"):
            rounded = got.dtype.type(float(want))
        if np.isfinite(value) and np.isfinite(rounded):
            last_place = np.spacing(got.dtype.type(min(float(unit), largest)))
            worst = max(worst, float(abs(mp.mpf(float(value)) - want) / mp.mpf(float(last_place))))
        elif value != rounded:
            return float("inf")
    return worst


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="functions; all of them by default")
    parser.add_argument("--count", type=int, default=2000, help="arguments for each function and dtype")
    options = parser.parse_args()
    table = AccuracyTable()
    for name, case in CASES.items():
        if options.names and name not in options.names:
            continue
        function = getattr(opweave.special, name, None) or getattr(opweave, name)
        for dtype in (np.float32, np.float64):
            inputs = [values.astype(dtype) for values in case.samples(np.random.default_rng(0), options.count)]
            numbers = [tuple(map(mp.mpf, map(float, row))) for row in zip(*inputs, strict=True)]
            exact = [case.exact(*row) for row in numbers]
            units = [case.magnitude(*row) for row in numbers] if case.magnitude else [mp.mpf(0)] * len(exact)
            units = [max(abs(want), unit) for want, unit in zip(exact, units, strict=True)]
            errors = [
                error_in_ulp(function(*map(opweave.from_numpy, inputs)).numpy(), exact, units)
                for _ in table.each_level()
            ]
            table.row(name, np.dtype(dtype).name, errors, starred=case.magnitude is not None)


if __name__ == "__main__":
    main()
