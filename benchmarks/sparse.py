"""Sparse tensors beside torch's and SciPy's matrices, which stand in NumPy's place.

    python benchmarks/sparse.py [PATTERN]

PATTERN selects rows by a part of their name. torch takes part when it is installed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import measure
import numpy as np
import scipy.sparse
from figures import Libraries, show

SIZE, DENSITY, COLUMNS = 10_000, 1e-3, 64
ENTRIES = 1_000_000


def rows(lib: Libraries) -> Iterator[measure.Figure]:
    random = np.random.default_rng(0)
    count = int(SIZE * SIZE * DENSITY)
    places = random.integers(0, SIZE, (2, count))
    values = random.standard_normal(count).astype(np.float32)
    matrix = scipy.sparse.coo_array((values, tuple(places)), (SIZE, SIZE)).tocsr()
    dense = random.standard_normal((SIZE, COLUMNS)).astype(np.float32)

    def compressed(library: Any) -> Any:
        parts = (matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), matrix.data)
        return library.sparse_csr_tensor(*map(library.from_numpy, parts), size=matrix.shape)

    def product(other: Any) -> Callable[[Any], Callable[[], Any]]:
        def make(library: Any) -> Callable[[], Any]:
            left, right = compressed(library), library.from_numpy(other)
            return lambda: left @ right

        return make

    def sampled(library: Any) -> Callable[[], Any]:
        pattern, left = compressed(library), library.from_numpy(dense)
        return lambda: library.sparse.sampled_addmm(pattern, left, left.T, beta=0.0)

    def squared(library: Any) -> Callable[[], Any]:
        left = compressed(library)
        return lambda: left @ left

    yield from lib.run("csr @ dense, 64 columns", product(dense), lambda: matrix @ dense, 0.8)
    yield from lib.run("csr @ vector", product(dense[:, 0].copy()), lambda: matrix @ dense[:, 0], 0.8)
    yield from lib.run("elements of a product", sampled, None, None)
    yield from lib.run("csr @ csr", squared, lambda: matrix @ matrix, None)

    many = random.integers(0, 3000, (2, ENTRIES))
    numbers = random.standard_normal(ENTRIES).astype(np.float32)

    def coalesced(library: Any) -> Callable[[], Any]:
        parts = library.from_numpy(many), library.from_numpy(numbers)
        return lambda: library.sparse_coo_tensor(*parts, (3000, 3000), check_invariants=False).coalesce()

    def summed() -> Any:
        found = scipy.sparse.coo_array((numbers, tuple(many)), (3000, 3000))
        found.sum_duplicates()
        return found

    yield from lib.run("coalesce 1e6 entries", coalesced, summed, 0.7)

    def converted(method: str, *before: str) -> Callable[[Any], Callable[[], Any]]:
        def make(library: Any) -> Callable[[], Any]:
            given = compressed(library)
            for each in before:
                given = getattr(given, each)()
            return getattr(given, method)  # type: ignore[no-any-return]

        return make

    coordinates = matrix.tocoo()
    yield from lib.run("coo to csr", converted("to_sparse_csr", "to_sparse_coo"), coordinates.tocsr, None)
    yield from lib.run("csr to coo", converted("to_sparse_coo"), matrix.tocoo, None)
    yield from lib.run("csr to csc", converted("to_sparse_csc"), matrix.tocsc, 0.7)
    yield from lib.run("coo to dense", converted("to_dense", "to_sparse_coo"), coordinates.toarray, None)


if __name__ == "__main__":
    show(list(rows(Libraries(*sys.argv[1:2]))))
