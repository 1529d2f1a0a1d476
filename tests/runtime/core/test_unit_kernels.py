"""Products of matrices packed in units of 32 bits, by each kind of instruction that this processor has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from cffi import FFI

from .conftest import CORE, LEVELS, compiled_once, flags, guarded, needs_level, processor_has

FOLDER = CORE / "routines" / "linalg" / "levels"
FILES = ("half_product_kernels.c", "byte_product_kernels.c")
NO_TILES = "const void *ow_tile_product_{0}(void); const void *ow_tile_product_{0}(void) {{ return 0; }}"
Library = tuple[FFI, Any, str]


@pytest.fixture(scope="module", params=[*LEVELS, "tiles"])
def library(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    """The interface and the kernels of a level, without matrix tiles or with them."""
    level = "v4" if request.param == "tiles" else request.param
    needs_level(level)
    if request.param == "tiles":
        if not processor_has("amx_tile"):
            pytest.skip("this processor has no matrix tiles")
        tiles = FOLDER / "tile_product_kernels.c"
    else:
        tiles = tmp_path_factory.mktemp("units") / "no_tiles.c"
        tiles.write_text(NO_TILES.format(level))
    files = (*(str(FOLDER / name) for name in FILES), str(tiles))
    options = ("-O2", f"-march={LEVELS[level]}", f"-DOW_LEVEL={level}", "-shared", "-fPIC", *flags())
    path = compiled_once(tmp_path_factory, f"units {request.param}", *options, *files)
    ffi = FFI()
    for name in ("unit_kernel", "half_product_kernels", "byte_product_kernels"):
        header = (FOLDER / f"{name}.h").read_text()
        ffi.cdef("\n".join(each for each in header.splitlines() if not each.startswith("#")))
    ffi.cdef(f"ow_half_product ow_half_product_{level}(void); ow_byte_product ow_byte_product_{level};")
    loaded = ffi.dlopen(str(path))
    yield ffi, loaded, level
    ffi.dlclose(loaded)


def _packed(
    library: Library, kernel: Any, lines: np.ndarray[Any, Any], second: bool
) -> tuple[Any, np.ndarray[Any, Any]]:
    """A panel of the rows of an array, in any order of memory, and their sums."""
    ffi = library[0]
    inner = lines.shape[1]
    units = -(-inner // (kernel.unit * kernel.step)) * kernel.step
    width, pack = (kernel.columns, kernel.pack_columns) if second else (kernel.rows, kernel.pack_rows)
    panel = guarded(np.full(units * width, 0xFFFFFFFF, np.uint32))
    sums = np.zeros(width, np.int32)
    is_signed = lines.dtype == np.int8
    wanted = (not second) if kernel.is_mixed else is_signed
    strides = [each // lines.itemsize for each in lines.strides]
    pack(
        ffi.cast("uint32_t *", panel.ctypes.data),
        ffi.cast("void *", lines.ctypes.data),
        *strides,
        *lines.shape,
        0 if wanted == is_signed else 0x80,
        wanted,
        ffi.NULL if lines.itemsize > 1 else ffi.cast("int32_t *", sums.ctypes.data),
    )
    return panel, sums[: len(lines)]


def _sums(library: Library, kernel: Any, a: Any, b: Any, dtype: Any) -> np.ndarray[Any, Any]:
    """The tile of the product of two panels, in two parts where there are units enough."""
    ffi = library[0]
    tile = guarded(np.full((kernel.rows, kernel.columns), 77, dtype))
    units = len(a) // kernel.rows
    half = units // 2 // kernel.step * kernel.step
    line, following = 4 * kernel.step, 4 * kernel.step * kernel.rows
    for begin, end in ((0, half), (half, units)):
        if end > begin or end == units:
            kernel.multiply(
                ffi.cast("void *", tile.ctypes.data),
                ffi.cast("void *", a.ctypes.data + 4 * begin * kernel.rows),
                line,
                following,
                ffi.cast("uint32_t *", b.ctypes.data + 4 * begin * kernel.columns),
                end - begin,
                begin == 0,
            )
    return tile.reshape(kernel.rows, kernel.columns)


def _lying(lines: np.ndarray[Any, Any], order: str) -> np.ndarray[Any, Any]:
    """The same lines, beside one another, one after the other, or with gaps; behind the last element is no memory."""
    if order == "gaps":
        memory = guarded(np.zeros(2 * lines.size - 1, lines.dtype))
        item = lines.itemsize
        view = np.lib.stride_tricks.as_strided(memory, lines.shape, (2 * item * lines.shape[1], 2 * item))
        view[...] = lines
        return view
    return guarded(lines if order == "C" else lines.T).reshape(lines.shape, order=order)


def _each_way(kernel: Any) -> Iterator[tuple[int, int, int, str, str]]:
    for rows, columns in ((1, 1), (kernel.rows - 1, kernel.columns), (kernel.rows, kernel.columns - 1)):
        for inner in (1, 2, 15, 31, 32, 33, 63, 64, 65, 129):
            for order in (("C", "C"), ("C", "F"), ("F", "C"), ("F", "F"), ("gaps", "gaps")):
                yield max(rows, 1), columns, inner, *order


def _ended(kernel: Any) -> None:
    if kernel.end:
        kernel.end()


@pytest.mark.parametrize("first", [np.int8, np.uint8])
@pytest.mark.parametrize("second", [np.int8, np.uint8])
def test_bytes(library: Library, first: Any, second: Any) -> None:
    """Sums of products of all bytes, and of lines, are exact, and bytes are shifted where signs must differ."""
    random = np.random.default_rng(0)
    kernel = getattr(library[1], f"ow_byte_product_{library[2]}")(first is np.int8, second is np.int8)
    if kernel.begin:
        kernel.begin()
    for rows, columns, inner, *orders in _each_way(kernel):
        a, b = (
            _lying(random.integers(np.iinfo(t).min, np.iinfo(t).max + 1, (n, inner)).astype(t), order)
            for n, t, order in zip((rows, columns), (first, second), orders, strict=True)
        )
        (x, of_a), (y, of_b) = _packed(library, kernel, a, False), _packed(library, kernel, b, True)
        found = _sums(library, kernel, x, y, np.int32)
        shift_a = 128 * int(kernel.is_mixed and first is np.uint8)
        shift_b = 128 * int(kernel.is_mixed and second is np.int8)
        left, right = a.astype(int) - shift_a, b.astype(int) + shift_b
        assert np.array_equal(found[:rows, :columns], left @ right.T)
        assert np.array_equal(of_a, left.sum(1))
        assert np.array_equal(of_b, right.sum(1))
    _ended(kernel)


def test_halves(library: Library) -> None:
    """Sums of products of small integers, which float32 holds exactly."""
    random = np.random.default_rng(0)
    product = getattr(library[1], f"ow_half_product_{library[2]}")()
    if not product.kernel:
        pytest.skip("this processor has no instructions for bfloat16")
    kernel = product.kernel
    if kernel.begin:
        kernel.begin()
    for rows, columns, inner, *orders in _each_way(kernel):
        numbers = [random.integers(-8, 9, (n, inner)).astype(np.float32) for n in (rows, columns)]
        a, b = (
            _lying((each.view(np.uint32) >> 16).astype(np.uint16), order)
            for each, order in zip(numbers, orders, strict=True)
        )
        x, y = _packed(library, kernel, a, False)[0], _packed(library, kernel, b, True)[0]
        found = _sums(library, kernel, x, y, np.float32)
        assert np.array_equal(found[:rows, :columns], numbers[0] @ numbers[1].T)
    _ended(kernel)


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("strides", [(50, 1), (1, 50), (101, 2), (-50, 1)])
@pytest.mark.parametrize("addend", [None, (50, 1), (0, 1), (1, 0), (1, 50)])
def test_results_of_halves(library: Library, wide: bool, strides: tuple[int, int], addend: Any) -> None:
    """alpha * sum + beta * addend goes to its place alone, rounded to even."""
    ffi, loaded, level = library
    product = getattr(loaded, f"ow_half_product_{level}")()
    if not product.kernel:
        pytest.skip("this processor has no instructions for bfloat16")
    rows, columns, width = product.kernel.rows - 1, product.kernel.columns - 3, product.kernel.columns
    tile = np.random.default_rng(0).standard_normal((product.kernel.rows, width)).astype(np.float32)
    tile[0, 0], tile[1, 2] = np.nan, np.inf
    to = np.full(8000, 3, np.float32 if wide else np.uint16)
    more = np.random.default_rng(1).integers(0x3F00, 0x4100, 8000).astype(np.uint16)
    origin = 4000
    result = ffi.new("ow_half_result *")
    result.alpha, result.beta, result.is_wide = 0.5, 2, wide
    result.to = ffi.cast("char *", to.ctypes.data + origin * to.itemsize)
    result.row_stride, result.column_stride = strides
    expected = np.float32(0.5) * tile[:rows, :columns]
    i, j = np.arange(rows)[:, None], np.arange(columns)
    if addend:
        result.addend = ffi.cast("uint16_t *", more.ctypes.data)
        result.addend_row, result.addend_column = addend
        halves = more[i * addend[0] + j * addend[1]].astype(np.uint32) << 16
        expected = expected + np.float32(2) * halves.view(np.float32)
    product.store(result, ffi.cast("void *", tile.ctypes.data), width, 0, 0, rows, columns)
    at = origin + i * strides[0] + j * strides[1]
    found = to[at] if wide else (to[at].astype(np.uint32) << 16).view(np.float32)
    if not wide:
        bits = expected.view(np.uint32)
        rounded = (bits.astype(np.uint64) + 0x7FFF + (bits >> 16 & 1)).astype(np.uint32) & np.uint32(0xFFFF0000)
        expected = np.where(np.isnan(expected), np.float32(np.nan), rounded.view(np.float32))
    np.testing.assert_array_equal(found, expected)
    assert np.all(np.delete(to, at.reshape(-1)) == 3)
