"""Largest error of functions of complex numbers in units in the last place of each part, against mpmath.

`python benchmarks/accuracy_complex.py [--count COUNT]` prints the third table of docs/accuracy.md. Numbers are those of
a square around zero, small ones, and those beside the unit circle and the poles of tangents, rounded to the dtype
before either computes. A star marks the function whose unit is that of the length of the result.
"""

from __future__ import annotations

import argparse
from typing import Any

import mpmath as mp
import numpy as np
import opweave
from accuracy_table import AccuracyTable

FUNCTIONS = {name: getattr(mp, name) for name in ("exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh", "sqrt")}
FUNCTIONS |= {"sigmoid": lambda z: 1 / (1 + mp.exp(-z))}
BY_LENGTH = ("sigmoid",)
mp.mp.dps = 50


def numbers(count: int) -> np.ndarray:
    random = np.random.default_rng(0)
    sizes, angles = np.exp(random.uniform(-20, 2, count)), np.exp(1j * random.uniform(-np.pi, np.pi, count))
    square = random.uniform(-15, 15, count) + 1j * random.uniform(-15, 15, count)
    poles = [pole + sizes * 1e-2 * angles for pole in (np.pi / 2, 1j * np.pi / 2, 1j * np.pi)]
    return np.concatenate([square, sizes * angles, angles, angles * (1 + sizes * 1e-3), *poles])


def error_in_ulp(got: np.ndarray, exact: list[Any], by_length: bool) -> float:
    real = got.real.dtype.type
    worst = 0.0
    for value, want in zip(got, exact, strict=True):
        for part, wanted in ((value.real, want.real), (value.imag, want.imag)):
            unit = np.spacing(real(abs(want) if by_length else abs(wanted)))
            worst = max(worst, float(abs(mp.mpf(float(part)) - wanted) / mp.mpf(float(unit))))
    return worst


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=1000, help="numbers of each kind")
    options = parser.parse_args()
    table = AccuracyTable()
    for name, function in FUNCTIONS.items():
        for dtype in (np.complex64, np.complex128):
            z = numbers(options.count).astype(dtype)
            exact = [function(mp.mpc(complex(each))) for each in z]
            errors = [
                error_in_ulp(getattr(opweave, name)(opweave.from_numpy(z)).numpy(), exact, name in BY_LENGTH)
                for _ in table.each_level()
            ]
            table.row(name, np.dtype(dtype).name, errors, starred=name in BY_LENGTH)


if __name__ == "__main__":
    main()
