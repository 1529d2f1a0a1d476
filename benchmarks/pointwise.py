"""Every elementwise operator of ops.yaml against torch and NumPy: seconds per call, by dtype and memory layout.

`python benchmarks/pointwise.py [NAME ...]` prints one row for each operator and dtype, with the ratios opweave / torch
for a million elements in several memory layouts and for four, and opweave / NumPy for a million contiguous ones where
NumPy has such a function; then the ten worst figures and the geometric means. `--dtypes` and `--layouts` choose some of
them. What takes longer than torch is measured again with more rounds: the best times of loops that are bound by memory
differ by a tenth from run to run, in both directions.
"""

from __future__ import annotations

import argparse
import math
import re
import warnings
from collections.abc import Callable, Iterator
from operator import attrgetter
from pathlib import Path
from typing import Any

import measure
import numpy as np
import opweave
import torch
from opweave.codegen import library
from opweave.codegen.model.operator import Elementwise, Operator
from opweave.codegen.model.variants import submodule_names

ROOT = Path(__file__).resolve().parent.parent
DTYPES = ("float32", "float64", "int32", "bfloat16", "float16", "complex64")
ROWS, COLUMNS = 1000, 1000
THREADS = 2
LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "contiguous": lambda x: x,
    "strided": lambda x: x[:, ::2],
    "transposed": lambda x: x.t(),
    "row": lambda x: x[:1].expand(x.shape),
    "column": lambda x: x[:, :1].expand(x.shape),
    "4 elements": lambda x: x[0, :4].clone(),
}
"""The changes that give the second operand its layout; the first has the layout too, unless it is a broadcast."""
NUMPY = "NumPy"


def path(operator: Operator) -> str:
    """Return the dotted name by which both libraries have the function."""
    if operator.module is None:
        return operator.name
    return ".".join(submodule_names(operator)[0])


def shared(names: list[str]) -> Iterator[Operator]:
    for operator in library.read(ROOT / "ops.yaml", "ops.yaml"):
        if isinstance(operator.body, Elementwise) and not operator.internal and (not names or operator.name in names):
            try:
                attrgetter(path(operator))(torch)
            except AttributeError:
                continue
            yield operator


def operands(operator: Operator, module: Any, dtype: str, layout: str, base: int = 0) -> list[Any]:
    """Values at which no function takes a short cut: in (0, 1) + base, those of activations in (-1, 1), or the integers
    from 1 to 7, which degrees of polynomials are too."""
    shift = 0.5 if any(module.startswith("nn") for module, _ in submodule_names(operator)) else 0
    found = []
    for place, argument in enumerate(operator.inputs):
        fixed = operator.body.fixed.get(argument.name)
        of = getattr(module, fixed.name if fixed else dtype)
        numbers = module.arange(ROWS * COLUMNS, dtype=module.int64)
        if dtype == "int32" or argument.name == "n":
            x = (numbers + 2 * place) % 7 + 1
        else:
            fractions = (numbers * (7919 + 2 * place) % 10007).to(module.float64) / 10011 + 0.0002
            x = base + (fractions - shift) * (1 + 2 * shift)
        x = x.reshape(ROWS, COLUMNS).to(of)
        x = x * (1 - 0.5j) if of.is_complex else x
        broadcast = layout in ("row", "column")
        found.append(x if broadcast and not place else LAYOUTS[layout](x))
    return found


def call(operator: Operator, module: Any, dtype: str, layout: str) -> Callable[[], object]:
    function = attrgetter(path(operator))(module)
    numbers = {param.name: 0.5 for param in operator.params if param.default is None}
    inputs = operands(operator, module, dtype, layout)
    if not of_numbers(function(*inputs, **numbers)):
        inputs = operands(operator, module, dtype, layout, base=1)
    return lambda: function(*inputs, **numbers)


def of_numbers(result: Any) -> bool:
    """Return True if most of them are numbers. 0.9998 may have been rounded to 1."""
    return isinstance(result, tuple) or int(result.isnan().sum()) < result.numel() // 2


def numpy_call(operator: Operator, dtype: str) -> Callable[[], object] | None:
    """The same work by NumPy, where one of its functions has the operator's name, or is its whole reference."""
    if any(param.default is None for param in operator.params) or dtype == "bfloat16":
        return None
    names = [operator.name, *operator.aliases, *re.findall(r"^np\.(\w+)$", operator.reference or "")]
    function = next((getattr(np, name) for name in names if hasattr(np, name)), None)
    if function is None:
        return None
    inputs = [x.numpy() for x in operands(operator, opweave, dtype, "contiguous")]
    return lambda: function(*inputs)


def ratios(operator: Operator, dtype: str, layouts: list[str], rounds: int) -> dict[str, float]:
    found = {}
    for layout in layouts:
        if layout in ("row", "column") and len(operator.inputs) < 2:
            continue
        try:
            calls = {each.__name__: call(operator, each, dtype, layout) for each in (opweave, torch)}
            if layout == "contiguous" and (same := numpy_call(operator, dtype)):
                calls["numpy"] = same
            for each in calls.values():
                each()
        except (RuntimeError, TypeError):
            continue  # one of the libraries does not have it
        seconds = measure.best(calls, rounds)
        if seconds["opweave"] > seconds["torch"]:
            seconds = measure.lower(seconds, measure.best(calls, measure.ROUNDS_AGAIN))
        found[layout] = seconds["opweave"] / seconds["torch"]
        if "numpy" in seconds:
            found[NUMPY] = seconds["opweave"] / seconds["numpy"]
    return found


def geometric_mean(values: list[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="operators; all of them by default")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--dtypes", nargs="+", default=DTYPES, choices=DTYPES)
    parser.add_argument("--layouts", nargs="+", default=list(LAYOUTS), choices=LAYOUTS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    opweave.set_num_threads(THREADS)
    torch.set_num_threads(THREADS)
    columns = [*options.layouts, NUMPY]
    every: dict[tuple[str, str, str], float] = {}
    print("| operator | dtype | " + " | ".join(columns) + " |\n|---|---|" + "---|" * len(columns))
    for operator in shared(options.names):
        for dtype in options.dtypes:
            found = ratios(operator, dtype, options.layouts, options.rounds)
            every |= {(operator.name, dtype, layout): ratio for layout, ratio in found.items()}
            if found:
                cells = " | ".join(f"{found[layout]:.2f}" if layout in found else "" for layout in columns)
                print(f"| {operator.name} | {dtype} | {cells} |", flush=True)
    print("\nworst against torch:")
    against_torch = {work: ratio for work, ratio in every.items() if work[2] != NUMPY}
    for (name, dtype, layout), ratio in sorted(against_torch.items(), key=lambda item: -item[1])[:10]:
        print(f"  {ratio:6.2f}  {name} {dtype} {layout}")
    for layout in columns:
        for dtype in options.dtypes:
            values = [ratio for (_, *of), ratio in every.items() if of == [dtype, layout]]
            if values:
                print(f"geometric mean, {layout}, {dtype}: {geometric_mean(values):.2f}, worst {max(values):.2f}")


if __name__ == "__main__":
    main()
