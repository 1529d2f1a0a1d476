"""Operands whose neighbours in a row lie far apart, as those of a transposed matrix: read by tiles, in any dtype."""

from __future__ import annotations

from typing import Any

import opweave
import pytest
from opweave import Tensor

SHAPES = ((63, 64), (64, 63), (64, 64), (65, 130), (16, 200), (17, 1000), (3, 70, 90), (300, 260))
DTYPES = ("uint8", "int16", "int64", "float16", "bfloat16", "float32", "float64", "complex64", "complex128")


def numbers(shape: tuple[int, ...], dtype: str, first: int) -> Tensor:
    """Small ones, all of which every dtype holds."""
    count = 1
    for size in shape:
        count *= size
    return (opweave.arange(first, first + count) * 7 % 61).view(shape).to(getattr(opweave, dtype))


def transposed(x: Tensor) -> Tensor:
    """The same numbers, in the memory order of the transposed matrix."""
    return x.transpose(-1, -2).contiguous().transpose(-1, -2)


def same(x: Tensor, y: Tensor) -> bool:
    return x.dtype == y.dtype and x.shape == y.shape and bool((x == y).all())


@pytest.mark.parametrize("dtype", DTYPES)
def test_sums_with_a_transposed_matrix(dtype: str) -> None:
    for shape in SHAPES:
        x, y = numbers(shape, dtype, 0), numbers(shape, dtype, 5)
        expected = x + y
        for a, b in ((x, transposed(y)), (transposed(x), y)):
            assert same(a + b, expected), (shape, a.stride(), b.stride())
            assert same(opweave.add(a, b, out=opweave.empty_like(x)), expected)
            assert same(opweave.add(a, b, out=transposed(opweave.empty_like(x))), expected)
            assert same(a.clone().add_(b), expected)


def test_where_of_three_layouts() -> None:
    for shape in SHAPES:
        x, y = numbers(shape, "float32", 0), numbers(shape, "float32", 5)
        expected = opweave.where(x > 30, x, y)
        assert same(opweave.where(transposed(x > 30), x, transposed(y)), expected)
        assert same(opweave.where(x > 30, transposed(x), transposed(y)), expected)


def test_operands_of_several_dtypes() -> None:
    for shape in SHAPES:
        x, y = numbers(shape, "int32", 0), numbers(shape, "float64", 5)
        assert same(x + transposed(y), x + y)
        assert same(y + transposed(x), x + y)
        assert same(transposed(x).to(opweave.float64), x.to(opweave.float64))


def test_a_broadcast_column_beside_a_transposed_matrix() -> None:
    x, column, row = numbers((200, 150), "float32", 0), numbers((200, 1), "float32", 3), numbers((150,), "float32", 4)
    assert same(transposed(x) + column, x + column)
    assert same(x + transposed(x) + column + row, x + x + column + row)
    assert same(opweave.addcmul(x, transposed(x), column), x + x * column)


def test_parts_reversed_and_stepped() -> None:
    x = numbers((260, 300), "float32", 0)
    for part in ((slice(3, 250), slice(1, 299)), (slice(None, None, 2), slice(None, None, 3))):
        a, b = x[part], x.t().contiguous().t()[part]
        assert same(a + b, a + a)
        assert same(a + b.flip(0).flip(0), a + a)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_threads_share_tiles(threads: int) -> None:
    x: Any = numbers((700, 900), "float32", 0)
    before = opweave.get_num_threads()
    opweave.set_num_threads(threads)
    try:
        assert same(x + transposed(x), 2 * x)
        assert same(x.t() * x.t().contiguous(), (x * x).t())
        long = numbers((20, 40_000), "float32", 0)
        assert same(long + transposed(long), 2 * long)
    finally:
        opweave.set_num_threads(before)
