"""Woven expressions whose indices are divided, or run backwards along a line, read the elements that are written."""

from __future__ import annotations

import pytest
from folders import shared_folder, written
from scripts import script
from weaving import weave_unoptimized

pytest.importorskip("opweave")

from opweave._weave.weave import Woven

ENTRIES = """
- func: resampled(Tensor self) -> Tensor
  doc: D.
  compute: {size: {x: self.size(0) * 2 // 3}, 'value[x]': 'self[3 * x // 2]', outside: 0}
  dtypes: float64
  derivatives: none

- func: two_divisors(Tensor self, Tensor other) -> Tensor
  doc: D.
  compute: {size: {x: self.size(0) * 2}, 'value[x]': 'self[x // 2] + other[x // 3]', outside: 0}
  dtypes: float64
  derivatives: none

- func: backwards(Tensor self) -> Tensor
  doc: D.
  compute:
    let: {n: self.size(0)}
    size: {x: self.size(0) * 2}
    value[x]: self[(2 * n - 1 - x) // 2]
    outside: {self: error}
  dtypes: float64
  derivatives: none

- func: rows(Tensor self, Tensor index) -> Tensor
  doc: D.
  compute: {'value[x]': 'sum(self[index[x], k // 2] for k in range(2 * self.size(1)))', outside: error}
  dtypes: float64
  derivatives: none

- func: strided(Tensor self) -> Tensor
  doc: D.
  compute:
    let: {n: self.size(0)}
    size: {y: self.size(0) // 2}
    value[y]: sum(self[n - 2 * y - i] ** 2 for i in range(3))
    outside: 0
  dtypes: float64
  derivatives: auto

- func: convolved(Tensor self, Tensor weight) -> Tensor
  doc: D.
  compute:
    size: {t: self.size(0)}
    value[t]: sum(self[t - q] * weight[q] for q in range(weight.size(0)))
    outside: {self: wrap}
  dtypes: float64
  derivatives: auto
"""
CODE = """
import numpy as np
import opweave as ow
import divided as ops

rng = np.random.default_rng(5)
for n in (1, 3, 6, 41):
    self, other, table = rng.standard_normal(n), rng.standard_normal(n), rng.standard_normal((3, n))
    x, index = np.arange(2 * n), rng.integers(0, 3, 5)
    given = ow.from_numpy(self)
    np.testing.assert_array_equal(ops.resampled(given).numpy(), self[3 * np.arange(2 * n // 3) // 2])
    np.testing.assert_array_equal(ops.two_divisors(given, ow.from_numpy(other)).numpy(), self[x // 2] + other[x // 3])
    np.testing.assert_array_equal(ops.backwards(given).numpy(), self[(2 * n - 1 - x) // 2])
    got = ops.rows(ow.from_numpy(table), ow.from_numpy(index)).numpy()
    np.testing.assert_allclose(got, 2 * table[index].sum(1))
    given.requires_grad_()
    weight = ow.from_numpy(other[:3]).requires_grad_()
    for function, tensors in ((ops.strided, (given,)), (ops.convolved, (given, weight))):
        assert ow.autograd.gradcheck(function, tensors) and ow.autograd.gradgradcheck(function, tensors)
"""


@pytest.fixture(scope="module")
def woven(tmp_path_factory: pytest.TempPathFactory) -> Woven:
    folder = shared_folder(tmp_path_factory, "divided")
    return weave_unoptimized(written(folder / "divided.yaml", ENTRIES), out=folder)


def test_values_and_gradients(woven: Woven) -> None:
    script(CODE, cwd=woven.folder.parent)
