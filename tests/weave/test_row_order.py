"""examples/order.yaml: rows and folds in an order, running values, elements at positions, and their gradients."""

from __future__ import annotations

from pathlib import Path

import pytest
from folders import shared_folder
from scripts import script
from weaving import RAISES, weave_unoptimized

pytest.importorskip("opweave")

from opweave._weave.weave import Woven

EXAMPLES = Path(__file__).parents[2] / "examples" / "order.yaml"
HEAD = """
import numpy as np
import opweave as ow
import order as ops

rng = np.random.default_rng(5)
of = ow.from_numpy

def near(got, want, rtol=1e-12):
    np.testing.assert_allclose(got.detach().double().numpy(), want, rtol=rtol, atol=rtol)

def check(function, *inputs):
    return ow.autograd.gradcheck(function, inputs) and ow.autograd.gradgradcheck(function, inputs)

def leaf(*shape, low=-2.0, high=2.0):
    return of(rng.uniform(low, high, shape)).requires_grad_()

CASES = [(of(np.round(rng.normal(size=shape), digits)), dim) for shape, dim, digits in (
    ((3, 5), -1, 0), ((4, 7), 0, 1), ((2, 3, 70), 1, 1), ((2, 3, 70), -1, 1), ((5,), 0, 3), ((1, 1), -1, 3),
    ((0, 4), -1, 3), ((4, 300), -1, 3), ((6, 5), 0, 2))]
CASES += [(each.flip(dim), dim) for each, dim in CASES] + [(each[..., ::2], dim) for each, dim in CASES]

def sorted_and_ranks(x, dim):
    order = np.argsort(x, dim, kind="stable")
    return np.take_along_axis(x, order, dim), np.argsort(order, dim, kind="stable")
"""


@pytest.fixture(scope="module")
def woven(tmp_path_factory: pytest.TempPathFactory) -> Woven:
    return weave_unoptimized(EXAMPLES, out=shared_folder(tmp_path_factory, "order"))


def run(woven: Woven, code: str) -> None:
    script(HEAD + RAISES + code, cwd=woven.folder.parent)


def test_values(woven: Woven) -> None:
    run(
        woven,
        """
for x, dim in CASES:
    v = x.numpy()
    ranks = sorted_and_ranks(-v, dim)[1]
    near(ops.ranks(-x, dim), ranks)
    near(ops.top_k_mask(x, dim, k=3), np.where(ranks < 3, v, 0))
    rising = sorted_and_ranks(abs(v), dim)[0]
    n = v.shape[dim]
    if not v.size:
        assert ops.row_median(x, dim).shape == v.sum(dim).shape
        continue
    near(ops.row_median(x, dim, True), np.take(np.sort(v, dim), [(n - 1) // 2], dim))
    for q in (0.0, 0.3, 0.5, 1.0):
        near(ops.row_quantile(x, dim, q=q), np.quantile(v, q, dim))
    places = np.arange(n).reshape([n if d == dim % v.ndim else 1 for d in range(v.ndim)])
    near(ops.gini(x.abs(), dim), ((2 * places + 1 - n) * rising).sum(dim) / (n * rising.sum(dim)))
    e = np.exp(v - v.max(dim, keepdims=True))
    chance = e / e.sum(dim, keepdims=True)
    order = np.argsort(-v, dim, kind="stable")
    falling = np.take_along_axis(chance, order, dim)
    kept = falling * (falling.cumsum(dim) - falling < 0.9)
    want = np.zeros_like(v)
    np.put_along_axis(want, order, kept / kept.sum(dim, keepdims=True), dim)
    near(ops.nucleus(x, dim), want)
    target = rng.integers(0, n, v.max(dim, keepdims=True).shape)
    near(ops.class_loss(x, of(target), dim, True), -np.log(np.take_along_axis(chance, target, dim)), 1e-10)
    near(ops.sparsemax(x, dim).sum(dim), np.ones(v.sum(dim).shape), 1e-10)
near(ops.sparsemax(ow.tensor([[0.5, 0.0, 0.25], [3.0, 0.0, 1.0]])), [[7 / 12, 1 / 12, 1 / 3], [1, 0, 0]], 1e-6)
""",
    )


def test_several_tensors_and_results(woven: Woven) -> None:
    run(
        woven,
        """
for shape in ((3, 6), (50, 9), (1, 1)):
    x, weight = rng.normal(size=shape), rng.uniform(0.1, 1, size=shape[-1:])
    order = np.argsort(x, -1)
    below = (2 * weight[order].cumsum(-1) < weight.sum()).sum(-1, keepdims=True)
    at = np.take_along_axis(order, below, -1)
    median, position = ops.weighted_median(of(x), of(weight), keepdim=True)
    near(median, np.take_along_axis(x, at, -1))
    near(position, at)
    assert position.dtype == ow.int64
    price, held = np.exp(x), rng.random(shape) < 0.7
    drops, deepest, steps = ops.drawdown(of(price), of(held))
    want = np.where(held, 1 - price / np.maximum.accumulate(price, -1), 0)
    near(drops, want)
    near(deepest, want.max(-1))
    near(steps, (price - np.concatenate([price[:, :1], price[:, :-1]], -1)).sum(0))
""",
    )


def test_scans_and_reductions(woven: Woven) -> None:
    """Values against loops of Python over each line."""
    run(
        woven,
        """
def lines(x, dim, function, *others):
    rows = [np.moveaxis(np.broadcast_to(each, x.shape), dim, -1).reshape(-1, x.shape[dim]) for each in (x, *others)]
    shape = np.moveaxis(x, dim, -1).shape
    made = [function(*row) for row in zip(*(each.tolist() for each in rows))]
    return made, shape

def scanned(x, dim, function, *others):
    made, shape = lines(x, dim, function, *others)
    return np.moveaxis(np.array(made, np.float64).reshape(shape), -1, dim)

def back(order, values):
    return [value for _, value in sorted(zip(order, values))]

def kept(chances):
    order = sorted(range(len(chances)), key=lambda k: (-chances[k], k))
    reached = np.cumsum([0, *(chances[k] for k in order)])
    return back(order, [chances[k] if reached[rank] < 0.6 else 0 for rank, k in enumerate(order)])

def means(values, by):
    order = sorted(range(len(values)), key=lambda k: (by[k], k))
    return back(order, [np.mean([values[k] for k in order[: rank + 1]]) for rank in range(len(order))])

def margins(values, target):
    order = sorted(range(len(values)), key=lambda k: (-values[k], k))
    falling = [values[k] for k in order]
    return back(order, np.cumsum([max(values[k] - falling[target[k]], 0) * (k + 1) for k in order]))

def gini(values):
    return sum(abs(a - b) for a in values for b in values) / (2 * len(values) * sum(values))

for x, dim in CASES:
    v = x.numpy()
    near(ops.tied_ranks(x, dim), scanned(v, dim, lambda row: [sum(other < each for other in row) for each in row]))
    if not v.size:
        assert ops.top_p(x, dim).shape == v.shape and ops.inequality(x, dim).shape == v.sum(dim).shape
        continue
    chance = abs(v) / 3
    near(ops.top_p(of(chance), dim, p=0.6), scanned(chance, dim, kept), 1e-9)
    by = np.round(rng.normal(size=v.shape[-1:]), 1)
    near(ops.means_below(x, of(by), dim), scanned(v, dim, means, by), 1e-9)
    target = rng.integers(0, v.shape[dim], v.max(dim, keepdims=True).shape)
    near(ops.overtaken(x, of(target), dim), scanned(v, dim, margins, target), 1e-9)
    made, shape = lines(abs(v) + 1, dim, gini)
    near(ops.inequality(of(abs(v) + 1), dim), np.reshape(made, shape[:-1]), 1e-9)
v = abs(CASES[2][0].numpy()[..., :6]) + 1
near(ops.inequality(of(v), None), gini(v.ravel().tolist()), 1e-9)
near(ops.inequality(of(v), (0, 2), True)[0, :, 0], [gini(v[:, k].ravel().tolist()) for k in range(3)], 1e-9)

x, by = leaf(3, 6), of(rng.normal(size=6)).requires_grad_()
target = ow.tensor([[1], [2], [0]])
for function in (lambda x: ops.top_p(x.exp(), p=2.0), lambda x: ops.means_below(x, by.detach(), 0),
                 lambda x: ops.overtaken(x, target), lambda x: ops.inequality(x.exp(), -1)):
    assert check(function, x)
ops.means_below(x, by).sum().backward()
assert by.grad is None or not by.grad.any()

nan = float("nan")
assert ops.tied_ranks(ow.tensor([[nan, 1, 3.0, 1]])).tolist() == [[3, 0, 2, 0]]
assert ops.tied_ranks(ow.tensor([200, 7, 200], dtype=ow.uint8)).tolist() == [1, 0, 1]
halves = ops.top_p(ow.tensor([0.25, 0.5, 0.25], dtype=ow.bfloat16), p=0.6)
assert halves.tolist() == [0.25, 0.5, 0] and halves.dtype == ow.bfloat16
assert ops.tied_ranks(ow.tensor(3.0)).tolist() == 0 and ops.inequality(ow.tensor(3.0)).tolist() == 0
assert ops.top_p(ow.empty(3, 4, device="meta")).shape == (3, 4)
raises(IndexError, "is none of a row of 4 elements", lambda: ops.overtaken(ow.zeros(3, 4), ow.full((3, 1), 4)))
""",
    )


def test_gradients(woven: Woven) -> None:
    run(
        woven,
        """
x = leaf(3, 6)
of_rows = ow.tensor([[1], [2], [0]])
held = of(rng.random((3, 6)) < 0.7)
for function in (ops.top_k_mask, lambda x: ops.nucleus(x, p=0.7), lambda x: ops.row_quantile(x, q=0.3), ops.row_median,
                 ops.sparsemax, lambda x: ops.gini(x.abs(), 0), lambda x: ops.class_loss(x, of_rows),
                 lambda x: ops.weighted_median(x, of(np.ones(6)))[0], lambda x: ops.drawdown(x.exp(), held)):
    assert check(function, x)
""",
    )


def test_dtypes_nan_and_what_is_refused(woven: Woven) -> None:
    run(
        woven,
        """
nan = float("nan")
assert ops.ranks(ow.tensor([[nan, 1, nan, 3.0]])).tolist() == [[2, 0, 3, 1]]
assert ops.top_k_mask(ow.tensor([1, 1, 2, 1], dtype=ow.float16), k=2).tolist() == [1, 0, 2, 0]
assert ops.ranks(ow.tensor(3.0)).tolist() == 0 and ops.row_median(ow.tensor(3)).tolist() == 3
middle = ops.row_median(ow.tensor([[5, 1, 255]], dtype=ow.uint8))
assert middle.tolist() == [5] and middle.dtype == ow.uint8
many = ow.zeros(4000, dtype=ow.float16)
assert ops.ranks(many).tolist() == list(range(4000))
assert ops.nucleus(ow.empty(3, 4, device="meta")).shape == (3, 4)
assert ops.ranks(ow.zeros(3, 0)).shape == (3, 0)
scores = ow.zeros(3, 4)
for wrong in (4, -1, 1 << 40):
    raises(IndexError, "is none of a row of 4 elements", lambda: ops.class_loss(scores, ow.tensor([[0], [1], [wrong]])))
for wrong in (nan, 0.5, float("inf")):
    raises(IndexError, "is none of a row of 4 elements", lambda: ops.class_loss(scores, ow.tensor([[0], [1], [wrong]])))
raises(IndexError, "is none of a row of 0 elements", lambda: ops.row_median(ow.zeros(3, 0)))
raises(RuntimeError, "has one element for each row", lambda: ops.class_loss(scores, ow.zeros(4, dtype=ow.int64)))
""",
    )
