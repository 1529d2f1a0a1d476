"""Joins, copies in another order, sorting and contractions: `python benchmarks/shaping.py [PATTERN]`.

PATTERN selects rows by a part of their name. torch takes part when it is installed. Two threads each.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator

import measure
import numpy as np
from figures import Libraries, show

GRAYSCALE = "...chw,c->...hw"


def on(arrays: tuple[np.ndarray, ...], body: Callable[..., object]) -> Callable[[object], Callable[[], object]]:
    """Makes the call of a library on tensors of these values."""

    def make(library: object) -> Callable[[], object]:
        tensors = [library.from_numpy(array.copy()) for array in arrays]  # type: ignore[attr-defined]
        return lambda: body(library, *tensors)

    return make


def small(lib: Libraries) -> Iterator[measure.Figure]:
    """Yield the times of calls with few elements: of a call by itself."""
    grid = np.arange(6, dtype=np.float32).reshape(2, 3)
    for work, body, numpy in (
        ("cat", lambda m, x: m.cat((x, x)), lambda: np.concatenate((grid, grid))),
        ("stack", lambda m, x: m.stack((x, x)), lambda: np.stack((grid, grid))),
        ("flip", lambda m, x: x.flip(0), lambda: np.flip(grid, 0).copy()),
        ("roll", lambda m, x: x.roll(1, 0), lambda: np.roll(grid, 1, 0)),
        ("repeat", lambda m, x: x.repeat(2, 2), lambda: np.tile(grid, (2, 2))),
        ("sort", lambda m, x: x.sort(), lambda: np.sort(grid)),
        ("argsort", lambda m, x: x.argsort(), lambda: np.argsort(grid)),
        ("topk", lambda m, x: x.topk(2), None),
        ("einsum ij,kj", lambda m, x: m.einsum("ij,kj->ik", x, x), lambda: np.einsum("ij,kj->ik", grid, grid)),
    ):
        yield from lib.run(f"{work}, 6 elements", on((grid,), body), numpy, 0.5)


def copies(lib: Libraries) -> Iterator[measure.Figure]:
    grid = np.random.default_rng(0).random((1000, 1000), np.float32)
    for work, body, numpy in (
        ("cat 2 x 1e6, dim 0", lambda m, x: m.cat((x, x)), lambda: np.concatenate((grid, grid))),
        ("cat 2 x 1e6, dim 1", lambda m, x: m.cat((x, x), 1), lambda: np.concatenate((grid, grid), 1)),
        ("stack 2 x 1e6", lambda m, x: m.stack((x, x)), lambda: np.stack((grid, grid))),
        ("stack 2 x 1e6, last", lambda m, x: m.stack((x, x), -1), lambda: np.stack((grid, grid), -1)),
        ("flip 1e6, dim 0", lambda m, x: x.flip(0), lambda: np.flip(grid, 0).copy()),
        ("flip 1e6, dim 1", lambda m, x: x.flip(1), lambda: np.flip(grid, 1).copy()),
        ("roll 1e6", lambda m, x: x.roll(7, 1), lambda: np.roll(grid, 7, 1)),
        ("repeat 1e6 x 2 x 2", lambda m, x: x.repeat(2, 2), lambda: np.tile(grid, (2, 2))),
        ("repeat_interleave 1e6", lambda m, x: x.repeat_interleave(2, 0), lambda: np.repeat(grid, 2, 0)),
    ):
        yield from lib.run(work, on((grid,), body), numpy, 1.0)


def order(lib: Libraries) -> Iterator[measure.Figure]:
    values = np.random.default_rng(0).standard_normal(1_000_000).astype(np.float32)
    for work, body, numpy in (
        ("sort", lambda m, x: x.sort(), lambda: np.sort(values)),
        ("argsort", lambda m, x: x.argsort(), lambda: np.argsort(values)),
        ("topk 10", lambda m, x: x.topk(10), lambda: np.partition(values, -10)[-10:]),
        ("topk 1000", lambda m, x: x.topk(1000), lambda: np.partition(values, -1000)[-1000:]),
    ):
        yield from lib.run(f"{work}, f32 1e6", on((values,), body), numpy, 0.3)
    lines = (values.reshape(1000, 1000),)
    yield from lib.run("sort, f32 1000 lines", on(lines, lambda m, x: x.sort()), lambda: np.sort(lines[0]), 0.3)
    first = on(lines, lambda m, x: x.topk(10))
    yield from lib.run("topk 10, f32 1000 lines", first, lambda: np.partition(lines[0], -10)[:, -10:], 1.0)
    wide = (values.astype(np.float64),)
    yield from lib.run("sort, f64 1e6", on(wide, lambda m, x: x.sort()), lambda: np.sort(wide[0]), 0.3)


def contractions(lib: Libraries) -> Iterator[measure.Figure]:
    images = np.random.default_rng(0).random((32, 3, 512, 512), np.float32)
    weights = np.array([0.299, 0.587, 0.114], np.float32)
    make = on((images, weights), lambda m, x, w: m.einsum(GRAYSCALE, x, w))
    yield from lib.run(f"einsum {GRAYSCALE}", make, lambda: np.einsum(GRAYSCALE, images, weights), 0.2)
    a, b = (np.random.default_rng(k).random((8, 256, 256), np.float32) for k in (1, 2))
    make = on((a, b), lambda m, x, y: m.einsum("bij,bjk->bik", x, y))
    yield from lib.run("einsum bij,bjk->bik", make, lambda: np.matmul(a, b), 1.0)


def rows(lib: Libraries) -> Iterator[measure.Figure]:
    for group in (small, copies, order, contractions):
        yield from group(lib)


def main() -> None:
    show(list(rows(Libraries(" ".join(sys.argv[1:])))))


if __name__ == "__main__":
    main()
