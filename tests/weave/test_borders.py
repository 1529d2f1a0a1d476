"""What lies outside of tensors, in short lines, for which tensors are copied with margins, and in long ones."""

from __future__ import annotations

import pytest
from folders import shared_folder, written
from scripts import script
from weaving import weave_unoptimized

pytest.importorskip("opweave")

from opweave._weave.weave import Woven

RULES = {"zero": "0", "seven": "7", "nearest": "nearest", "wrap": "wrap", "reflect": "reflect"}
ENTRY = """
- func: filtered_{name}(Tensor self, Tensor weight, int stride=1) -> Tensor
  doc: Sums of products with weights around each position, and one that is two rows and columns further.
  compute:
    size: {{y: (self.size(-2) + stride - 1) // stride, x: (self.size(-1) + stride - 1) // stride}}
    value[..., y, x]: >-
      sum(self[..., y * stride + i - 1, x * stride + j - 2] * weight[i, j]
          for i in range(weight.size(0)) for j in range(weight.size(1))) + self[..., y * stride + 2, x * stride + 2]
    outside: {{self: {rule}}}
  dtypes: [float32, float64, int64, int16]
  derivatives: none
"""
MASKED = """
- func: masked(Tensor self, Tensor mask) -> Tensor
  doc: Sums of the elements whose mask is not zero, how many there are, and a hundred where an element is odd.
  compute:
    value[x]: >-
      sum(self[x + i] for i in range(-1, 2) if mask[x + i]) + sum(1 for k in range(self.size(0)) if self[k])
      + (100 if self[x] % 2 == 1 else 0)
    outside: 0
  dtypes: uint8
  derivatives: none
"""
ABSENT = """
- func: with_more(Tensor self, Tensor? more, int stride=1) -> Tensor
  doc: Sums with elements of another tensor, which are zeros where there is none.
  compute:
    value[x]: self[x] + more[x * stride]
    outside: error
  dtypes: [float32, float64, int64]
  derivatives: none
"""
BACKWARDS = """
- func: backwards_{name}(Tensor self, Tensor weight, int count) -> Tensor
  doc: Sums of products with elements that are met from the last one on.
  compute:
    size: {{q: count}}
    value[q]: sum(self[2 * i - {factor} * q + 5] * weight[i] for i in range(weight.size(0)))
    outside: {{self: {rule}}}
  dtypes: floating
  derivatives: none
"""
RANGED = """
- func: between(Tensor self, Tensor first, Tensor stop) -> Tensor
  doc: Sums of the elements in ranges that are data.
  compute:
    value[i]: sum(self[k] for k in range(int(first[i]), int(stop[i])))
    outside: {self: 0}
  dtypes: floating
  derivatives: none
"""
SHARING = """
- func: sharing_{name}(Tensor self, Tensor other) -> (Tensor mean, Tensor most, Tensor apart)
  doc: Means of neighbours with weights, the greatest weighted one, and a sum that reads another tensor besides.
  compute:
    let: {{'weight[i]': 'abs(self[..., x + i] - self[..., x]) + 1'}}
    size: {{x: self.size(-1)}}
    mean[..., x]: >-
      sum(weight[i] * self[..., x + i] for i in range(-2, 3)) / sum(weight[i] for i in range(-2, 3))
    most[..., x]: max(weight[i] * self[..., x + i] for i in range(-2, 3))
    apart[..., x]: sum(weight[i] * other[..., x + 2 * i] for i in range(-2, 3))
    outside: {rule}
  dtypes: [float64]
  derivatives: none
"""
CODE = """
import numpy as np
import opweave as ow
import filters as ops

rng = np.random.default_rng(5)
modes = {"zero": dict(mode="constant"), "seven": dict(mode="constant", constant_values=7), "nearest": dict(mode="edge"),
         "wrap": dict(mode="wrap"), "reflect": dict(mode="reflect")}

def filtered(x, weight, stride, mode):
    height, width = x.shape[-2:]
    around = np.pad(x, [(0, 0)] * (x.ndim - 2) + [(1, 3), (2, 3)], **mode)
    result = around[..., 3:3 + height, 4:4 + width].copy()
    for i in range(weight.shape[0]):
        for j in range(weight.shape[1]):
            result += weight[i, j] * around[..., i:i + height, j:j + width]
    return result[..., ::stride, ::stride]

for name, mode in modes.items():
    function = getattr(ops, f"filtered_{name}")
    for shape in ((6, 5), (2, 3, 9, 40), (1, 4, 300), (7, 17), (12, 33)):
        for stride in (1, 2, 3):
            for dtype in ("float32", "float64", "int64", "int16"):
                x = rng.integers(-9, 9, shape).astype(dtype)
                weight = rng.integers(-9, 9, (3, 4)).astype(dtype)
                got = function(ow.from_numpy(x), ow.from_numpy(weight), stride)
                assert (got.numpy() == filtered(x, weight, stride, mode)).all(), (name, shape, stride, dtype)
    turned = ow.from_numpy(rng.standard_normal((9, 3, 8)).astype("f4")).transpose(0, 2)
    weight = np.ones((3, 4), "f4")
    want = filtered(turned.numpy(), weight, 1, mode)
    np.testing.assert_allclose(function(turned, ow.from_numpy(weight)).numpy(), want, rtol=1e-5, atol=1e-5)
    assert function(ow.ones(3, 0, 4), ow.ones(3, 4)).shape == (3, 0, 4)

for length in (1, 7, 300):
    x, mask = rng.integers(0, 9, (2, length)).astype("u1") * rng.integers(0, 2, (2, length)).astype("u1")
    around = np.pad(x * (mask != 0), 1)
    want = around[:-2] + around[1:-1] + around[2:] + np.count_nonzero(x) + 100 * (x % 2)
    assert (ops.masked(ow.from_numpy(x), ow.from_numpy(mask)).numpy() == want.astype("u1")).all()
    for stride in (1, 2, 3):
        for dtype in ("float32", "float64", "int64"):
            self, more = (ow.from_numpy(rng.integers(0, 9, n).astype(dtype)) for n in (length, length * stride))
            assert (ops.with_more(self, None, stride) == self).all()
            assert (ops.with_more(self, more, stride) == self + more[::stride]).all()

for size, terms, count in ((3, 2, 5), (5, 9, 4), (40, 30, 70), (100, 20, 300), (1, 1, 1)):
    x, weight = rng.integers(-9, 9, size).astype("f4"), rng.integers(-9, 9, terms).astype("f4")
    for factor in (1, 3):
        for name, other in (("skip", 0), ("seven", 7)):
            at = 2 * np.arange(terms) - factor * np.arange(count)[:, None] + 5
            want = np.where((at >= 0) & (at < size), x[at % size], other) @ weight
            function = getattr(ops, f"backwards_{name}{factor}")
            got = function(ow.from_numpy(x), ow.from_numpy(weight), count)
            assert (got.numpy() == want).all(), (name, factor, size)

def shared(x, other, mode):
    terms = []
    for i in range(-2, 3):
        both = []
        for tensor, step in ((x, i), (other, 2 * i)):
            places = np.arange(x.shape[-1]) + step
            skipped = (places < 0) | (places >= x.shape[-1]) if mode is None else np.zeros(x.shape[-1], bool)
            around = np.pad(tensor, [(0, 0), (4, 4)], **(mode or dict(mode="constant")))
            both.append((around[:, 4 + step : 4 + step + x.shape[-1]], ~skipped))
        (near, has_near), (far, has_far) = both
        terms.append((abs(near - x) + 1, near, has_near, far, has_near & has_far))
    total = sum(np.where(has, weight, 0) for weight, _, has, _, _ in terms)
    mean = sum(np.where(has, weight * near, 0) for weight, near, has, _, _ in terms) / total
    most = np.max([np.where(has, weight * near, -np.inf) for weight, near, has, _, _ in terms], 0)
    return mean, most, sum(np.where(has, weight * far, 0) for weight, _, _, far, has in terms)

for name, mode in (*modes.items(), ("skip", None)):
    for shape in ((3, 5), (2, 40), (1, 300), (4, 17)):
        x, other = rng.integers(-9, 9, shape).astype("f8"), rng.integers(-9, 9, shape).astype("f8")
        found = getattr(ops, f"sharing_{name}")(ow.from_numpy(x), ow.from_numpy(other))
        for got, want in zip(found, shared(x, other, mode), strict=True):
            np.testing.assert_allclose(got.numpy(), want, rtol=1e-14, err_msg=f"{name} {shape}")

def between(first, stop, dtype):
    ends = (ow.tensor([each], dtype=dtype) for each in (first, stop))
    try:
        return ops.between(ow.tensor([1.0, 2.0, 3.0]), *ends).item()
    except IndexError:
        return IndexError

inf, nan, most = float("inf"), float("nan"), 2**63 - 1
ranges = [(0, 3, 6), (-5, 1000, 6), (1, 2, 2), (2, 1, 0)]
ranges += [(*each, IndexError) for each in ((0, most), (-most, most), (0, inf), (-inf, 3), (0, nan), (nan, 0))]
for first, stop, want in ranges:
    for dtype in (ow.int64, ow.float32, ow.float64):
        if dtype is not ow.int64 or isinstance(stop, int) and isinstance(first, int):
            assert between(first, stop, dtype) == want, (first, stop, dtype)
"""


@pytest.fixture(scope="module")
def woven(tmp_path_factory: pytest.TempPathFactory) -> Woven:
    folder = shared_folder(tmp_path_factory, "filters")
    entries = "".join(ENTRY.format(name=name, rule=rule) for name, rule in RULES.items()) + MASKED + ABSENT + RANGED
    entries += "".join(SHARING.format(name=name, rule=rule) for name, rule in (*RULES.items(), ("skip", "skip")))
    for name, rule in (("skip", "skip"), ("seven", "7")):
        entries += "".join(BACKWARDS.format(name=f"{name}{factor}", rule=rule, factor=factor) for factor in (1, 3))
    return weave_unoptimized(written(folder / "filters.yaml", entries), out=folder)


def test_all_rules(woven: Woven) -> None:
    script(CODE, cwd=woven.folder.parent)
