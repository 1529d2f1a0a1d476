"""The operators of examples/recurrences.yaml compute what they say, also their gradients."""

from __future__ import annotations

from pathlib import Path

import pytest
from folders import shared_folder
from scripts import script
from weaving import RAISES, weave_unoptimized

pytest.importorskip("opweave")

from opweave._weave.weave import Woven

EXAMPLES = Path(__file__).parents[2] / "examples" / "recurrences.yaml"
HEAD = """
import numpy as np
import opweave as ow
import recurrences as ops

rng = np.random.default_rng(5)

def drawn(*shape):
    return ow.tensor(rng.uniform(-1, 1, shape), requires_grad=True)

def near(got, want):
    np.testing.assert_allclose(got.detach().numpy(), want, rtol=1e-12, atol=1e-12)

def check(function, *tensors):
    assert ow.autograd.gradcheck(function, tensors)
    assert ow.autograd.gradgradcheck(function, tensors)
"""


@pytest.fixture(scope="module")
def woven(tmp_path_factory: pytest.TempPathFactory) -> Woven:
    return weave_unoptimized(EXAMPLES, out=shared_folder(tmp_path_factory, "recurrences"))


def run(woven: Woven, code: str, **environment: str) -> None:
    script(HEAD + RAISES + code, cwd=woven.folder.parent, **environment)


def test_along_a_line(woven: Woven) -> None:
    run(
        woven,
        """
x = drawn(2, 3, 40)
want = np.zeros(x.shape)
for t in range(40):
    want[..., t] = x.detach().numpy()[..., t] + 0.7 * (want[..., t - 1] if t else 0)
near(ops.smoothed(x, decay=0.7), want)
near(ops.smoothed(x[0].t().contiguous().t(), decay=0.7), want[0])
for t in range(40):
    want[..., t] = x.detach().numpy()[..., t] + 0.5 * (want[..., t - 3] if t >= 3 else 0)
near(ops.echo(x, 3), want)
near(ops.echo(x, 40), x.detach().numpy())
assert ops.smoothed(ow.zeros(2, 0)).shape == ops.smoothed(ow.zeros(0, 2)).T.shape == (2, 0)
raises(RuntimeError, "depends on one that is 0 steps away", ops.echo, x, 0)
raises(RuntimeError, "depends on one that is -1 steps away", ops.echo, x, -1)
check(lambda x: ops.smoothed(x, decay=0.7), drawn(2, 5))
check(lambda x: ops.echo(x, 2), drawn(2, 5))
half = ops.smoothed(ow.ones(100, dtype=ow.float16), decay=1.0)
assert half.dtype == ow.float16 and half.tolist() == list(range(1, 101))
""",
    )


def test_in_two_directions(woven: Woven) -> None:
    run(
        woven,
        """
x = drawn(2, 5, 6)
near(ops.integral_image(x), x.detach().numpy().cumsum(1).cumsum(2))
check(ops.integral_image, drawn(2, 3, 2))

def distance(a, b):
    d = np.zeros((len(a) + 1, len(b) + 1), int)
    for i, j in np.ndindex(d.shape):
        known = ([d[i - 1, j] + 1] if i else []) + ([d[i, j - 1] + 1] if j else [])
        known += [d[i - 1, j - 1] + (a[i - 1] != b[j - 1])] if i and j else []
        d[i, j] = min(known, default=0)
    return d

a, b = rng.integers(0, 3, (4, 9)), rng.integers(0, 3, (4, 7))
got = ops.edit_distance(ow.tensor(a), ow.tensor(b))
assert got.dtype == ow.int64 and got.tolist() == [distance(*each).tolist() for each in zip(a, b)]

cost = rng.uniform(0, 1, (2, 3, 4))
want = np.full((2, 4, 5), np.inf)
want[:, 0, 0] = 0
for i, j in np.ndindex(3, 4):
    before = np.stack([want[:, i, j], want[:, i + 1, j], want[:, i, j + 1]])
    want[:, i + 1, j + 1] = cost[:, i, j] - 0.5 * np.log(np.exp(-before / 0.5).sum(0))
near(ops.soft_alignment(ow.tensor(cost), softness=0.5), want[:, 1:, 1:])
check(lambda x: ops.soft_alignment(x, softness=0.5), ow.tensor(cost, requires_grad=True))
""",
    )


def test_lines_that_follow_each_other(woven: Woven) -> None:
    run(
        woven,
        """
e, m = drawn(2, 9, 5), drawn(5, 5)
want = e.detach().numpy().copy()
for t in range(1, 9):
    want[:, t] += np.log(np.exp(want[:, t - 1, :, None] + m.detach().numpy()).sum(1))
near(ops.chain_scores(e, m), want)
near(ops.chain_scores(e[0], m), want[0])
check(ops.chain_scores, drawn(2, 3, 2), drawn(2, 2))

want, chosen = e.detach().numpy().copy(), np.zeros((2, 9, 5), int)
for t in range(1, 9):
    known = want[:, t - 1, :, None] + m.detach().numpy()
    chosen[:, t] = known.argmax(1)
    want[:, t] += known.max(1)
best = ops.best_scores(e, m)
near(best, want)
best[:, -1].max(-1).values.sum().backward()
path = np.zeros((2, 9, 5))
for n in range(2):
    k = want[n, -1].argmax()
    for t in reversed(range(9)):
        path[n, t, k] = 1
        k = chosen[n, t, k]
near(e.grad, path)
check(ops.best_scores, drawn(2, 3, 2), drawn(2, 2))
e, m = (ow.zeros(3, 3, dtype=ow.float64, requires_grad=True) for _ in range(2))
ops.best_scores(e, m)[-1, 2].backward()
assert e.grad.tolist() == [[1, 0, 0], [1, 0, 0], [0, 0, 1]], "the first of equal elements"

x, keep, write = drawn(6), drawn(3, 6, 4), drawn(6, 4)
want = np.zeros((3, 6, 4))
for t in range(6):
    want[:, t] = write.detach().numpy()[t] * x.detach().numpy()[t]
    want[:, t] += keep.detach().numpy()[:, t] * want[:, t - 1] if t else 0
near(ops.selective_scan(x, keep, write), want)
check(ops.selective_scan, drawn(2), drawn(2, 2, 2), drawn(2, 2))
long, kept = ow.randn(20, 300), ow.rand(20, 300, 65)
for threads in (1, 4):
    ow.set_num_threads(threads)
    states = ops.selective_scan(long, kept, kept)
    assert all(ow.equal(ops.selective_scan(*each), state) for *each, state in zip(long, kept, kept, states))
""",
    )


def test_the_last_line_alone(woven: Woven) -> None:
    run(
        woven,
        """
a, b = ow.tensor(rng.integers(0, 3, (4, 9))), ow.tensor(rng.integers(0, 3, (4, 7)))
assert ow.equal(ops.edits(a, b), ops.edit_distance(a, b)[:, -1, -1])
assert ops.edits(a[0], b).shape == (4,) and ops.edits(a[0], b[0]).shape == ()
assert ops.edits(a[0, :0], b[0]).item() == 7 and ops.edits(ow.zeros(0, 2, dtype=ow.int64), b[0]).shape == (0,)

e, m = drawn(2, 9, 5), drawn(5, 5)
end = ops.chain_end(e, m)
assert ow.equal(end, ops.chain_scores(e, m)[:, -1]) and end.untyped_storage().nbytes() == 2 * 5 * 8
grads = ow.autograd.grad(end.sum(), (e, m))
wanted = ow.autograd.grad(ops.chain_scores(e, m)[:, -1].sum(), (e, m))
assert all(map(ow.equal, grads, wanted))
check(ops.chain_end, drawn(2, 3, 2), drawn(2, 2))
check(ops.chain_total, drawn(3, 2), drawn(2, 2))
raises(IndexError, "chain_end(): there is no last line, as 't' has no positions", ops.chain_end, e[:, :0], m)
assert ops.chain_end(e[..., :0], m[:0, :0]).shape == (2, 0)
out = ow.empty(4, dtype=ow.int64)
assert ops.edits(a, b, out=out) is out and ow.equal(out, ops.edits(a, b))
""",
    )
