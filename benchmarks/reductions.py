"""Reductions, scans and normalisations: `python benchmarks/reductions.py [PATTERN]`.

PATTERN selects rows by a part of their name. torch takes part when it is installed. Two threads each.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator

import measure
import numpy as np
from figures import Libraries, show
from shaping import on

Row = tuple[str, Callable[..., object], Callable[[np.ndarray], object] | None, float]

WHOLE: tuple[Row, ...] = (
    ("sum", lambda m, x: x.sum(), np.sum, 1.1),
    ("mean", lambda m, x: x.mean(), np.mean, 1.1),
    ("max", lambda m, x: x.max(), np.max, 1.1),
    ("any", lambda m, x: x.any(), np.any, 0.5),
    ("all", lambda m, x: x.all(), np.all, 0.5),
    ("argmax", lambda m, x: x.argmax(), np.argmax, 0.5),
    ("median", lambda m, x: x.median(), None, 0.5),
    ("var", lambda m, x: x.var(), lambda x: np.var(x, ddof=1), 0.8),
    ("std", lambda m, x: x.std(), lambda x: np.std(x, ddof=1), 0.8),
    ("cumsum", lambda m, x: x.cumsum(-1), lambda x: np.cumsum(x, -1), 0.8),
    ("logsumexp", lambda m, x: x.logsumexp(-1), None, 0.8),
    ("softmax", lambda m, x: x.softmax(-1), None, 0.8),
    ("log_softmax", lambda m, x: x.log_softmax(-1), None, 0.8),
)
"""Work, the call, NumPy's call, and the ratio to torch to reach on a million elements."""

ALONG: tuple[Row, ...] = (
    ("sum", lambda m, x, d: x.sum(d), np.sum, 0.8),
    ("mean", lambda m, x, d: x.mean(d), np.mean, 0.8),
    ("var", lambda m, x, d: x.var(d), lambda x, d: np.var(x, d, ddof=1), 0.8),
    ("max", lambda m, x, d: x.max(d), None, 0.8),
    ("argmax", lambda m, x, d: x.argmax(d), np.argmax, 0.8),
    ("any", lambda m, x, d: x.any(d), np.any, 0.8),
    ("cumsum", lambda m, x, d: x.cumsum(d), np.cumsum, 0.8),
    ("logsumexp", lambda m, x, d: x.logsumexp(d), None, 0.8),
    ("softmax", lambda m, x, d: x.softmax(d), None, 0.8),
)

# torch stops at the first element that decides; these are decided by none.
ZEROS, ONES = "any", "all"


def values(work: str, count: int) -> np.ndarray:
    if work in (ZEROS, ONES):
        return np.full(count, work == ONES, np.float32)
    return np.random.default_rng(0).standard_normal(count).astype(np.float32)


def whole(lib: Libraries) -> Iterator[measure.Figure]:
    for work, body, numpy, limit in WHOLE:
        for count in (4, 1_000_000, 10_000_000):
            if count == 10_000_000 and limit != 1.1:
                continue
            data = values(work, count)
            call = None if numpy is None else lambda f=numpy, x=data: f(x)
            yield from lib.run(f"{work} f32 {count:.0e}", on((data,), body), call, 0.5 if count == 4 else limit)


def along(lib: Libraries) -> Iterator[measure.Figure]:
    for work, body, numpy, limit in ALONG:
        data = values(work, 1_000_000).reshape(1000, 1000)
        for dim in (0, 1):
            call = None if numpy is None else lambda f=numpy, x=data, d=dim: f(x, d)
            make = on((data,), lambda m, x, b=body, d=dim: b(m, x, d))
            yield from lib.run(f"{work} f32 1000 x 1000, dim {dim}", make, call, limit)
        small = data[:2, :3].copy()
        call = None if numpy is None else lambda f=numpy, x=small: f(x, 1)
        make = on((small,), lambda m, x, b=body: b(m, x, 1))
        yield from lib.run(f"{work} f32 2 x 3, dim 1", make, call, 0.5)


def rows(lib: Libraries) -> Iterator[measure.Figure]:
    yield from whole(lib)
    yield from along(lib)


def main() -> None:
    show(list(rows(Libraries(" ".join(sys.argv[1:])))))


if __name__ == "__main__":
    main()
