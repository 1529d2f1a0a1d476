"""Sizes and numbers at the edge of what there is: overflow, exhausted memory, the least integer, NaN."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import opweave
import pytest
from harness.arrays import array, opweave_dtype

SIGNED = ("int8", "int16", "int32", "int64")
INTEGERS = ("uint8", *SIGNED)
FLOATS = ("float16", "bfloat16", "float32", "float64")
NAN, INF = math.nan, math.inf

PLACES = opweave.zeros(1, dtype=opweave.int64).expand(2**40)
TOO_LARGE: dict[str, Callable[[], Any]] = {
    "empty": lambda: opweave.empty(2**62, 2**62),
    "bytes": lambda: opweave.zeros(2**62, dtype=opweave.float64),
    "no int64": lambda: opweave.ones(2**63),
    "full": lambda: opweave.full((2**40, 2**40), 1),
    "arange": lambda: opweave.arange(2**63 - 1),
    "float arange": lambda: opweave.arange(0, 1e300),
    "tiny step": lambda: opweave.arange(0, 1, 1e-300),
    "expand": lambda: opweave.ones(1, 1).expand(2**40, 2**40),
    "broadcast": lambda: opweave.ones(1).expand(2**40)[:, None] + opweave.ones(1).expand(2**40),
    "cat": lambda: opweave.cat([opweave.ones(1).expand(2**62)] * 3),
    "stack": lambda: opweave.stack([opweave.ones(1).expand(2**62)] * 3),
    "index": lambda: opweave.ones(1, 1)[PLACES[:, None], PLACES],
    "index put": lambda: opweave.ones(1, 1).__setitem__((PLACES[:, None], PLACES), 1.0),
    "view": lambda: opweave.ones(4).view(2**62, 2**62),
    "as_strided": lambda: opweave.ones(4).as_strided((2**40, 2**40), (2**40, 2**40)),
    "matrix product": lambda: opweave.ones(1, 1).expand(2**40, 1) @ opweave.ones(1, 1).expand(1, 2**40),
}


@pytest.mark.parametrize("name", TOO_LARGE)
def test_sizes_that_overflow(name: str) -> None:
    with pytest.raises((RuntimeError, TypeError, ValueError, OverflowError)):
        TOO_LARGE[name]()


@pytest.mark.parametrize("make", [opweave.empty, opweave.zeros, opweave.ones])
def test_exhausted_memory_is_an_error(make: Callable[..., opweave.Tensor]) -> None:
    with pytest.raises(opweave.OutOfMemoryError, match="out of memory"):
        make(2**45)
    assert make(3).tolist() is not None


def test_exhausted_memory_of_operators() -> None:
    wide = opweave.ones(1).expand(2**45)
    target = opweave.zeros(2)
    for function in (wide.clone, wide.exp, lambda: wide + 1, lambda: wide.cumsum(0), lambda: wide > 0, wide.contiguous):
        with pytest.raises(opweave.OutOfMemoryError):
            function()
    with pytest.raises(RuntimeError):
        opweave.add(wide, 1, out=target)
    assert (target + 1).tolist()[0] in (0.0, 1.0)


@pytest.mark.parametrize("source", FLOATS)
@pytest.mark.parametrize("target", INTEGERS)
def test_casts_out_of_range_are_defined(source: str, target: str) -> None:
    """Whatever the value is, it is the same in every position, in every layout and every time."""
    for value in (NAN, INF, -INF, 1e30, -1e30, 65504.0, -65504.0, -1.0, 256.5, 2.0**31, 2.0**63):
        single = opweave.tensor(value, dtype=opweave_dtype(source)).to(opweave_dtype(target)).item()
        whole = opweave.tensor([value] * 70, dtype=opweave_dtype(source))
        for each in (whole, whole[3:], whole[::3]):
            assert set(each.to(opweave_dtype(target)).tolist()) == {single}, value
        target_memory = opweave.zeros(70, dtype=opweave_dtype(target))
        target_memory.copy_(whole)
        assert set(target_memory.tolist()) == {single}, value
    inside = opweave.tensor([0.0, 1.9, 100.5], dtype=opweave_dtype(source)).to(opweave_dtype(target))
    assert inside.tolist()[:2] == [0, 1]


@pytest.mark.parametrize("dtype", SIGNED)
@pytest.mark.parametrize("size", [1, 5, 100])
def test_the_least_integer(dtype: str, size: int) -> None:
    least = -(2 ** (8 * np.dtype(dtype).itemsize - 1))
    x = opweave.full((size,), least, dtype=opweave_dtype(dtype))
    one = opweave.full((size,), -1, dtype=opweave_dtype(dtype))
    assert set((x // one).tolist()) == set((x // -1).tolist()) == {least}
    assert set((x % one).tolist()) == set((x % -1).tolist()) == {0}
    assert set(x.abs().tolist()) == set((-x).tolist()) == {least}
    assert set((x * one).tolist()) == {least}
    assert set((x - 1).tolist()) == set((x + one).tolist()) == {-least - 1}
    assert set((x**2).tolist()) == {0}
    assert set(x.relu().tolist()) == {0}
    assert (x / one).tolist()[0] == -float(least)


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("size", [1, 5, 100])
def test_integer_division_by_zero_is_an_error(dtype: str, size: int) -> None:
    x = opweave.ones(size, dtype=opweave_dtype(dtype))
    zeros = x * 0
    for function in (opweave.floor_divide, opweave.remainder):
        with pytest.raises(RuntimeError, match="ZeroDivisionError"):
            function(x, zeros)
        with pytest.raises(RuntimeError, match="ZeroDivisionError"):
            function(x, 0)
    assert set((x / zeros).tolist()) == {INF}
    assert x.tolist() == [1] * size


SPECIAL = (NAN, INF, -INF, 0.0, -0.0, 1.0, -1.0)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("size", [2, 9, 40, 5000])
def test_a_nan_anywhere_is_the_extremum(dtype: str, size: int) -> None:
    for position in {0, 1, size // 2, size - 1}:
        values = np.linspace(-3, 3, size)
        values[position] = NAN
        x = opweave.tensor(values.tolist(), dtype=opweave_dtype(dtype))
        assert math.isnan(x.amax().item())
        assert math.isnan(x.amin().item())
        for dim, matrix in ((0, x.unsqueeze(1).expand(size, 3)), (1, x.unsqueeze(0).expand(3, size))):
            assert np.isnan(array(matrix.amax(dim))).all()
            assert np.isnan(array(matrix.amin(dim))).all()
        rest = np.delete(values, position)
        largest = opweave.tensor(rest.tolist(), dtype=opweave_dtype(dtype)).amax().item()
        assert largest == max(opweave.tensor(rest.tolist(), dtype=opweave_dtype(dtype)).tolist())


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("repeat", [1, 7])
def test_clamp_and_nan(dtype: str, repeat: int) -> None:
    """NaN in any operand gives NaN; where the bounds are crossed, the upper one wins."""
    for x, low, high in itertools.product(SPECIAL, repeat=3):
        given = [opweave.full((repeat,), value, dtype=opweave_dtype(dtype)) for value in (x, low, high)]
        want = NAN if any(map(math.isnan, (x, low, high))) else min(max(x, low), high)
        for got in (opweave.clamp(*given), given[0].clone().clamp_(*given[1:]), opweave.clamp(given[0], low, high)):
            assert np.array_equal(array(got), np.full(repeat, want), equal_nan=True), (x, low, high)


@pytest.mark.parametrize("dtype", FLOATS)
def test_comparisons_with_nan(dtype: str) -> None:
    for n in (1, 33):
        x = opweave.full((n,), NAN, dtype=opweave_dtype(dtype))
        assert not any((x == x).tolist() + (x < 1).tolist() + (x >= x).tolist() + (x > -INF).tolist())
        assert all((x != x).tolist() + x.bool().tolist() + x.logical_and(opweave.tensor(1)).tolist())
        assert np.isnan(array(x.relu())).all()
