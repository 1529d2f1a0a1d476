"""The operators of examples/rows.yaml compute what they say, in all layouts, also their gradients."""

from __future__ import annotations

from pathlib import Path

import pytest
from folders import shared_folder
from scripts import script
from weaving import weave_unoptimized

pytest.importorskip("opweave")

from opweave._weave.weave import Woven

EXAMPLES = Path(__file__).parents[2] / "examples" / "rows.yaml"
HEAD = """
import numpy as np
import opweave as ow
import rows as ops

rng = np.random.default_rng(5)

def near(got, want, rtol=1e-12):
    np.testing.assert_allclose(got.detach().double().numpy(), want, rtol=rtol, atol=rtol)

def leaf(*shape, low=0.1, high=2.0):
    return ow.from_numpy(rng.uniform(low, high, shape)).requires_grad_()

def layouts(x):
    # As it is, transposed in memory, backwards, with gaps, a part of a larger tensor.
    yield x
    yield x.transpose(0, -1).contiguous().transpose(0, -1)
    yield x.flip(-1).contiguous().flip(-1)
    yield ow.stack([x, x], -1)[..., 0]
    yield ow.cat([x, x], 0)[x.shape[0]:]

check = ow.autograd.gradcheck
check_again = ow.autograd.gradgradcheck

def normalized(x, w, b, axis):
    mean = x.mean(axis, keepdims=True)
    deviation = np.sqrt(((x - mean) ** 2).mean(axis, keepdims=True) + 1e-5)
    return (x - mean) / deviation * w + b, mean.squeeze(axis), deviation.squeeze(axis)
"""


@pytest.fixture(scope="module")
def woven(tmp_path_factory: pytest.TempPathFactory) -> Woven:
    return weave_unoptimized(EXAMPLES, out=shared_folder(tmp_path_factory, "rows"))


def run(woven: Woven, code: str, **environment: str) -> None:
    script(HEAD + code, cwd=woven.folder.parent, **environment)


def test_results_of_elements_and_of_rows(woven: Woven) -> None:
    run(
        woven,
        """
for shape in ((3, 4), (40, 5), (2, 3, 7), (3, 300), (2, 5000), (2, 140000), (1, 1), (0, 3)):
    x, w, b = rng.normal(size=shape), rng.normal(size=shape[-1:]), rng.normal(size=shape[-1:])
    for each in layouts(ow.from_numpy(x)):
        for got, want in zip(ops.layer_norm(each, ow.from_numpy(w), ow.from_numpy(b)), normalized(x, w, b, -1)):
            near(got, want, 1e-9)
    w, b = (rng.normal(size=(shape[0],) + (1,) * (len(shape) - 1)) for _ in range(2))
    if shape[0]:
        for each in layouts(ow.from_numpy(x)):
            for got, want in zip(ops.layer_norm(each, ow.from_numpy(w), ow.from_numpy(b), 0), normalized(x, w, b, 0)):
                near(got, want, 1e-9)
    one, zero = (ow.full((), each, dtype=ow.bfloat16) for each in (1, 0))
    half = ops.layer_norm(ow.from_numpy(x).bfloat16(), one, zero)
    assert [each.dtype for each in half] == [ow.bfloat16] * 3
""",
    )


def test_tensors_of_rows_and_conditions(woven: Woven) -> None:
    run(
        woven,
        """
x, mask = rng.normal(size=(6, 5)), rng.uniform(size=(6, 5)) > 0.3
mask[:, 2] = True
t = rng.uniform(0.5, 2, size=(6, 1))
powers = np.where(mask, np.exp(x / t), 0)
for each in layouts(ow.from_numpy(x)):
    got = ops.masked_softmax(each, ow.from_numpy(mask), ow.from_numpy(t))
    near(got, powers / powers.sum(-1, keepdims=True))
x, t = leaf(4, 3), leaf(4, 1, low=0.5)
mask = ow.tensor([[True, True, False]])
assert check(lambda x, t: ops.masked_softmax(x, mask, t), (x, t))
for shape in ((4, 3), (1, 3)):
    try:
        ops.masked_softmax(x, mask, ow.ones(shape))
    except RuntimeError as error:
        assert "argument 3 has one element for each row, so its size at dimension 1 must be 1, not 3" in str(error)
    else:
        raise AssertionError(shape)
""",
    )


def test_sums_over_all_rows(woven: Woven) -> None:
    run(
        woven,
        """
for shape in ((5, 3), (1000, 7), (3, 5000), (300, 200)):
    x = rng.uniform(0.1, 1, size=shape)
    for each in layouts(ow.from_numpy(x)):
        shares, totals = ops.column_statistics(each)
        near(shares, x / x.sum(-1, keepdims=True))
        near(totals, (x / x.sum(-1, keepdims=True)).sum(0), 1e-10)
x = rng.uniform(0.1, 1, size=(2, 3, 4))
near(ops.column_statistics(ow.from_numpy(x), 1)[1], (x / x.sum(1, keepdims=True)).sum((0, 2)))
assert ops.column_statistics(ow.ones(0, 3))[1].tolist() == [0.0, 0.0, 0.0]
x = leaf(3, 4)
assert check(ops.column_statistics, x) and check_again(ops.column_statistics, x)
""",
    )


def test_gradients(woven: Woven) -> None:
    run(
        woven,
        """
given = leaf(3, 4), leaf(4), leaf(4)
assert check(ops.layer_norm, given) and check_again(ops.layer_norm, given)
given = leaf(3, 4), leaf(3, 1), leaf(3, 1)
assert check(lambda *x: ops.layer_norm(*x, 0), given) and check_again(lambda *x: ops.layer_norm(*x, 0), given)
given = leaf(3, 4), leaf(3, 4)
assert check(lambda *x: ops.soft_cross_entropy(*x, smoothing=0.1), given)
assert check_again(lambda *x: ops.soft_cross_entropy(*x, smoothing=0.1), given)
assert check(lambda *x: ops.soft_cross_entropy(*x, 0, True), given)
given = leaf(2, 3, 4), leaf(3, 1)
assert check(lambda *x: ops.weighted_moments(*x, (0, 2)), given)
assert check_again(lambda *x: ops.weighted_moments(*x, (0, 2), True), given)
assert check(lambda *x: ops.weighted_moments(*x), given)
# Equal extrema share the gradient.
x = ow.tensor([[1.0, 1.0, 0.0]], requires_grad=True)
ops.soft_cross_entropy(x, ow.tensor([[1.0, 0.0, 0.0]])).sum().backward()
near(x.grad, np.array([[0.4223188 - 1, 0.4223188, 0.1553624]]), 1e-6)
""",
    )


def test_results_do_not_depend_on_threads_or_on_rows_beside(woven: Woven) -> None:
    run(
        woven,
        """
x, w, b = (ow.from_numpy(rng.normal(size=shape).astype(np.float32)) for shape in ((70, 900), (900,), (900,)))
def everything():
    leaves = [each.detach().requires_grad_() for each in (x, w, b)]
    results = ops.layer_norm(*leaves)
    return [*results, *ow.autograd.grad(results[0], leaves, x), *ops.column_statistics(x * x)]
ow.set_num_threads(1)
alone = everything()
ow.set_num_threads(3)
for one, other in zip(alone, everything()):
    assert one.equal(other)
""",
    )
