"""Time over size for twenty operators, and what a library costs before its first call: `python benchmarks/sizes.py`.

`python benchmarks/report.py sizes imports` writes the figures to docs/performance.json, of which the site draws curves.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import distribution
from math import isqrt
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import figures
import measure
import numpy as np

ROOT = Path(__file__).resolve().parents[1]
SIZES = tuple(10**power for power in range(1, 7))
Body = Callable[[Any, Any, Any], object]
"""A call of a library's function with two operands."""

OPERATORS: Mapping[str, tuple[Body, Body | None]] = {
    "add": (lambda m, x, y: m.add(x, y), lambda m, x, y: m.add(x, y)),
    "mul": (lambda m, x, y: m.mul(x, y), lambda m, x, y: m.multiply(x, y)),
    "div": (lambda m, x, y: m.div(x, y), lambda m, x, y: m.divide(x, y)),
    "pow": (lambda m, x, y: m.pow(x, y), lambda m, x, y: m.power(x, y)),
    "exp": (lambda m, x, y: m.exp(x), lambda m, x, y: m.exp(x)),
    "log": (lambda m, x, y: m.log(x), lambda m, x, y: m.log(x)),
    "sin": (lambda m, x, y: m.sin(x), lambda m, x, y: m.sin(x)),
    "tanh": (lambda m, x, y: m.tanh(x), lambda m, x, y: m.tanh(x)),
    "sqrt": (lambda m, x, y: m.sqrt(x), lambda m, x, y: m.sqrt(x)),
    "where": (lambda m, x, y: m.where(x < y, x, y), lambda m, x, y: m.where(x < y, x, y)),
    "sum": (lambda m, x, y: m.sum(x), lambda m, x, y: m.sum(x)),
    "max": (lambda m, x, y: m.max(x), lambda m, x, y: m.max(x)),
    "argmax": (lambda m, x, y: m.argmax(x), lambda m, x, y: m.argmax(x)),
    "var": (lambda m, x, y: m.var(x), lambda m, x, y: m.var(x)),
    "cumsum": (lambda m, x, y: m.cumsum(x, 0), lambda m, x, y: m.cumsum(x, 0)),
    "sort": (lambda m, x, y: m.sort(x), lambda m, x, y: m.sort(x)),
    "softmax": (lambda m, x, y: m.softmax(x, 0), None),
    "cat": (lambda m, x, y: m.cat((x, y)), lambda m, x, y: m.concatenate((x, y))),
    "gather": (lambda m, x, y: m.take(x, (y * 0).long()), lambda m, x, y: m.take(x, (y * 0).astype(np.int64))),
    "matmul": (lambda m, x, y: m.matmul(x, y), lambda m, x, y: m.matmul(x, y)),
}
"""Calls of each operator: of opweave and torch, and of NumPy, None where it has none."""


def rows(lib: figures.Libraries) -> Iterator[measure.Figure]:
    """Yield a figure for each operator and size, with one thread; matrices have about so many elements each."""
    lib.use(1)
    for name, (body, numpy) in OPERATORS.items():
        for size in SIZES:
            shape = (isqrt(size),) * 2 if name == "matmul" else (size,)
            first, second = np.random.default_rng(0).uniform(0.5, 2, (2, *shape)).astype(np.float32)

            def make(library: Any, body: Body = body, first: Any = first, second: Any = second) -> Callable[[], object]:
                x, y = library.from_numpy(first.copy()), library.from_numpy(second.copy())
                return lambda: body(library, x, y)

            call = numpy and (lambda numpy=numpy, x=first, y=second: numpy(np, x, y))
            yield from lib.run(f"{name} {size:.0e}", make, call, None)


# ---- before the first call ----------------------------------------------------------------------------------

LIBRARIES = ("opweave", "torch", "numpy")


def imports(lib: figures.Libraries) -> Iterator[measure.Figure]:
    """Yield the time of an import, in processes that take turns, less that of an interpreter that imports nothing."""
    programs = {"nothing": "pass", **{name: f"import {name}" for name in LIBRARIES}}
    found = dict.fromkeys(programs, float("inf"))
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, **_unpacked(folder)}
        for _ in range(3 * lib.rounds):
            for name, program in programs.items():
                found[name] = min(found[name], _seconds(program, environment))
    yield measure.Figure("import", {name: found[name] - found["nothing"] for name in LIBRARIES})


def _seconds(program: str, environment: Mapping[str, str]) -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", program], check=True, env=environment)
    return time.perf_counter() - began


def installed() -> Mapping[str, float]:
    """Megabytes of the files that a wheel of each library installs, without what it depends on."""
    with ZipFile(_wheel()) as wheel:
        found = {"opweave": sum(each.file_size for each in wheel.infolist())}
    for name in LIBRARIES[1:]:
        files = [path for path in distribution(name).files or () if path.suffix != ".pyc"]  # pip writes these
        found[name] = sum(Path(str(path.locate())).stat().st_size for path in files)
    return {name: size / 1e6 for name, size in found.items()}


def _wheel() -> Path:
    """The newest wheel of opweave: an editable installation has one instruction-set level, and looks for changes."""
    wheels = sorted(ROOT.glob("dist/opweave-*.whl"), key=lambda path: path.stat().st_mtime)
    return wheels[-1] if wheels else sys.exit("there is no wheel in dist/: pip install build && python -m build")


def _unpacked(folder: str) -> Mapping[str, str]:
    """Variables by which processes import the files of the wheel, before those of an editable installation."""
    with ZipFile(_wheel()) as wheel:
        wheel.extractall(folder)
    return {"PYTHONPATH": folder, "MESONPY_EDITABLE_SKIP": os.pathsep.join(map(str, ROOT.glob("build/cp*")))}


if __name__ == "__main__":
    figures.show([*rows(figures.Libraries(" ".join(sys.argv[1:])))])
