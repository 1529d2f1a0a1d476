"""Solutions with small triangles by vectors, at every level of this processor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from cffi import FFI

from .conftest import CORE, LEVELS, compiled_once, flags, guarded, needs_level
from .test_panel_product import DTYPES

FOLDER = CORE / "routines" / "linalg" / "levels"
Array = np.ndarray[Any, Any]
Solve = Callable[..., Array]


@pytest.fixture(scope="module", params=[(level, dtype) for level in LEVELS for dtype in DTYPES])
def solve(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Solve:
    """A function that solves with one of the kernels, whose memory ends at pages that may not be touched."""
    level, dtype = request.param
    needs_level(level)
    source = str(FOLDER / "triangle_kernels.c")
    options = ("-O2", f"-march={LEVELS[level]}", f"-DOW_LEVEL={level}", "-shared", "-fPIC", *flags())
    path = compiled_once(tmp_path_factory, f"triangles {level}", *options, source)
    ffi, name = FFI(), f"ow_solve_triangle_{dtype}_{level}"
    header = (FOLDER / "triangle_kernels.h").read_text()
    ffi.cdef(
        "\n".join(line for line in header.splitlines() if not line.startswith("#"))
        + f"\nextern ow_solve_triangle {name};"
    )
    library = ffi.dlopen(str(path))

    def call(a: Array, x: Array, is_upper: bool, is_unit: bool, by_rows: bool) -> Array:
        n, columns = x.shape
        matrix = guarded((a if by_rows else a.T).astype(DTYPES[dtype]))
        solution = guarded(x.T.astype(DTYPES[dtype]))
        down, across = (n, 1) if by_rows else (1, n)
        places = (ffi.cast("void *", each.ctypes.data) for each in (matrix, solution))
        getattr(library, name)(next(places), down, across, n, is_upper, is_unit, next(places), n, columns)
        return solution.reshape(columns, n).T.copy()

    return call


def _triangle(n: int, is_upper: bool, is_unit: bool) -> tuple[Array, Array]:
    """A triangle as it is in memory, with NaN where nothing is to be read, and the matrix that it stands for."""
    whole = np.random.default_rng(n).uniform(-1, 1, (n, n)) / n + np.eye(n)
    matrix = np.triu(whole) if is_upper else np.tril(whole)
    given = np.where(np.tri(n, dtype=bool).T if is_upper else np.tri(n, dtype=bool), whole, np.nan)
    if is_unit:
        np.fill_diagonal(matrix, 1)
        np.fill_diagonal(given, np.nan)
    return given, matrix


@pytest.mark.parametrize("is_unit", [False, True])
@pytest.mark.parametrize("is_upper", [False, True])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 32])
def test_sizes_beside_those_of_vectors(solve: Solve, n: int, is_upper: bool, is_unit: bool) -> None:
    given, matrix = _triangle(n, is_upper, is_unit)
    for columns in (1, 3, 7, 8, 9, 17):
        right = np.random.default_rng(columns).uniform(-1, 1, (n, columns))
        x = solve(given, right, is_upper, is_unit, by_rows=False)
        assert np.abs(matrix @ x - right).max() < 40 * np.finfo(x.dtype).eps
        assert np.array_equal(x, solve(given, right, is_upper, is_unit, by_rows=True))
        assert np.array_equal(x[:, :1], solve(given, right[:, :1], is_upper, is_unit, by_rows=True))


@pytest.mark.parametrize("is_upper", [False, True])
def test_numbers_that_are_not_finite_stay_where_they_come_from(solve: Solve, is_upper: bool) -> None:
    """Rows that are solved before such a one, and other columns, are as if it were not there."""
    n, place = 19, 9
    given, _ = _triangle(n, is_upper, is_unit=False)
    right = np.random.default_rng(0).uniform(-1, 1, (n, 9))
    wanted = solve(given, right, is_upper, is_unit=False, by_rows=False)
    before = slice(place + 1, n) if is_upper else slice(0, place)
    for value in (np.nan, np.inf):
        right[place, 4] = value
        x = solve(given, right, is_upper, is_unit=False, by_rows=False)
        assert np.array_equal(x[before], wanted[before])
        assert np.array_equal(np.delete(x, 4, 1), np.delete(wanted, 4, 1))
        assert not np.isfinite(x[place, 4])
