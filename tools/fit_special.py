"""Chebyshev coefficients for runtime/core/special.h, computed with mpmath to 40 digits.

`python tools/fit_special.py` prints them. Each function is fitted on [-1, 1] of the variable that the comment names, by
interpolation at Chebyshev nodes; coefficients below a quarter of the last place of the sum are left out.
"""

from __future__ import annotations

from collections.abc import Callable

import mpmath as mp

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


FITS: dict[str, Callable[[mp.mpf], mp.mpf]] = {
    "i0_near": lambda t: mp.exp(-near(t)) * mp.besseli(0, near(t)),
    "i0_far": lambda t: mp.sqrt(far(t)) * mp.exp(-far(t)) * mp.besseli(0, far(t)),
    "i1_near": lambda t: mp.exp(-near(t)) * mp.besseli(1, near(t)) / near(t),
    "i1_far": lambda t: mp.sqrt(far(t)) * mp.exp(-far(t)) * mp.besseli(1, far(t)),
}


def main() -> None:
    for name, function in FITS.items():
        coefficients = chebyshev(function)
        print(f"static const double ow_{name}[{len(coefficients)}] = {{")
        texts = [float(each).hex() for each in coefficients]
        for start in range(0, len(texts), 4):
            print("    " + ", ".join(texts[start : start + 4]) + ",")
        print("};")


if __name__ == "__main__":
    main()
