"""Linear algebra, small matrices, batches and large ones: `python benchmarks/linalg.py [PATTERN]`.

PATTERN selects rows by a part of their name. torch takes part when it is installed. Two threads each.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator

import measure
import numpy as np
from figures import Libraries, show

Array = np.ndarray
CALLS: tuple[tuple[str, Callable[..., object], Callable[[Array], object] | None], ...] = (
    ("solve", lambda m, a: m.linalg.solve(a, a), lambda a: np.linalg.solve(a, a)),
    ("inv", lambda m, a: m.linalg.inv(a), np.linalg.inv),
    ("det", lambda m, a: m.linalg.det(a), np.linalg.det),
    ("qr", lambda m, a: m.linalg.qr(a), np.linalg.qr),
    ("cholesky", lambda m, a: m.linalg.cholesky(a), np.linalg.cholesky),
    ("lu_factor", lambda m, a: m.linalg.lu_factor(a), None),
    ("eigh", lambda m, a: m.linalg.eigh(a), np.linalg.eigh),
    ("eigvalsh", lambda m, a: m.linalg.eigvalsh(a), np.linalg.eigvalsh),
    ("eig", lambda m, a: m.linalg.eig(a), np.linalg.eig),
    ("svd", lambda m, a: m.linalg.svd(a), np.linalg.svd),
    ("svdvals", lambda m, a: m.linalg.svdvals(a), lambda a: np.linalg.svd(a, compute_uv=False)),
    ("lstsq", lambda m, a: m.linalg.lstsq(a, a[:, :2]), None),
    ("pinv", lambda m, a: m.linalg.pinv(a), np.linalg.pinv),
    ("matrix_exp", lambda m, a: m.linalg.matrix_exp(a), None),
    ("solve_triangular", lambda m, a: m.linalg.solve_triangular(a, a, upper=True), None),
)


def matrix(shape: tuple[int, ...], dtype: str) -> Array:
    """Positive definite, so that every function takes it."""
    square = np.random.default_rng(0).standard_normal(shape)
    return (square @ square.swapaxes(-1, -2) / shape[-1] + np.eye(shape[-1])).astype(dtype)


def of_shape(lib: Libraries, shape: tuple[int, ...], dtype: str, limit: float | None) -> Iterator[measure.Figure]:
    values = matrix(shape, dtype)
    size = " x ".join(map(str, shape))
    for name, body, numpy in CALLS:
        if len(shape) > 2 and name == "lstsq":
            continue

        def make(library: object, body: Callable[..., object] = body) -> Callable[[], object]:
            tensor = library.from_numpy(values.copy())  # type: ignore[attr-defined]
            return lambda: body(library, tensor)

        known = (lambda numpy=numpy: numpy(values)) if numpy else None
        yield from lib.run(f"{name}, {dtype} {size}", make, known, limit)


SIZES = (((4, 4), 1.0), ((1000, 4, 4), None), ((32, 32), None), ((300, 300), 1.2), ((500, 500), 1.2))
"""Shapes of the matrices, and the ratio to torch to reach."""


def rows(lib: Libraries) -> Iterator[measure.Figure]:
    for shape, limit in SIZES:
        for dtype in ("float32", "float64"):
            yield from of_shape(lib, shape, dtype, limit)


def main() -> None:
    show(list(rows(Libraries(" ".join(sys.argv[1:])))))


if __name__ == "__main__":
    main()
