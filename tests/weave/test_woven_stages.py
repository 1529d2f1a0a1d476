"""Names of `let` that stand for reductions are computed once, and gradients go through them by the chain rule."""

from __future__ import annotations

import pytest
from folders import shared_folder, written
from scripts import script
from weaving import weave_unoptimized

pytest.importorskip("opweave")

from opweave._weave.weave import Woven

ENTRIES = """\
- func: cross_entropy_of(Tensor logits, Tensor target) -> Tensor
  doc: Negative logarithm of the target's probability, for each row of logits.
  compute:
    let: {top: 'max(logits[n, c] for c in range(logits.size(1)))'}
    value[n]: log(sum(exp(logits[n, c] - top) for c in range(logits.size(1)))) + top - logits[n, target[n]]
    outside: {logits: error}
  dtypes: float64
  reference: none
  derivatives: {logits: auto}

- func: causal_softmax(Tensor scores) -> Tensor
  doc: Softmax of each row, up to the diagonal.
  compute:
    let:
      top: max(scores[..., i, k] for k in range(i + 1))
      total: sum(exp(scores[..., i, k] - top) for k in range(i + 1))
    value[..., i, j]: exp(scores[..., i, j] - top) / total if j <= i else 0
    outside: error
  dtypes: float64
  derivatives: none

- func: lomb_scargle(Tensor time, Tensor self, Tensor frequency) -> Tensor
  doc: The power of a signal at uneven times, at each angular frequency.
  compute:
    let:
      n: time.size(0)
      angle: 2 * frequency[f] * time[t]
      tau: atan2(sum(sin(angle) for t in range(n)), sum(cos(angle) for t in range(n))) / 2
      c: cos(frequency[f] * time[t] - tau)
      s: sin(frequency[f] * time[t] - tau)
    require: {check: n > 0, message: there are no times}
    value[f]: >-
      (square(sum(self[t] * c for t in range(n))) / sum(c * c for t in range(n))
       + square(sum(self[t] * s for t in range(n))) / sum(s * s for t in range(n))) / 2
  dtypes: floating
  derivatives: none

- func: neighbourhood(Tensor self, int radius) -> Tensor
  doc: Similarities to neighbours, with a border at which several positions lead to one element.
  compute:
    value[y]: sum(exp(-square(self[y + i] - self[y])) for i in range(-radius, radius + 1))
    outside: reflect
  dtypes: float64
  derivatives: auto

- func: canberra(Tensor self, Tensor other) -> Tensor
  doc: Canberra distances of all rows (N, D) and (M, D), without elements that are NaN.
  compute:
    let:
      total: abs(self[i, k]) + abs(other[j, k])
      part: 'abs(self[i, k] - other[j, k]) / total if total > 0 else 0'
    value[i, j]: sum(part if part == part else 0 for k in range(self.size(1)))
  dtypes: float64
  derivatives: none
"""
HEAD = """
import numpy as np
import opweave as ow
import stages as ops

rng = np.random.default_rng(5)

def recorded(*shape):
    return ow.from_numpy(rng.standard_normal(shape)).requires_grad_()

def check(function, *tensors):
    assert ow.autograd.gradcheck(function, tensors) and ow.autograd.gradgradcheck(function, tensors)
"""


@pytest.fixture(scope="module")
def woven(tmp_path_factory: pytest.TempPathFactory) -> Woven:
    folder = shared_folder(tmp_path_factory, "stages")
    return weave_unoptimized(written(folder / "stages.yaml", ENTRIES), out=folder)


def run(woven: Woven, code: str) -> None:
    script(HEAD + code, cwd=woven.folder.parent)


def test_values(woven: Woven) -> None:
    run(
        woven,
        """
logits, target = rng.standard_normal((4, 7)) * 50, np.array([0, 6, 3, 3])
want = np.log(np.exp(logits - logits.max(1)[:, None]).sum(1)) + logits.max(1) - logits[np.arange(4), target]
np.testing.assert_allclose(ops.cross_entropy_of(ow.from_numpy(logits), ow.from_numpy(target)).numpy(), want)
out = ow.empty(4, dtype=ow.float64)
assert ops.cross_entropy_of(ow.from_numpy(logits), ow.from_numpy(target), out=out) is out
np.testing.assert_allclose(out.numpy(), want)
for shape in ((1, 1), (3, 5, 5), (2, 0, 0), (2, 40, 40)):
    scores = rng.standard_normal(shape)
    powers = np.exp(scores) * np.tri(shape[-1])
    got = ops.causal_softmax(ow.from_numpy(scores))
    np.testing.assert_allclose(got.numpy(), powers / powers.sum(-1, keepdims=True), rtol=1e-12)
time, signal, frequency = rng.uniform(0, 10, 30), rng.standard_normal(30), rng.uniform(0.5, 3, 7)
tau = np.arctan2(np.sin(2 * np.outer(frequency, time)).sum(1), np.cos(2 * np.outer(frequency, time)).sum(1)) / 2
angles = np.outer(frequency, time) - tau[:, None]
c, s = np.cos(angles), np.sin(angles)
want = ((signal * c).sum(1) ** 2 / (c * c).sum(1) + (signal * s).sum(1) ** 2 / (s * s).sum(1)) / 2
given = ow.from_numpy(time), ow.from_numpy(signal), ow.from_numpy(frequency)
for dtype, tolerance in ((ow.float64, 1e-10), (ow.float32, 1e-3), (ow.bfloat16, 0.5)):
    got = ops.lomb_scargle(*(each.to(dtype) for each in given))
    assert got.dtype is dtype
    np.testing.assert_allclose(got.double().numpy(), want, rtol=tolerance, atol=tolerance)
mixed = ops.lomb_scargle(given[0].float(), given[1], given[2].float())
assert mixed.dtype is ow.float64
np.testing.assert_allclose(mixed.numpy(), want, rtol=1e-4)
rows = np.array([[0.0, 1.0, np.nan], [0.0, -2.0, 5.0]])
np.testing.assert_allclose(
    ops.canberra(ow.from_numpy(rows), ow.from_numpy(rows)).numpy(), [[0, 1], [1, 0]], rtol=1e-12)
""",
    )


def test_first_and_second_gradients(woven: Woven) -> None:
    run(
        woven,
        """
target = ow.tensor([2, 0, 2])
check(lambda logits: ops.cross_entropy_of(logits, target), recorded(3, 4))
check(lambda signal: ops.neighbourhood(signal, 1), recorded(4))
""",
    )


def test_mistakes_are_found_before_anything_is_computed(woven: Woven) -> None:
    run(
        woven,
        """
ow.set_default_dtype(ow.float64)

def message(function, *tensors):
    try:
        function(*tensors)
    except (RuntimeError, IndexError, NotImplementedError) as error:
        return str(error)

assert "there are no times" in message(ops.lomb_scargle, ow.empty(0), ow.empty(0), ow.ones(2))
assert "must have 2 dimensions" in message(ops.cross_entropy_of, ow.ones(3), ow.tensor([0]))
assert message(ops.cross_entropy_of, ow.ones(3, 2), ow.tensor([0, 1, 2])) is not None
assert "not implemented" in message(ops.cross_entropy_of, ow.ones(3, 2).int(), ow.tensor([0, 1, 1]))
assert ops.cross_entropy_of(ow.ones(0, 2), ow.empty(0, dtype=ow.int64)).shape == (0,)
""",
    )
