"""Matrix products and random numbers: `python benchmarks/products.py [PATTERN]`.

PATTERN selects rows by a part of their name. torch takes part when it is installed. Two threads each.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator

import measure
import numpy as np
from figures import Libraries, show
from shaping import on


def products(lib: Libraries) -> Iterator[measure.Figure]:
    random = np.random.default_rng(0)
    for size in (4, 256, 1000, 2000):
        a = random.random((size, size), np.float32)
        limit = 0.5 if size == 4 else 0.6
        work = f"matmul f32 {size} x {size}"
        yield from lib.run(work, on((a, a), lambda m, x, y: x @ y), lambda a=a: a @ a, limit)
        if size > 4:
            yield from lib.run(f"{work} (NumPy)", on((a, a), lambda m, x, y: x @ y), lambda a=a: a @ a, 1.05, "numpy")
    batch = random.random((64, 64, 64), np.float32)
    yield from lib.run("bmm f32 64 x 64 x 64", on((batch, batch), lambda m, x, y: m.bmm(x, y)), None, 0.8)


def draws(lib: Libraries) -> Iterator[measure.Figure]:
    for work, body, numpy, limit in (
        ("rand 1e7", lambda m: m.rand(10_000_000), lambda r: r.random(10_000_000, np.float32), 0.5),
        ("randn 1e7", lambda m: m.randn(10_000_000), lambda r: r.standard_normal(10_000_000, np.float32), 0.7),
        ("randperm 1e6", lambda m: m.randperm(1_000_000), lambda r: r.permutation(1_000_000), 1.0),
        ("randint 1e6", lambda m: m.randint(10, (1_000_000,)), lambda r: r.integers(10, size=1_000_000), 1.0),
    ):
        generator = np.random.default_rng(0)

        def make(library: object, body: Callable[[object], object] = body) -> Callable[[], object]:
            return lambda: body(library)

        yield from lib.run(work, make, lambda f=numpy, r=generator: f(r), limit)


def rows(lib: Libraries) -> Iterator[measure.Figure]:
    yield from products(lib)
    yield from draws(lib)


def main() -> None:
    show(list(rows(Libraries(" ".join(sys.argv[1:])))))


if __name__ == "__main__":
    main()
