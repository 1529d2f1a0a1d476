"""The operators of examples/places.yaml: terms whose places are data, their gradients, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from folders import shared_folder
from scripts import script
from weaving import RAISES, weave_unoptimized

pytest.importorskip("opweave")

from opweave._weave.weave import Woven

EXAMPLES = Path(__file__).parents[2] / "examples" / "places.yaml"
HEAD = """
import numpy as np
import opweave as ow
import places as ops

rng = np.random.default_rng(5)
of = ow.from_numpy

def near(got, want, rtol=1e-12):
    np.testing.assert_allclose(got.detach().numpy(), want, rtol=rtol, atol=rtol)

def check(function, *inputs):
    return ow.autograd.gradcheck(function, inputs) and ow.autograd.gradgradcheck(function, inputs)
"""


@pytest.fixture(scope="module")
def woven(tmp_path_factory: pytest.TempPathFactory) -> Woven:
    return weave_unoptimized(EXAMPLES, out=shared_folder(tmp_path_factory, "places"))


def run(woven: Woven, code: str) -> None:
    script(HEAD + RAISES + code, cwd=woven.folder.parent)


def test_segments(woven: Woven) -> None:
    run(
        woven,
        """
for n, count, d in ((7, 4, 3), (1000, 50, 20), (0, 3, 2), (5, 2, 0), (1, 1, 1), (50000, 30000, 1)):
    values, index = rng.standard_normal((n, d)), rng.integers(0, count, n)
    want = np.zeros((count, d))
    np.add.at(want, index, values)
    for dtype, tolerance in ((np.float64, 1e-12), (np.float32, 1e-5), (np.float16, 2e-2)):
        got = ops.segment_sum(of(values.astype(dtype)), of(index), count)
        near(got.double(), want, tolerance) if n else None
        assert got.numpy().dtype == dtype and got.shape == (count, d)
    some = np.where(np.arange(n) % 3 == 0, -1, index)
    want = np.full((count, d), -np.inf)
    np.maximum.at(want, some[some >= 0], values[some >= 0])
    assert (ops.segment_max(of(values), of(some), count).numpy() == np.where(np.isinf(want), 0, want)).all()
whole = ow.tensor([[200], [100]], dtype=ow.uint8)
assert ops.segment_sum(whole, ow.tensor([1, 1]), 2).tolist() == [[0], [44]]
assert ops.segment_sum(ow.ones(3, 2, device="meta"), ow.ones(3, dtype=ow.int64, device="meta"), 4).shape == (4, 2)
""",
    )


def test_several_results_and_dimensions_in_front(woven: Woven) -> None:
    run(
        woven,
        """
values, index = rng.standard_normal((2, 6)), ow.tensor([0, 2, 2, 0, 3, 2])
least, mean, product = ops.segment_extent(of(values), index, 4)
groups = [[0, 3], [], [1, 2, 5], [4]]
near(product, [[row[each].prod() for each in groups] for row in values])
near(least, [[row[each].min() if each else np.inf for each in groups] for row in values])
near(mean, [[(row[each] ** 2).mean() if each else np.nan for each in groups] for row in values])
again = ops.segment_extent(of(values[0]), index.expand(3, 6), 4)
assert all((each[2].numpy() == of_two[0].numpy()).all() for each, of_two in zip(again[::2], (least, product)))
each = ow.tensor([[0, 0, 0, 1, 1, 1], [1, 1, 1, 1, 1, 0]])
near(ops.segment_extent(of(values), each, 2).least[1], [values[1, 5], values[1, :5].min()])
""",
    )


def test_derivatives(woven: Woven) -> None:
    run(
        woven,
        """
index = ow.tensor([0, 2, 2, 0, 3, 2])
table = of(rng.standard_normal((6, 2))).requires_grad_()
assert check(lambda x: ops.segment_sum(x * x, index, 5), table)
assert check(lambda x: ops.segment_max(x * x, index, 5), table)
assert check(lambda x: ops.segment_softmax(x, index, 5), table)
rows = of(rng.standard_normal((2, 6))).requires_grad_()
for result in range(3):
    assert check(lambda x: ops.segment_extent(x, index, 4)[result][:, [0, 2, 3]], rows)
equal = ow.tensor([[1.0], [1], [0]], requires_grad=True)
ops.segment_max(equal, ow.tensor([0, 0, 0]), 2).sum().backward()
assert equal.grad.tolist() == [[1], [0], [0]]
""",
    )


def test_what_is_refused(woven: Woven) -> None:
    run(
        woven,
        """
for outside in (-1, 4):
    message = "segment_sum(): a place is outside of the result, whose shape is (4, 3)"
    raises(IndexError, message, ops.segment_sum, ow.ones(2, 3), ow.tensor([0, outside]), 4)
raises(RuntimeError, "would be (-4, 3)", ops.segment_sum, ow.ones(2, 3), ow.tensor([0, 1]), -4)
message = "is read as int64, which does not hold float32"
raises(RuntimeError, message, ops.segment_sum, ow.ones(2, 3), ow.tensor([0.0, 1]), 4)
message = "'n' has 2 positions in 'self' and 3 in 'index'"
raises(RuntimeError, message, ops.segment_sum, ow.ones(2, 3), ow.tensor([0, 1, 2]), 4)
raises(RuntimeError, "occurred(): count is 0, which is not positive", ops.occurred, ow.tensor([1]), 0)
""",
    )


def test_histograms_and_votes(woven: Woven) -> None:
    run(
        woven,
        """
values = rng.uniform(-0.2, 1.2, 1000)
got = ops.histogram_of(of(values), 10)
assert got.dtype == ow.int64
assert (got.numpy() == np.histogram(values[(values >= 0) & (values < 1)], 10, (0, 1))[0]).all()
assert ops.histogram_of(ow.tensor([np.nan, np.inf, -np.inf, 0.5]), 2).tolist() == [0, 1]
y, x, weight = rng.uniform(-5, 5, (3, 40))
want = np.zeros((12, 9))
for a in range(12):
    distance = np.floor(x * np.cos(a * np.pi / 12) + y * np.sin(a * np.pi / 12) + 0.5) + 4
    np.add.at(want[a], np.clip(distance, 0, 8).astype(int), weight)
leaf = of(weight).requires_grad_()
near(ops.hough(of(y), of(x), leaf, 12, 4), want)
assert check(lambda w: ops.hough(of(y), of(x), w, 12, 4), leaf)
got = ops.penalized(ow.tensor([[1.0, -2, 3], [1, 2, 3]]), ow.tensor([[1, 2], [0, 0]]), 2)
assert got.tolist() == [[1, -4, 1.5], [0.5, 2, 3]]
""",
    )


def test_results_do_not_depend_on_threads(woven: Woven) -> None:
    run(
        woven,
        """
values, index = rng.standard_normal((60000, 3)).astype("float32"), of(rng.integers(0, 20000, 60000))
found = []
for threads in (1, 2, 3, 5):
    ow.set_num_threads(threads)
    leaf = of(values).requires_grad_()
    result = ops.segment_sum(leaf * leaf, index, 20000)
    result.sin().sum().backward()
    largest = ops.segment_max(leaf, index, 20000)
    found.append([each.detach().numpy().tobytes() for each in (result, leaf.grad, largest)])
assert all(each == found[0] for each in found)
""",
    )
