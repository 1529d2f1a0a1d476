"""The header runtime/core/kernel/avx512_tables.h: tables of the functions in avx512.h and avx512_f64.h, by mpmath.

`python tools/fit_avx512.py > runtime/core/kernel/avx512_tables.h` writes it. A table has a row of 32 float32 or 16
float64 numbers for each coefficient, one number for each interval, so that one permutation of two registers looks a
coefficient up for all elements of a register.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial

import mpmath as mp
import numpy as np

mp.mp.dps = 40
INTERVALS = 32
Function = Callable[[mp.mpf], mp.mpf]


def rounded(value: mp.mpf) -> float:
    """Return the number as float32 has it."""
    return float(np.float32(float(value)))


def spelled(value: mp.mpf) -> str:
    """C's spelling; terms too small to count are zero, because denormal numbers are slow."""
    number = rounded(value)
    if abs(number) < 2.0**-60:
        return "0"
    digits, exponent = number.hex().split("p")
    return f"{digits.rstrip('0').rstrip('.')}p{int(exponent)}f"


def interpolated(function: Function, low: mp.mpf, high: mp.mpf, count: int) -> list[mp.mpf]:
    """Coefficients, lowest first, of the polynomial that agrees with the function at `count` Chebyshev nodes."""
    angles = [(k + mp.mpf(1) / 2) * mp.pi / count for k in range(count)]
    nodes = [(low + high) / 2 + (high - low) / 2 * mp.cos(angle) for angle in angles]
    powers = mp.matrix([[node**power for power in range(count)] for node in nodes])
    return list(mp.lu_solve(powers, mp.matrix([function(node) for node in nodes])))


def quotient(function: Function, center: mp.mpf) -> Function:
    """(f(center + t) - f(center)) / t as a function of t."""
    value, slope = function(center), mp.diff(function, center)
    return lambda t: (function(center + t) - value) / t if abs(t) > mp.mpf(10) ** -15 else slope


def centered(function: Function, width: float, degree: int) -> list[list[mp.mpf]]:
    """Rows of coefficients in the distance from k * width, for k = 0 to 31; there the polynomial is exact."""
    rows: list[list[mp.mpf]] = [[] for _ in range(degree + 1)]
    half = mp.mpf(width) / 2
    for k in range(INTERVALS):
        center = k * mp.mpf(width)
        found = interpolated(quotient(function, center), -half, half, degree)
        for row, coefficient in zip(rows, [function(center), *found], strict=True):
            row.append(coefficient)
    return rows


def over_octaves(function: Function, degree: int) -> list[list[mp.mpf]]:
    """Rows of coefficients in the distance of y from the middles of eighths of the octaves of 1 + y from 1 to 16;
    ordered by the last two bits of the exponent of 1 + y and the first three of its significand."""
    columns = []
    for octave in (1, 2, 3, 0):  # the exponent has a bias of 127
        width = mp.mpf(2) ** octave / 8
        for eighth in range(8):
            middle = mp.mpf(2) ** octave + (eighth + mp.mpf(1) / 2) * width - 1
            shifted = partial(lambda middle, t: function(middle + t), middle)
            columns.append(interpolated(shifted, -width / 2, width / 2, degree + 1))
    return [list(row) for row in zip(*columns, strict=True)]


def erfcx(y: mp.mpf) -> mp.mpf:
    """Return the scaled complementary error function."""
    return mp.exp(y * y) * mp.erfc(y)


def reciprocals() -> list[mp.mpf]:
    """Return the reciprocals of numbers of [0.75, 1.5) whose significand begins with the bits of the index; exactly 1
    on either side of 1."""
    found = []
    for k in range(INTERVALS):
        middle = (1 + (k + mp.mpf(1) / 2) / INTERVALS) / (2 if k >= INTERVALS // 2 else 1)
        found.append(mp.mpf(rounded(1 / middle)) if 0 < k < INTERVALS - 1 else mp.mpf(1))
    return found


def show(name: str, rows: Iterable[Iterable[mp.mpf]], comment: str) -> None:
    """Print a table of float32."""
    lines = []
    for row in rows:
        numbers = [spelled(value) for value in row]
        groups = [", ".join(numbers[k : k + 6]) for k in range(0, INTERVALS, 6)]
        lines.append("    {" + ",\n     ".join(groups) + "},")
    print(f"/* {comment} */")
    print(f"static const float {name}[{len(lines)}][{INTERVALS}] = {{\n" + "\n".join(lines) + "\n};\n")


def show_double(name: str, rows: Sequence[Sequence[mp.mpf]], comment: str) -> None:
    """Print a table of float64."""
    lines = []
    for row in rows:
        numbers = [float(value).hex() if value else "0" for value in row]
        groups = [", ".join(numbers[k : k + 4]) for k in range(0, len(numbers), 4)]
        lines.append("    {" + ",\n     ".join(groups) + "},")
    print(f"/* {comment} */")
    print(f"static const double {name}[{len(lines)}][{len(rows[0])}] = {{\n" + "\n".join(lines) + "\n};\n")


def logarithms() -> list[list[mp.mpf]]:
    """1 / m' for the numbers of [0.75, 1.5) by the four bits after their first, and log(m') in two parts, the first of
    which is a multiple of 2^-42, so that adding it to a multiple of log(2)'s upper part is exact."""
    rows: list[list[mp.mpf]] = [[], [], []]
    for k in range(16):
        middle = (1 + (k + mp.mpf(1) / 2) / 16) / (2 if k >= 8 else 1)
        inverse = mp.mpf(float(1 / middle)) if 0 < k < 15 else mp.mpf(1)
        value = -mp.log(inverse)
        upper = mp.nint(value * mp.mpf(2) ** 42) / mp.mpf(2) ** 42
        for row, number in zip(rows, (inverse, upper, value - upper), strict=True):
            row.append(number)
    return rows


def main() -> None:
    """Print the header with all tables."""
    print("/* Tables of avx512.h and avx512_f64.h. tools/fit_avx512.py computed them. */")
    print("#ifndef OPWEAVE_AVX512_TABLES_H\n#define OPWEAVE_AVX512_TABLES_H\n")
    powers = [mp.mpf(2) ** (mp.mpf(k) / INTERVALS) for k in range(INTERVALS)]
    show("ow_exp2_table", [powers], "2^(k / 32)")
    inverse = reciprocals()
    show(
        "ow_log_table",
        [inverse, [-mp.log(each) for each in inverse]],
        "1 / m for numbers m of [0.75, 1.5) by the five bits after their first, and log(m)",
    )
    show("ow_erf_table", centered(mp.erf, 17 / 128, 5), "erf(17 / 128 * k + t), coefficients of powers of t")
    show("ow_tanh_table", centered(mp.tanh, 75 / 256, 6), "tanh(75 / 256 * k + t), coefficients of powers of t")
    comment = "exp(y^2) erfc(y), coefficients of powers of the distance from the middles of eighths of octaves of 1 + y"
    show("ow_erfc_table", over_octaves(erfcx, 5), comment)
    show_double("ow_exp2_table_f64", [[mp.mpf(2) ** (mp.mpf(k) / 16) for k in range(16)]], "2^(k / 16)")
    comment = "1 / m for numbers m of [0.75, 1.5) by the four bits after their first, and log(m) in two parts"
    show_double("ow_log_table_f64", logarithms(), comment)
    print("#endif")


if __name__ == "__main__":
    main()
