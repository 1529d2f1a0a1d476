"""Expressions with several functions of rows: equal, bit for bit, to the functions called one after the other."""

from __future__ import annotations

from pathlib import Path

import pytest
from folders import shared_folder
from scripts import script

pytest.importorskip("opweave")

from opweave._weave.weave import Woven, weave

ENTRIES = """
- func: product(Tensor x, Tensor y) -> Tensor
  doc: Product of two functions.
  elementwise: sigmoid(x) * tanh(y)
  dtypes: floating
  derivatives: none

- func: option(Tensor s, Tensor k, Tensor t, Tensor v, *, float rate=0.02) -> Tensor
  doc: Price of a call option.
  elementwise:
    let:
      spread: v * sqrt(t)
      first: (log(s / k) + (rate + 0.5 * v * v) * t) / spread
      near: 0.5 * (1 + erf(first * 0.7071067811865476))
      far: 0.5 * (1 + erf((first - spread) * 0.7071067811865476))
    value: s * near - k * exp(-rate * t) * far
  dtypes: floating
  derivatives: none

- func: haversine(Tensor a, Tensor b, Tensor c, Tensor d) -> Tensor
  doc: Distance of two places on the sphere.
  elementwise:
    let: {north: sin((c - a) * 0.5), east: sin((d - b) * 0.5)}
    value: 2 * asin(sqrt(north * north + cos(a) * cos(c) * east * east))
  dtypes: floating
  derivatives: none

- func: three(Tensor x, Tensor y) -> (Tensor sine, Tensor ratio, Tensor greater)
  doc: Three results of one loop.
  elementwise: {value: {sine: sin(x), ratio: cos(x) * y, greater: x > y}, dtype: {greater: bool}}
  dtypes: floating
  derivatives: none

- func: chosen(Tensor x, Tensor y) -> Tensor
  doc: Functions in the arms of a choice.
  elementwise: exp(x) if x < y else log(x) + erf(y)
  dtypes: floating
  derivatives: none

- func: of_integers(Tensor x, Tensor n, Tensor m) -> Tensor
  doc: A loop that may fail.
  elementwise: {value: exp(x) * tanh(x) + n // m, dtype: {n: int64, m: int64}}
  dtypes: floating
  derivatives: none

- func: weighted(Tensor x, int dim=-1) -> (Tensor value, Tensor other)
  doc: Two results for each element of a row.
  rows:
    let:
      top: {max: x}
      total: {sum: exp(x - top) * tanh(x)}
    value: {value: exp(x - top) * sigmoid(x) / total, other: exp(x - top) + sin(x)}
  dtypes: floating
  derivatives: none

- func: scaled_pieces(Tensor x, Tensor weight, Tensor factor, int[1]? dim=None) -> Tensor
  doc: Distances from the greatest element of a row, times a number of each piece of it and one of the row.
  rows:
    per_piece: weight
    per_row: factor
    let: {top: {max: x}}
    value: (x - top) * weight * factor
  dtypes: floating
  derivatives: none
"""
HEAD = """
import opweave as ow
import row_functions as ops

ow.manual_seed(3)

def drawn(*shape, dtype=ow.float32, low=0.1, high=2.0):
    return (ow.rand(shape) * (high - low) + low).to(dtype)

def same(found, wanted, slack=0.0):
    assert found.dtype == wanted.dtype and found.shape == wanted.shape
    assert ow.equal(found, wanted), (found - wanted).abs().max()

def product(x, y):
    return ow.sigmoid(x) * ow.tanh(y)

def option(s, k, t, v):
    spread = v * ow.sqrt(t)
    first = (ow.log(s / k) + (0.02 + 0.5 * v * v) * t) / spread
    near = 0.5 * (1 + ow.erf(first * 0.7071067811865476))
    far = 0.5 * (1 + ow.erf((first - spread) * 0.7071067811865476))
    return s * near - k * ow.exp(-0.02 * t) * far

def haversine(a, b, c, d):
    north, east = ow.sin((c - a) * 0.5), ow.sin((d - b) * 0.5)
    return 2 * ow.asin(ow.sqrt(north * north + ow.cos(a) * ow.cos(c) * east * east))

def chosen(x, y):
    return ow.where(x < y, ow.exp(x), ow.log(x) + ow.erf(y))
"""
LEVELS = ("x86-64", "x86-64-v3", "x86-64-v4")


@pytest.fixture(scope="module")
def woven(tmp_path_factory: pytest.TempPathFactory) -> Woven:
    folder = shared_folder(tmp_path_factory, "row_functions")
    path: Path = folder / "row_functions.yaml"
    path.write_text(ENTRIES)
    return weave(path, out=folder, all_levels=True)


def run(woven: Woven, code: str, level: str) -> None:
    script(HEAD + code, cwd=woven.folder.parent, OPWEAVE_ISA=level)


@pytest.mark.parametrize("level", LEVELS)
def test_one_result(woven: Woven, level: str) -> None:
    run(
        woven,
        """
for dtype in (ow.float32, ow.float64):
    for shape in ((), (1,), (15,), (257,), (40, 50), (70000,)):
        a, b, c, d = (drawn(*shape, dtype=dtype) for _ in range(4))
        same(ops.product(a, b), product(a, b))
        same(ops.option(a, b, c, d), option(a, b, c, d))
        same(ops.haversine(a, b, c, d), haversine(a, b, c, d))
        same(ops.chosen(a, b), chosen(a, b))
a, b = drawn(60, 70).t(), drawn(70, 120)[:, ::2]
same(ops.product(a, b), product(a, b))
same(ops.product(a, b[0]), product(a, b[0]))
same(ops.product(a, b[:, :1]), product(a, b[:, :1]))
a = drawn(1000)
same(ops.product(a, a), product(a, a))
wanted = product(a, a)
same(ops.product(a, a, out=a), wanted)
""",
        level,
    )


@pytest.mark.parametrize("level", LEVELS)
def test_several_results(woven: Woven, level: str) -> None:
    run(
        woven,
        """
for dtype in (ow.float32, ow.float64):
    for shape in ((), (17,), (40, 50), (70000,)):
        x, y = drawn(*shape, dtype=dtype), drawn(*shape, dtype=dtype)
        sine, ratio, greater = ops.three(x, y)
        same(sine, ow.sin(x)), same(ratio, ow.cos(x) * y), same(greater, x > y)
x, y = drawn(60, 70).t(), drawn(60)
sine, ratio, greater = ops.three(x, y)
same(sine, ow.sin(x)), same(ratio, ow.cos(x) * y), same(greater, x > y)
""",
        level,
    )


@pytest.mark.parametrize("level", LEVELS)
def test_a_loop_that_may_fail(woven: Woven, level: str) -> None:
    run(
        woven,
        """
for size in (5, 1000):
    x, n, m = drawn(size), ow.arange(size), ow.arange(1, size + 1)
    same(ops.of_integers(x, n, m), ow.exp(x) * ow.tanh(x) + n // m)
    m[size // 2] = 0
    try:
        ops.of_integers(x, n, m)
    except RuntimeError as error:
        assert "ZeroDivisionError" in str(error)
    else:
        raise AssertionError("no error")
""",
        level,
    )


@pytest.mark.parametrize("level", LEVELS)
def test_halves_are_the_rounded_results(woven: Woven, level: str) -> None:
    run(
        woven,
        """
for dtype in (ow.float16, ow.bfloat16):
    for size in (1, 31, 1000):
        a, b = drawn(size, dtype=dtype), drawn(size, dtype=dtype)
        same(ops.product(a, b), product(a.float(), b.float()).to(dtype))
        same(ops.chosen(a, b), chosen(a.float(), b.float()).to(dtype))
""",
        level,
    )


@pytest.mark.parametrize("level", LEVELS)
def test_rows(woven: Woven, level: str) -> None:
    run(
        woven,
        """
for dtype in (ow.float32, ow.float64):
    for shape, dim in (((7,), 0), ((40, 300), 1), ((300, 40), 0), ((3, 5), 1)):
        x = drawn(*shape, dtype=dtype)
        value, other = ops.weighted(x, dim)
        shifted = ow.exp(x - x.amax(dim, True))
        same(other, shifted + ow.sin(x))
        total = (shifted * ow.tanh(x)).sum(dim, True)
        assert ow.allclose(value, shifted * ow.sigmoid(x) / total)
        if shape[-1] == 40:  # rows side by side give what each gives alone
            for j in range(0, 40, 7):
                same(value[:, j], ops.weighted(x[:, j].contiguous(), 0)[0])
""",
        level,
    )


@pytest.mark.parametrize("level", LEVELS)
def test_rows_in_pieces(woven: Woven, level: str) -> None:
    run(
        woven,
        """
for dtype in (ow.float32, ow.float64):
    for count, pieces, size in ((6, 4, 32), (3, 5, 49), (40, 3, 2), (2, 3, 30000)):
        x, weight = drawn(count, pieces, size, dtype=dtype), drawn(pieces, 1, dtype=dtype)
        factor = drawn(count, 1, 1, dtype=dtype)
        wanted = (x - x.amax((1, 2), True)) * weight * factor
        same(ops.scaled_pieces(x, weight, factor, (1, 2)), wanted)
        same(ops.scaled_pieces(x.transpose(0, 1).contiguous().transpose(0, 1), weight, factor, (1, 2)), wanted)
""",
        level,
    )
