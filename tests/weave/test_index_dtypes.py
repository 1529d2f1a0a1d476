"""Inputs and results of expressions over indices that have dtypes of their own, lanes of bytes, and conditions that are
numbers."""

from __future__ import annotations

from pathlib import Path

import pytest
from folders import shared_folder, written
from scripts import script
from weaving import weave_unoptimized

pytest.importorskip("opweave")


OPERATORS = """
- func: pixel_means(Tensor self) -> Tensor
  doc: Means of rows of pixels, which are summed exactly.
  compute:
    size: {y: self.size(0)}
    dtype: {self: uint8}
    value[y]: sum(int(self[y, x]) for x in range(self.size(1))) / self.size(1)
  derivatives: none

- func: brightest(Tensor self) -> Tensor
  doc: The greatest of neighbouring pixels.
  compute:
    size: {x: self.size(-1)}
    dtype: {self: uint8}
    value[..., x]: max(self[..., x + j] for j in range(-1, 2))
    outside: {self: lowest}
  derivatives: none

- func: counted(Tensor self) -> Tensor
  doc: How many elements of a row are not zero.
  compute:
    size: {y: self.size(0)}
    dtype: int64
    value[y]: sum(1 for x in range(self.size(1)) if self[y, x])
  derivatives: none

- func: chosen_sum(Tensor self, Tensor mask) -> Tensor
  doc: Sums of the elements that a mask chooses.
  compute:
    size: {y: self.size(0)}
    dtype: {mask: bool}
    value[y]: sum(self[y, x] ** 2 if mask[y, x] else 0 for x in range(self.size(1)))
  dtypes: floating
  derivatives: auto

- func: doubly(Tensor self, Tensor weight) -> Tensor
  doc: Sums of products in double precision.
  compute:
    size: {y: self.size(0)}
    dtype: {weight: float64, value: float64}
    value[y]: sum(self[y, x] * weight[x] for x in range(self.size(1)))
  dtypes: floating
  derivatives: auto

- func: totals(Tensor self) -> Tensor
  doc: Sums of all pixels up to each.
  compute:
    dtype: {self: uint8, value: int64}
    value[t]: value[t - 1] + self[t]
    outside: {value: 0}
  derivatives: none

- func: extremes(Tensor self) -> (Tensor top, Tensor at, Tensor near)
  doc: The greatest element of a row, where it is, and whether it is near to one.
  compute:
    size: {y: self.size(0)}
    dtype: {at: int32, near: uint8}
    let: {best: 'max(self[y, x] for x in range(self.size(1)))'}
    top[y]: best
    at[y]: argmax(self[y, x] for x in range(self.size(1)))
    near[y]: 1 if abs(best - 1) < 0.5 else 0
  dtypes: floating
  derivatives: none

- func: votes(Tensor self, Tensor index, int count) -> Tensor
  doc: Sums of bytes by place, which are exact.
  compute:
    size: {'index[n]': count}
    dtype: {self: uint8, value: int64}
    value[index[n]]: {sum: 'self[n]'}
  derivatives: none

- func: joined_life(Tensor self) -> Tensor
  doc: The next generation of the game of life.
  compute:
    let: {neighbours: 'sum(self[y + i, x + j] for i in range(-1, 2) for j in range(-1, 2)) - self[y, x]'}
    value[y, x]: (neighbours == 3) | (self[y, x] & (neighbours == 2))
    outside: wrap
  dtypes: uint8
  derivatives: none

- func: neighbours_set(Tensor self, int far) -> (Tensor near, Tensor many, Tensor some)
  doc: How many neighbours in a small and in a large window are set, and whether one is.
  compute:
    size: {y: self.size(0), x: self.size(1)}
    dtype: {near: uint8, many: int32}
    near[y, x]: sum(1 for i in range(-1, 2) for j in range(-1, 2) if self[y + i, x + j])
    many[y, x]: sum(2 for i in range(-6, 7) for j in range(-6, 7) if self[y + i, x + j])
    some[y, x]: any(self[y + i, x + j] for i in range(far) for j in range(far))
    outside: 0
  dtypes: [bool, uint8]
  derivatives: none

- func: halvings(Tensor self) -> Tensor
  doc: How often numbers can be halved before they are zero.
  elementwise:
    iterate: {state: {left: self, count: 0}, times: 40, while: left, next: {left: left // 2, count: count + 1}}
    value: count
  dtypes: [uint8, int32]
  derivatives: none
"""
HEAD = """
import numpy as np
import opweave as ow
import index_dtypes as ops

rng = np.random.default_rng(3)
pixels = rng.integers(0, 256, (5, 700)).astype("u1")
x = rng.normal(size=(4, 9))

def same(got, dtype, want):
    assert got.dtype == dtype, (got.dtype, dtype)
    np.testing.assert_array_equal(got.numpy(), want)

def near(got, want, rtol=1e-12):
    np.testing.assert_allclose(got.detach().numpy(), want, rtol=rtol)

def windows(board, first, last, mode):
    before, behind = max(-first, 0), max(last - 1, 0)
    wide = np.pad(board, ((before, behind), (before, behind)), mode=mode)
    h, w = board.shape
    places = [(i + before, j + before) for i in range(first, last) for j in range(first, last)]
    return [wide[i:i + h, j:j + w] for i, j in places]
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = shared_folder(tmp_path_factory, "index_dtypes")
    weave_unoptimized(written(out / "index_dtypes.yaml", OPERATORS), out=out)
    return out


def run(folder: Path, code: str) -> None:
    script(HEAD + code, cwd=folder)


def test_results_of_another_dtype_than_the_inputs(folder: Path) -> None:
    run(
        folder,
        """
for dtype in ("bool", "f4", "i4", "u1"):
    numbers = (pixels > 128).astype(dtype)
    same(ops.counted(ow.from_numpy(numbers)), ow.int64, (numbers != 0).sum(1))
same(ops.totals(ow.from_numpy(pixels[0])), ow.int64, pixels[0].cumsum(dtype="i8"))
top, at, is_near = ops.extremes(ow.from_numpy(x))
same(top, ow.float64, x.max(1))
same(at, ow.int32, x.argmax(1))
same(is_near, ow.uint8, abs(x.max(1) - 1) < 0.5)
index = rng.integers(0, 4, 700)
votes = ops.votes(ow.from_numpy(pixels[0]), ow.from_numpy(index), 4)
same(votes, ow.int64, np.bincount(index, pixels[0], 4))
""",
    )


def test_inputs_that_take_no_part_in_promotion(folder: Path) -> None:
    run(
        folder,
        """
image = ow.from_numpy(pixels)
means = ops.pixel_means(image)
assert means.dtype == ow.float32 and "default dtype" in ops.pixel_means.__doc__
near(means, pixels.mean(1), 1e-7)
near(ops.pixel_means(image > 3), (pixels > 3).mean(1), 1e-6)
for wrong in (image.long(), image.float()):
    try:
        ops.pixel_means(wrong)
    except RuntimeError as error:
        assert str(error).startswith("pixel_means(): argument 1 is read as uint8, which does not hold"), error
    else:
        raise AssertionError("no error")
wide = np.pad(pixels, ((0, 0), (1, 1)))
same(ops.brightest(image), ow.uint8, np.maximum(np.maximum(wide[:, :-2], wide[:, 1:-1]), wide[:, 2:]))
""",
    )


def test_gradients_beside_dtypes_that_are_told(folder: Path) -> None:
    run(
        folder,
        """
check, again = ow.autograd.gradcheck, ow.autograd.gradgradcheck
mask = rng.random((4, 9)) < 0.5
leaf, chosen = ow.from_numpy(x).requires_grad_(), ow.from_numpy(mask)
near(ops.chosen_sum(leaf, chosen), (x**2 * mask).sum(1))
near(ops.chosen_sum(leaf, chosen.byte()), (x**2 * mask).sum(1))
assert check(lambda x: ops.chosen_sum(x, chosen), leaf) and again(lambda x: ops.chosen_sum(x, chosen), leaf)
factor = rng.normal(size=9)
single, weight = ow.from_numpy(x.astype("f4")).requires_grad_(), ow.from_numpy(factor).requires_grad_()
result = ops.doubly(single, weight)
assert result.dtype == ow.float64
near(result, x.astype("f4").astype("f8") @ factor, 1e-14)
result.sum().backward()
assert single.grad.dtype == ow.float32 and weight.grad.dtype == ow.float64
near(single.grad, np.broadcast_to(factor, x.shape), 1e-6)
near(weight.grad, x.astype("f4").astype("f8").sum(0))
assert check(ops.doubly, (leaf, weight)) and again(ops.doubly, (leaf, weight))
""",
    )


def test_lanes_of_bytes(folder: Path) -> None:
    """Counts of few terms are held in bytes, those of many are not; the ends of lines are computed apart."""
    run(
        folder,
        """
for shape in ((3, 3), (4, 65), (7, 300), (2, 128)):
    board = (rng.random(shape) < 0.7).astype("u1")
    around = sum(windows(board, -1, 2, "wrap")) - board
    same(ops.joined_life(ow.from_numpy(board)), ow.uint8, (around == 3) | (board & (around == 2)))
    for each in (board, board.astype(bool), board * 255):
        few, many, some = ops.neighbours_set(ow.from_numpy(each), 2)
        same(few, ow.uint8, sum((part != 0).astype(int) for part in windows(each, -1, 2, "constant")))
        same(many, ow.int32, sum(2 * (part != 0).astype(int) for part in windows(each, -6, 7, "constant")))
        same(some, ow.bool, np.any(windows(each, 0, 2, "constant"), axis=0))
""",
    )


def test_conditions_of_loops_that_are_numbers(folder: Path) -> None:
    run(
        folder,
        """
same(ops.halvings(ow.tensor([0, 1, 5, 200], dtype=ow.uint8)), ow.uint8, [0, 1, 3, 8])
""",
    )
