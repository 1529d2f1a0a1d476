"""Products of matrices whose elements or lines tables of offsets lead to, at every level of this processor."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cffi import FFI

from .conftest import CORE, LEVELS, compiled_once, flags, guarded, needs_level

FOLDER = CORE / "routines" / "linalg" / "levels"
DTYPES = {"f32": np.float32, "f64": np.float64}


@pytest.fixture(scope="module", params=LEVELS)
def library(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """A level and its kernels."""
    level = request.param
    needs_level(level)
    source = str(FOLDER / "panel_product_kernels.c")
    options = ("-O2", f"-march={LEVELS[level]}", f"-DOW_LEVEL={level}", "-shared", "-fPIC", *flags())
    return level, compiled_once(tmp_path_factory, f"panels {level}", *options, source)


@pytest.fixture(scope="module", params=DTYPES)
def kernel(request: pytest.FixtureRequest, library: tuple[str, Path]) -> Iterator[tuple[FFI, Any, Any]]:
    """The interface, a kernel and its dtype."""
    level, path = library
    name = f"ow_panel_kernel_{request.param}_{level}"
    header = (FOLDER / "panel_product_kernels.h").read_text()
    lines = [each for each in header.splitlines() if not each.startswith("#")]
    ffi = FFI()
    ffi.cdef("\n".join(lines) + f"\nextern ow_panel_kernel {name};")
    loaded = ffi.dlopen(str(path))
    yield ffi, getattr(loaded, name), DTYPES[request.param]
    ffi.dlclose(loaded)


def _multiply(
    kernel: tuple[FFI, Any, Any],
    sizes: tuple[int, int, int],
    tables: tuple[np.ndarray[Any, Any], ...],
    left: np.ndarray[Any, Any],
    right: np.ndarray[Any, Any],
    to: np.ndarray[Any, Any],
    to_row: int,
    start: np.ndarray[Any, Any] | None = None,
    adds: bool = False,
) -> None:
    """Call the kernel; `tables` has the offsets of rows and inner positions of the left matrix, of inner positions and
    columns of the right one, and of columns of the product."""
    ffi, functions, _ = kernel
    offsets = [ffi.new("int64_t[]", [int(each) for each in table]) for table in tables]
    rows, inner, columns = sizes

    def address(array: np.ndarray[Any, Any]) -> Any:
        return ffi.cast("void *", array.ctypes.data)

    product = ffi.new("ow_panel_product *")
    product.rows, product.inner, product.columns = rows, inner, columns
    product.left, product.right, product.to = map(address, (left, right, to))
    product.left_rows, product.left_inner, product.right_inner, product.right_columns, product.to_columns = offsets
    product.readable, product.to_row, product.addend_row = right.size, to_row, to_row
    product.addend = address(to) if adds else ffi.NULL
    product.start = ffi.NULL if start is None else address(start)
    functions.multiply(product)


def _close(found: np.ndarray[Any, Any], expected: np.ndarray[Any, Any], inner: int) -> None:
    assert np.abs(found - expected).max() <= 4 * (inner + 2) * np.finfo(found.dtype).eps


ROWS = (1, 2, 3, 5, 7, 8, 9, 17)
COLUMNS = (1, 3, 4, 7, 8, 9, 15, 16, 17, 31, 33, 47, 48, 49, 97)


@pytest.mark.parametrize("inner", [1, 2, 15, 127, 128])
def test_sizes_beside_those_of_tiles(kernel: tuple[FFI, Any, Any], inner: int) -> None:
    """All memory ends at pages that may not be touched; sums are naive ones in double precision."""
    random = np.random.default_rng(inner)
    for rows in ROWS:
        for columns in COLUMNS:
            left = random.uniform(-1, 1, (rows, inner)).astype(kernel[2])
            right = random.uniform(-1, 1, (inner, columns)).astype(kernel[2])
            tables = (np.arange(rows) * inner, np.arange(inner), np.arange(inner) * columns, np.arange(columns))
            to = guarded(np.full((rows, columns), np.nan, kernel[2]))
            _multiply(
                kernel,
                (rows, inner, columns),
                (*tables, np.arange(columns)),
                *map(guarded, (left, right)),
                to,
                columns,
            )
            _close(to.reshape(rows, columns), left.astype("float64") @ right.astype("float64"), inner)


def test_elements_lie_anywhere(kernel: tuple[FFI, Any, Any]) -> None:
    """Columns of several images, with lines of them that do not follow each other, backwards and by steps; a bias."""
    random = np.random.default_rng(0)
    rows, inner, columns = 13, 40, 77
    memory = random.uniform(-1, 1, 9001).astype(kernel[2])
    for columns_at in (
        np.concatenate([np.arange(7) + 100 * line for line in range(11)]),
        np.arange(columns) * 3,
        np.arange(columns)[::-1],
        np.concatenate([np.arange(50), 1000 + np.arange(27)]),
    ):
        left_rows, left_inner = random.permutation(2000)[:rows], random.permutation(2000)[:inner]
        right_inner = random.permutation(3000)[:inner]
        to_columns = np.concatenate([np.arange(40), 2000 + np.arange(37)])
        left, right, to = guarded(memory[:4000]), guarded(memory), np.zeros(5000, kernel[2])
        start = memory[:rows].copy()
        tables = (left_rows, left_inner, right_inner, columns_at, to_columns)
        _multiply(kernel, (rows, inner, columns), tables, left, right, to, 50, start)
        expected = left[left_rows[:, None] + left_inner].astype("float64") @ right[right_inner[:, None] + columns_at]
        found = to[np.arange(rows)[:, None] * 50 + to_columns]
        _close(found, expected + start[:, None], inner)
        _multiply(kernel, (rows, inner, columns), tables, left, right, to, 50, start, adds=True)
        _close(to[np.arange(rows)[:, None] * 50 + to_columns], 2 * expected + start[:, None], 2 * inner)
        untouched = np.delete(to, (np.arange(rows)[:, None] * 50 + to_columns).reshape(-1))
        assert not untouched.any()


def test_packed_panels(kernel: tuple[FFI, Any, Any]) -> None:
    """A matrix that is packed once may have more rows than one of a single call, and the addend is another matrix."""
    ffi, functions, dtype = kernel
    random = np.random.default_rng(2)
    rows, inner, columns, width = 11, 300, 101, functions.lanes * functions.vectors
    left, right, addend = (
        random.uniform(-1, 1, shape).astype(dtype) for shape in ((rows, inner), (inner, columns), (1, columns))
    )
    memory = guarded(right)
    to = guarded(np.full((rows, columns), np.nan, dtype))
    offsets = [
        ffi.new("int64_t[]", [step * k for k in range(n)]) for n, step in ((rows, inner), (300, 1), (300, columns))
    ]
    product = ffi.new("ow_panel_product *")
    product.rows, product.inner, product.columns, product.readable = rows, inner, columns, right.size
    product.left_rows, product.left_inner, product.right_inner = offsets
    product.right_columns = product.to_columns = offsets[1]
    product.left, product.right, product.to, product.addend = (
        ffi.cast("void *", each.ctypes.data) for each in (left, memory, to, addend)
    )
    product.to_row, product.addend_row = columns, 0
    space = np.full(inner * width + functions.lanes + 64, np.nan, dtype)
    panel = ffi.cast("void *", -(-space.ctypes.data // 64) * 64)
    for first in range(0, columns, width):
        count = min(width, columns - first)
        vectors = -(-count // functions.lanes)
        functions.pack(product, first, count, vectors, panel)
        functions.multiply_panel(product, first, count, vectors, panel)
    _close(to.reshape(rows, columns), left.astype("float64") @ right.astype("float64") + addend, inner)


def test_each_element_is_the_same_in_matrices_of_all_sizes(kernel: tuple[FFI, Any, Any]) -> None:
    random = np.random.default_rng(1)
    rows, inner, columns = 19, 100, 61
    left = random.uniform(-1, 1, (rows, inner)).astype(kernel[2])
    right = random.uniform(-1, 1, (inner, columns)).astype(kernel[2])

    def product(first: int, last: int, begin: int, end: int) -> np.ndarray[Any, Any]:
        tables = (np.arange(first, last) * inner, np.arange(inner), np.arange(inner) * columns, np.arange(begin, end))
        to = np.zeros((last - first, end - begin), kernel[2])
        sizes = (last - first, inner, end - begin)
        _multiply(
            kernel, sizes, (*tables, np.arange(end - begin)), left.reshape(-1), right.reshape(-1), to, end - begin
        )
        return to

    whole = product(0, rows, 0, columns)
    for first, last, begin, end in ((0, 1, 0, columns), (3, 12, 5, 6), (0, rows, 17, 50), (18, 19, 60, 61)):
        assert (product(first, last, begin, end) == whole[first:last, begin:end]).all()


@pytest.mark.parametrize("step", [1, 2])
@pytest.mark.parametrize("line", [2, 7, 8, 9, 14, 15, 16, 17, 31, 33, 56])
def test_lines_of_terms(kernel: tuple[FFI, Any, Any], line: int, step: int) -> None:
    """Lines end where memory does or before infinities, which are no terms; sums are the same in groups of any size."""
    ffi, functions, dtype = kernel
    random = np.random.default_rng(line)
    rows, lines, columns = 2, 5, 20
    width, reach = line + 3, (line - 1) * step + columns
    left = np.full((rows, lines, width), np.inf, dtype)
    left[..., :line] = random.uniform(-1, 1, (rows, lines, line))
    right = random.uniform(-1, 1, (lines, reach)).astype(dtype)
    windows = np.lib.stride_tricks.sliding_window_view(right, (line - 1) * step + 1, 1)[..., ::step]
    expected = np.einsum("rki,kji->rj", left[..., :line].astype("float64"), windows.astype("float64"))
    left_memory, right_memory = guarded(left.reshape(-1)[: left.size - 3]), guarded(right)

    def product(first: int, end: int, right_memory: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        tables = (
            np.arange(rows) * lines * width,
            np.arange(lines) * width,
            np.arange(lines) * reach,
            np.arange(first, end),
        )
        to = np.zeros((rows, end - first), dtype)
        offsets = [ffi.new("int64_t[]", [int(each) for each in table]) for table in (*tables, np.arange(end - first))]
        given = ffi.new("ow_panel_product *")
        given.rows, given.inner, given.columns, given.line, given.step = rows, lines, end - first, line, step
        given.left, given.right, given.to = (
            ffi.cast("void *", each.ctypes.data) for each in (left_memory, right_memory, to)
        )
        given.left_rows, given.left_inner, given.right_inner, given.right_columns, given.to_columns = offsets
        given.left_readable, given.readable, given.to_row = left_memory.size, right_memory.size, end - first
        functions.multiply_lines(given)
        return to

    whole = product(0, columns, right_memory)
    _close(whole, expected, lines * line)
    for first, end in ((0, 1), (3, 12), (7, 20)):
        assert (product(first, end, right_memory) == whole[:, first:end]).all()
    # What follows a line of the second matrix is no term either.
    beside = np.full((lines, reach), np.nan, dtype)
    beside[:, : (line - 1) * step + 1] = right[:, : (line - 1) * step + 1]
    assert (product(0, 1, guarded(beside)) == whole[:, :1]).all()
