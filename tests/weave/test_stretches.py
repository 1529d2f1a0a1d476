"""Lines that fall into stretches: conditions on the variable of the line, and remainders of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from folders import shared_folder, written
from scripts import script
from weaving import weave_unoptimized

pytest.importorskip("opweave")


OPERATORS = """
- func: turned(Tensor self, Tensor cos, Tensor sin) -> Tensor
  doc: Rotary embeddings of halves.
  compute:
    let:
      half: self.size(-1) // 2
      other: -self[..., t, j + half] if j < half else self[..., t, j - half]
    value[..., t, j]: self[..., t, j] * cos[t, j % half] + other * sin[t, j % half]
    outside: {self: 0}
  dtypes: floating
  derivatives: none

- func: triangle(Tensor self, int k) -> Tensor
  doc: What is below a diagonal, without the first columns.
  compute:
    value[..., y, x]: self[..., y, x] if x <= y + k and 1 < x else -1
  dtypes: [floating, int32]
  derivatives: auto

- func: repeated(Tensor self, int n, int m) -> Tensor
  doc: The first elements again and again.
  compute:
    size: {x: n}
    value[x]: (self[x % m] if x >= m else 0) + x % m
    outside: {self: -5}
  dtypes: floating
  derivatives: none

- func: joined(Tensor self, Tensor other) -> Tensor
  doc: One row after the other.
  compute:
    let: {a: self.size(-1), b: other.size(-1)}
    size: {x: a + b}
    value[..., x]: self[..., x] if x < a else other[..., x - a]
    outside: 0
  dtypes: floating
  derivatives: auto
"""
HEAD = """
import numpy as np
import opweave as ow
import stretches as ops

rng = np.random.default_rng(1)
of = ow.from_numpy

def fails(call, text):
    try:
        call()
    except RuntimeError as error:
        assert text in str(error), error
    else:
        raise AssertionError("no error")
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = shared_folder(tmp_path_factory, "stretches")
    weave_unoptimized(written(out / "stretches.yaml", OPERATORS), out=out)
    return out


def test_halves_and_remainders(folder: Path) -> None:
    script(
        HEAD
        + """
def expected(x, cos, sin):
    n, half = x.shape[-1], x.shape[-1] // 2
    j = np.arange(n)
    other = np.where(j < half, -x[..., np.minimum(j + half, n - 1)], x[..., j - half])
    return x * cos[:, j % half] + other * sin[:, j % half]

for shape in ((2, 3, 4), (2, 5, 64), (1, 3, 130), (3, 2, 2), (2, 2, 1000)):
    x = rng.normal(size=shape)
    cos, sin = rng.normal(size=(2, shape[1], shape[2] // 2))
    np.testing.assert_allclose(ops.turned(of(x), of(cos), of(sin)).numpy(), expected(x, cos, sin), rtol=1e-12)
fails(lambda: ops.turned(*[ow.ones(1, 1)] * 3), "ZeroDivisionError")

x = rng.normal(size=37)
for n, m in ((100, 5), (100, 37), (100, 1), (3, 10), (100, 40), (50, -7), (200, 64)):
    i = np.arange(n)
    places = np.array([x[k] if 0 <= k < 37 else -5 for k in i % m])
    want = np.where(i >= m, places, 0) + i % m
    np.testing.assert_allclose(ops.repeated(of(x), n, m).numpy(), want, err_msg=f"{n} by {m}")
fails(lambda: ops.repeated(of(x), 4, 0), "ZeroDivisionError")
""",
        cwd=folder,
    )


def test_conditions_that_depend_on_the_line(folder: Path) -> None:
    script(
        HEAD
        + """
for shape in ((1, 1), (5, 7), (70, 130), (0, 3)):
    for k in (-3, 0, 2, 200):
        x = rng.integers(0, 9, size=shape).astype("i4")
        row, column = np.indices(shape)
        want = np.where((column <= row + k) & (1 < column), x, -1)
        np.testing.assert_array_equal(ops.triangle(of(x), k).numpy(), want)
a, b = rng.normal(size=(3, 50)), rng.normal(size=(3, 77))
np.testing.assert_array_equal(ops.joined(of(a), of(b)).numpy(), np.concatenate((a, b), 1))
a, b = of(a[:, :5]).requires_grad_(), of(b[:, :40]).requires_grad_()
assert ow.autograd.gradcheck(ops.joined, (a, b)) and ow.autograd.gradgradcheck(ops.joined, (a, b))
below = lambda x: ops.triangle(x, 1)
assert ow.autograd.gradcheck(below, b) and ow.autograd.gradgradcheck(below, b)
""",
        cwd=folder,
    )
