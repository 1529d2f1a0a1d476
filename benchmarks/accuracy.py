"""Largest error of the mathematical operators in units in the last place, over the whole range of their dtype.

`python benchmarks/accuracy.py [--step STEP] [--without NAME ...] [NAME ...]` prints the table of docs/accuracy.md:
every operator of ops.yaml that calls functions of the mathematics library, at every instruction-set level, but for
those of accuracy_special.py. float32 takes every STEP-th bit pattern and compares with the declared reference in
float64. float64 takes random bit patterns and values in [-40, 40], and compares in 80-bit extended precision where the
reference needs NumPy alone: nothing else has that format. Operators of several inputs take the same values in other
orders for those after the first. A star marks operators whose intermediate values may exceed the result (`magnitude` in
ops.yaml): the unit is that of the larger one.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import opweave
import scipy.special
from accuracy_special import CASES
from accuracy_table import AccuracyTable
from opweave.codegen import library
from opweave.codegen.dtypes import DTYPES
from opweave.codegen.expr import emit_c
from opweave.codegen.expr.kernel_text import is_inexact
from opweave.codegen.model.computation import argument_dtypes, default_numbers, result_dtype
from opweave.codegen.model.operator import Elementwise, Operator
from opweave.codegen.model.variants import submodule_names

ROOT = Path(__file__).resolve().parent.parent
WIDE = {"float32": np.float64, "float64": np.longdouble}


def mathematical(names: list[str], without: list[str]) -> Iterator[Operator]:
    """Elementwise operators with a reference whose float32 loop calls inexact functions."""
    float32 = DTYPES["float32"]
    for operator in library.read(ROOT / "ops.yaml", "ops.yaml"):
        body = operator.body
        if not isinstance(body, Elementwise) or operator.internal or operator.reference == "none":
            continue
        if (names and operator.name not in names) or operator.name in (*without, *CASES):
            continue
        if len(default_numbers(operator)) < len(operator.params):
            continue
        expression = body.expression(float32) if float32 in operator.compute_dtypes else None
        if expression is None:
            continue
        env, result = argument_dtypes(operator, body, float32), result_dtype(operator, float32)
        if is_inexact(emit_c(expression.tree, env, result)):
            yield operator


def samples(dtype: str, step: int, count: int) -> list[np.ndarray]:
    """`count` arrays of the same values, in different orders."""
    if dtype == "float32":
        values = np.arange(0, 1 << 32, step, dtype=np.uint64).astype(np.uint32).view(np.float32)
    else:
        half = (1 << 31) // step
        bits = np.random.default_rng(0).integers(0, 1 << 64, half, dtype=np.uint64)
        values = np.concatenate([bits.view(np.float64), np.random.default_rng(1).uniform(-40, 40, half)])
    return [values, *(np.random.default_rng(place).permutation(values) for place in range(1, count))]


def evaluated(text: str, operator: Operator, inputs: list[np.ndarray], dtype: str) -> np.ndarray:
    """An expression of the entry, in the wider format."""
    with np.errstate(all="ignore"):
        arguments: dict[str, Any] = {
            argument.name: values.astype(WIDE[dtype]) for argument, values in zip(operator.inputs, inputs, strict=True)
        }
        names = {"math": math, "np": np, "scipy": scipy, "tiny": WIDE[dtype](np.finfo(dtype).tiny)}
        value = eval(text, {**names, **arguments, **default_numbers(operator)})
        return np.asarray(value(*arguments.values()) if callable(value) else value)


def error_in_ulp(got: np.ndarray, wanted: np.ndarray, magnitude: np.ndarray) -> float:
    """Largest distance to the reference, in units in the last place of the result or of the largest intermediate value;
    inf on a wrong special. An infinite intermediate value forgives everything."""
    with np.errstate(all="ignore"):
        rounded = wanted.astype(got.dtype)
    forgiven = np.isinf(magnitude)
    special_cases = (~np.isfinite(rounded) | ~np.isfinite(got)) & ~forgiven
    same = (np.isnan(got) & np.isnan(rounded)) | (got == rounded)
    # A result on the edge of overflow may round either way.
    limit = np.finfo(got.dtype).max
    edge = special_cases & ~same & (np.abs(wanted) > limit * 0.999999)
    if np.any(special_cases & ~same & ~edge):
        return float("inf")
    finite = ~special_cases & ~forgiven
    with np.errstate(all="ignore"):
        size = np.fmin(np.fmax(np.abs(wanted[finite]), magnitude[finite]), limit).astype(got.dtype)
        spacing = np.maximum(np.spacing(size), np.finfo(got.dtype).smallest_subnormal)
        distance = np.abs(got[finite].astype(wanted.dtype) - wanted[finite]) / spacing.astype(wanted.dtype)
    return float(distance.max(initial=0))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="operators; all of them by default")
    parser.add_argument("--step", type=int, default=2003, help="distance of the bit patterns that are tried")
    parser.add_argument("--without", nargs="+", default=[], help="operators to leave out")
    options = parser.parse_args()
    table = AccuracyTable()
    for operator in mathematical(options.names, options.without):
        path = ".".join(submodule_names(operator)[0]) if operator.module else operator.name
        function = attrgetter(path)(opweave)
        for dtype in WIDE:
            inputs = samples(dtype, options.step, len(operator.inputs))
            text = operator.reference or f"np.{operator.name}"
            if dtype == "float64" and ("scipy" in text or "math." in text):
                continue
            wanted = evaluated(text, operator, inputs, dtype)
            magnitude = np.broadcast_to(evaluated(operator.error_scale or "0", operator, inputs, dtype), wanted.shape)
            errors = [
                error_in_ulp(function(*map(opweave.from_numpy, inputs)).numpy(), wanted, np.abs(magnitude))
                for _ in table.each_level()
            ]
            table.row(operator.name, dtype, errors, starred=operator.error_scale is not None)


if __name__ == "__main__":
    main()
