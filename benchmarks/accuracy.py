"""Largest error of the mathematical operators in units in the last place, over the whole range of float32.

`python benchmarks/accuracy.py [STEP]` takes every STEP-th bit pattern (default 61) of float32 and random float64 values
of all exponents, at every instruction-set level, and prints the table of docs/accuracy.md. References are computed in
float64 (for float32) and 80-bit extended precision (for float64) by NumPy, that of erf by SciPy.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np
import opweave
from opweave._C import lib
from scipy import special

LEVELS = ("x86-64", "x86-64-v3", "x86-64-v4")

Reference = Callable[[np.ndarray], np.ndarray]
REFERENCES: dict[str, Reference] = {
    "exp": np.exp,
    "log": np.log,
    "sqrt": np.sqrt,
    "sin": np.sin,
    "cos": np.cos,
    "tanh": np.tanh,
    "erf": special.erf,
    "sigmoid": lambda x: np.where(x < 0, np.exp(-np.abs(x)), 1) / (1 + np.exp(-np.abs(x))),
}


def float32_patterns(step: int) -> np.ndarray:
    bits = np.arange(0, 1 << 32, step, dtype=np.uint64).astype(np.uint32)
    return bits.view(np.float32)


def float64_samples(count: int) -> np.ndarray:
    bits = np.random.default_rng(0).integers(0, 1 << 64, count, dtype=np.uint64)
    moderate = np.random.default_rng(1).uniform(-40, 40, count)
    return np.concatenate([bits.view(np.float64), moderate])


def error_in_ulp(got: np.ndarray, wanted: np.ndarray) -> float:
    """Largest distance to the reference, in units in the last place of the result's dtype; inf on a wrong special."""
    rounded = wanted.astype(got.dtype)
    special_cases = ~np.isfinite(rounded) | ~np.isfinite(got)
    same = (np.isnan(got) & np.isnan(rounded)) | (got == rounded)
    # A result on the edge of overflow may round either way.
    limit = np.finfo(got.dtype).max
    edge = special_cases & ~same & (np.abs(wanted) > limit * 0.999999)
    if np.any(special_cases & ~same & ~edge):
        return float("inf")
    finite = ~special_cases
    with np.errstate(all="ignore"):
        spacing = np.maximum(np.spacing(np.abs(rounded[finite])), np.finfo(got.dtype).smallest_subnormal)
        distance = np.abs(got[finite].astype(wanted.dtype) - wanted[finite]) / spacing.astype(wanted.dtype)
    return float(distance.max(initial=0))


def main() -> None:
    step = int(sys.argv[1]) if len(sys.argv) > 1 else 61
    inputs = {"float32": float32_patterns(step), "float64": float64_samples(2_000_000)}
    wide = {"float32": np.float64, "float64": np.longdouble}
    levels = [level for level in range(len(LEVELS)) if lib.set_level(level)]
    print("| operator | dtype | " + " | ".join(LEVELS[level] for level in levels) + " |")
    print("|---|---|" + "---|" * len(levels))
    for name, reference in REFERENCES.items():
        for dtype, values in inputs.items():
            if name == "erf" and dtype == "float64":
                wanted = special.erf(values)  # scipy has no wider one; its own error is below 1 ULP
            else:
                with np.errstate(all="ignore"):
                    wanted = reference(values.astype(wide[dtype]))
            row = []
            for level in levels:
                lib.set_level(level)
                row.append(f"{error_in_ulp(getattr(opweave, name)(opweave.from_numpy(values)).numpy(), wanted):.2f}")
            print(f"| {name} | {dtype} | " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()
