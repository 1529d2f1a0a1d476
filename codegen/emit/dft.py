"""Passes of Fourier transforms in C (include/ow_dft.h): one for each radix, as straight-line code over vectors.

A pass transforms groups of `radix` elements and multiplies the results by roots of unity (Stockham's algorithm,
decimation in frequency; C. Van Loan, Computational Frameworks for the Fast Fourier Transform, 1992, section 1.7). An
element is a pair of vectors, of the real and of the imaginary parts of as many signals as a vector has lanes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple

from . import text

RADICES = (2, 3, 4, 5, 7, 8, 11, 13)
"""Factors of lengths that are transformed without a convolution."""
LANES = (2, 4, 8, 16)
"""Numbers of lanes that vectors may have."""

_FACTORS = {4: (2, 2), 8: (2, 4)}


class Complex(NamedTuple):
    """Names of the C variables, or terms, of the two parts of a number."""

    re: str
    im: str


@dataclass
class Program:
    """Statements of one butterfly, each of which defines one variable."""

    statements: list[str] = field(default_factory=list)

    def let(self, expression: str) -> str:
        """Define a variable and return its name."""
        name = f"t{len(self.statements)}"
        self.statements.append(f"const vector {name} = {expression};")
        return name

    def let_both(self, re: str, im: str) -> Complex:
        """Define the variables of both parts of a number."""
        return Complex(self.let(re), self.let(im))


@dataclass(frozen=True)
class Radix:
    """A pass as its template prints it."""

    radix: int
    statements: tuple[str, ...]
    results: tuple[Complex, ...]


@dataclass(frozen=True)
class Width:
    """Orders of lanes, by which vectors of this width are rearranged; those from `lanes` on are of a second vector."""

    lanes: int
    exchanges: dict[int, tuple[list[int], list[int]]]
    evens: list[int]
    odds: list[int]
    zip_low: list[int]
    zip_high: list[int]
    reversed: list[int]


def emit() -> str:
    """Return the text of ow_dft.h."""
    return text.render(
        "dft.h.j2",
        "codegen/emit/dft.py",
        "ow_dft.h",
        radices=[_radix(radix) for radix in RADICES],
        widths=[width(lanes) for lanes in LANES],
        largest=max(RADICES),
    )


def transform(program: Program, x: list[Complex]) -> list[Complex]:
    """Write the discrete Fourier transform of some numbers; the length is a radix or divides one."""
    n = len(x)
    if n == 2:
        return [_sum(program, *x), _difference(program, *x)]
    if n in _FACTORS:
        return _by_factors(program, x, *_FACTORS[n])
    return _of_prime_length(program, x)


def _radix(radix: int) -> Radix:
    program = Program()
    results = transform(program, [Complex(f"x{k}r", f"x{k}i") for k in range(radix)])
    return Radix(radix, tuple(program.statements), tuple(results))


def _sum(program: Program, a: Complex, b: Complex) -> Complex:
    return program.let_both(f"{a.re} + {b.re}", f"{a.im} + {b.im}")


def _difference(program: Program, a: Complex, b: Complex) -> Complex:
    return program.let_both(f"{a.re} - {b.re}", f"{a.im} - {b.im}")


def _by_factors(program: Program, x: list[Complex], a: int, b: int) -> list[Complex]:
    """Transform a * b numbers: b transforms of a numbers, roots of unity, a transforms of b numbers."""
    columns = [transform(program, x[j::b]) for j in range(b)]
    results: dict[int, Complex] = {}
    for k in range(a):
        row = [_turned(program, columns[j][k], j * k, a * b) for j in range(b)]
        results |= {k + a * m: y for m, y in enumerate(transform(program, row))}
    return [results[k] for k in range(a * b)]


def _turned(program: Program, x: Complex, k: int, n: int) -> Complex:
    """Multiply by exp(-2 pi i k / n), where k is below 4 and n is 4 or 8."""
    if k == 0:
        return x
    if 4 * k == n:
        return Complex(x.im, program.let(f"-{x.re}"))
    root = _constant(math.sqrt(0.5))
    if 8 * k == n:
        return program.let_both(f"({x.re} + {x.im}) * {root}", f"({x.im} - {x.re}) * {root}")
    return program.let_both(f"({x.im} - {x.re}) * {root}", f"({x.re} + {x.im}) * -{root}")


def _of_prime_length(program: Program, x: list[Complex]) -> list[Complex]:
    """Transform by sums and differences of the elements k and n - k, whose roots of unity are conjugate."""
    n = len(x)
    half = range(1, n // 2 + 1)
    sums = {j: _sum(program, x[j], x[n - j]) for j in half}
    differences = {j: _difference(program, x[j], x[n - j]) for j in half}
    total = x[0]
    for j in half:
        total = _sum(program, total, sums[j])
    results = {0: total}
    for k in half:
        angles = {j: 2 * math.pi * (j * k % n) / n for j in half}
        cosines = {j: _constant(math.cos(angle)) for j, angle in angles.items()}
        sines = {j: _constant(math.sin(angle)) for j, angle in angles.items()}
        re, im = (
            program.let(" + ".join([x[0][part], *(f"{sums[j][part]} * {cosines[j]}" for j in half)])) for part in (0, 1)
        )
        less, more = (program.let(" + ".join(f"{differences[j][part]} * {sines[j]}" for j in half)) for part in (0, 1))
        results[k] = program.let_both(f"{re} + {more}", f"{im} - {less}")
        results[n - k] = program.let_both(f"{re} - {more}", f"{im} + {less}")
    return [results[k] for k in range(n)]


def _constant(value: float) -> str:
    return f"(real){value!r}"


def width(lanes: int) -> Width:
    """Return the orders of lanes for vectors of this width."""

    def exchange(distance: int) -> tuple[list[int], list[int]]:
        """Exchange the lanes of a vector that have the bit `distance` with those of the other that have it not."""
        low = [lanes + lane - distance if lane & distance else lane for lane in range(lanes)]
        return low, [lanes + lane if lane & distance else lane + distance for lane in range(lanes)]

    zipped = [lane // 2 + lanes * (lane % 2) for lane in range(lanes)]
    return Width(
        lanes,
        {distance: exchange(distance) for distance in (1, 2, 4, 8) if distance < lanes},
        evens=[2 * lane for lane in range(lanes)],
        odds=[2 * lane + 1 for lane in range(lanes)],
        zip_low=zipped,
        zip_high=[lane + lanes // 2 for lane in zipped],
        reversed=[lanes - 1 - lane for lane in range(lanes)],
    )
