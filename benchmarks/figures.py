"""The table of figures: `python benchmarks/figures.py [PATTERN]`, ratios of opweave to torch and NumPy.

PATTERN selects rows by a part of their name. torch takes part when it is installed. Two threads each. What misses its
limit is measured again with more rounds and with operands in other memory, for all libraries alike: loops over what
the caches just hold take up to a third longer or shorter as physical pages happen to lie.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from math import exp, log

import measure
import numpy as np
import opweave
from rich.console import Console
from rich.markup import escape
from rich.table import Table

try:
    import torch
except ImportError:
    torch = None

THREADS = 2
Make = Callable[[object], Callable[[], object]]


class Libraries:
    """Runs one piece of work in every library that can do it."""

    def __init__(self, pattern: str = "", rounds: int = measure.ROUNDS) -> None:
        self.pattern = pattern
        self.rounds = rounds
        self.use(THREADS)

    def use(self, threads: int) -> None:
        """Have every library compute with so many threads; of NumPy's work only products of matrices have several."""
        self.threads = threads
        opweave.set_num_threads(threads)
        if torch is not None:
            torch.set_num_threads(threads)

    def run(
        self, work: str, make: Make, numpy: Callable[[], object] | None, limit: float | None, against: str = "torch"
    ) -> Iterator[measure.Figure]:
        if self.pattern not in work:
            return
        calls = self.calls(make, numpy)
        figure = measure.Figure(work, measure.best(calls, self.rounds), limit, against)
        if figure.reached is False:
            others = self.calls(make, numpy)  # in other memory, as the first operands are still there
            seconds = measure.lower(figure.seconds, measure.best(others, measure.ROUNDS_AGAIN))
            figure = measure.Figure(work, seconds, limit, against)
        yield figure

    def calls(self, make: Make, numpy: Callable[[], object] | None) -> dict[str, Callable[[], object]]:
        calls = {"opweave": make(opweave)}
        if torch is not None:
            calls["torch"] = make(torch)
        if numpy is not None:
            calls["numpy"] = numpy
        return calls


def small(lib: Libraries) -> Iterator[measure.Figure]:
    """Calls on four elements: what a call costs by itself."""
    a, b, c, d = (np.arange(4, dtype=np.float32) + k for k in range(4))

    def pair(body: Callable[..., object]) -> Make:
        def make(library: object) -> Callable[[], object]:
            x, y, z = (library.from_numpy(v.copy()).clone() for v in (a, b, c))  # type: ignore[attr-defined]
            return lambda: body(library, x, y, z)

        return make

    yield from lib.run("a + b, 4 elements", pair(lambda m, x, y, z: x + y), lambda: a + b, 0.30)
    yield from lib.run("a + b, 4 elements (NumPy)", pair(lambda m, x, y, z: x + y), lambda: a + b, 1.2, "numpy")
    yield from lib.run("a + 1, 4 elements", pair(lambda m, x, y, z: x + 1), lambda: a + 1, 0.30)
    yield from lib.run("a.add_(b), 4 elements", pair(lambda m, x, y, z: x.add_(y)), lambda: np.add(d, b, out=d), 0.30)
    yield from lib.run(
        "add(a, b, out=c), 4 elements", pair(lambda m, x, y, z: m.add(x, y, out=z)), lambda: np.add(a, b, out=c), 0.30
    )
    yield from lib.run("exp(a), 4 elements", pair(lambda m, x, y, z: m.exp(x)), lambda: np.exp(a), 0.30)


def views(lib: Libraries) -> Iterator[measure.Figure]:
    grid = np.zeros((2, 3), np.float32)

    def one(body: Callable[[object], object]) -> Make:
        def make(library: object) -> Callable[[], object]:
            x = library.from_numpy(grid).clone()  # type: ignore[attr-defined]
            return lambda: body(x)

        return make

    for work, body, numpy in (
        ("x.view(6)", lambda x: x.view(6), lambda: grid.reshape(6)),
        ("x.t()", lambda x: x.t(), lambda: grid.T),
        ("x.select(0, 1)", lambda x: x.select(0, 1), None),
        ("x[1]", lambda x: x[1], lambda: grid[1]),
        ("x[0:1]", lambda x: x[0:1], lambda: grid[0:1]),
        ("x.unsqueeze(0)", lambda x: x.unsqueeze(0), lambda: grid[None]),
    ):
        yield from lib.run(work, one(body), numpy, 0.5)


MATHEMATICS = ("exp", "log", "sin", "cos", "tanh", "erf", "sigmoid")


def mathematics(lib: Libraries) -> Iterator[measure.Figure]:
    for size in (100_000, 1_000_000):
        data = np.random.default_rng(0).uniform(0.1, 4, size).astype(np.float32)
        for name in MATHEMATICS:

            def make(library: object, name: str = name, data: np.ndarray = data) -> Callable[[], object]:
                x = library.from_numpy(data)  # type: ignore[attr-defined]
                function = getattr(library, name)
                return lambda: function(x)

            numpy = getattr(np, name, None)
            yield from lib.run(f"{name} f32 {size:.0e}", make, (lambda f=numpy, d=data: f(d)) if numpy else None, 0.6)


DTYPES = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64")


def elementwise(lib: Libraries) -> Iterator[measure.Figure]:
    size = 100_000
    bits = np.random.default_rng(1).integers(0, 100, size)
    mask = bits > 50
    for dtype in DTYPES:

        def operands(library: object, dtype: str = dtype) -> tuple[object, object, object]:
            x = library.from_numpy(bits).to(getattr(library, dtype))  # type: ignore[attr-defined]
            y = library.from_numpy(bits[::-1].copy()).to(getattr(library, dtype))  # type: ignore[attr-defined]
            return x, y, library.from_numpy(mask)  # type: ignore[attr-defined]

        for name in ("add", "mul", "lt", "where"):

            def make(library: object, name: str = name, operands: Callable = operands) -> Callable[[], object]:
                x, y, m = operands(library)
                function = getattr(library, name)
                return (lambda: function(m, x, y)) if name == "where" else (lambda: function(x, y))

            yield from lib.run(f"{name} {dtype} 1e5", make, None, 1.0)
        for target in DTYPES:
            if target == dtype:
                continue

            def convert(library: object, target: str = target, operands: Callable = operands) -> Callable[[], object]:
                x = operands(library)[0]
                to = getattr(library, target)
                return lambda: x.to(to)

            yield from lib.run(f"cast {dtype} to {target} 1e5", convert, None, 1.0)


def large(lib: Libraries) -> Iterator[measure.Figure]:
    data = np.random.default_rng(2).standard_normal(10_000_000, dtype=np.float32)

    def on(shape: tuple[int, ...], body: Callable[..., object]) -> Make:
        count = int(np.prod(shape))

        def make(library: object) -> Callable[[], object]:
            x = library.from_numpy(data[:count].reshape(shape).copy())  # type: ignore[attr-defined]
            y = x + 1
            return lambda: body(library, x, y)

        return make

    million = data[:1_000_000]
    yield from lib.run("sum f32 1e6", on((1_000_000,), lambda m, x, y: x.sum()), lambda: million.sum(), 1.1)
    yield from lib.run("a + b, fresh result, 1e7", on((10_000_000,), lambda m, x, y: x + y), lambda: data + data, 0.35)
    big = np.zeros((4000, 4000), np.float32)

    def transposed(library: object) -> Callable[[], object]:
        x = library.from_numpy(big).t()  # type: ignore[attr-defined]
        return lambda: x.contiguous()

    yield from lib.run("transposed copy 4000 x 4000", transposed, lambda: np.ascontiguousarray(big.T), 0.5)
    square = data[:1_000_000].reshape(1000, 1000)
    yield from lib.run("mm f32 1000 x 1000", on((1000, 1000), lambda m, x, y: m.mm(x, y)), lambda: square @ square, 0.6)


def show(figures: list[measure.Figure]) -> None:
    peers = list(dict.fromkeys(name for each in figures for name in each.seconds if name != "opweave"))
    table = Table("work", "opweave", *peers, *(f"/ {name}" for name in peers), "to reach", "")
    for figure in figures:
        ratios = [figure.ratio(name) for name in peers]
        table.add_row(
            escape(figure.work),
            *(seconds_text(figure.seconds.get(name)) for name in ("opweave", *peers)),
            *("" if ratio is None else f"{ratio:.2f}" for ratio in ratios),
            "" if figure.limit is None else f"{figure.limit:.2f} x {figure.against}",
            {True: "ok", False: "[bold red]missed", None: ""}[figure.reached],
        )
    console = Console(width=None if sys.stdout.isatty() else 130)
    console.print(table)
    rows = tuple(f"{name} f32 " for name in MATHEMATICS)
    mathematical = [r for f in figures if f.work.startswith(rows) and (r := f.ratio("torch"))]
    if mathematical:
        mean = exp(sum(map(log, mathematical)) / len(mathematical))
        console.print(f"geometric mean of the f32 mathematics against torch: {mean:.2f} (to reach: 0.40)")
    missed = [figure for figure in figures if figure.reached is False]
    console.print(f"{len(figures)} figures, {len(missed)} missed")


def seconds_text(value: float | None) -> str:
    if value is None:
        return ""
    for unit, scale in (("ns", 1e9), ("us", 1e6), ("ms", 1e3)):
        if value * scale < 1000:
            return f"{value * scale:.3g} {unit}"
    return f"{value:.3g} s"


def rows(lib: Libraries) -> Iterator[measure.Figure]:
    for group in (small, views, mathematics, elementwise, large):
        yield from group(lib)


def main() -> None:
    show(list(rows(Libraries(" ".join(sys.argv[1:])))))


if __name__ == "__main__":
    main()
