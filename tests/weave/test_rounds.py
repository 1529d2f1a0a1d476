"""The operators of examples/rounds.yaml compute what they say, also their gradients."""

from __future__ import annotations

from pathlib import Path

import pytest
from folders import shared_folder
from scripts import script
from weaving import RAISES, weave_unoptimized

pytest.importorskip("opweave")


EXAMPLES = Path(__file__).parents[2] / "examples" / "rounds.yaml"
CODE = """
import numpy as np
import opweave as ow
import rounds as ops

rng = np.random.default_rng(5)

def drawn(low, high, *shape):
    return ow.tensor(rng.uniform(low, high, shape), requires_grad=True)

def check(function, *tensors):
    assert ow.autograd.gradcheck(function, tensors)
    assert ow.autograd.gradgradcheck(function, tensors)

def rounds(c, limit):
    z, count = 0, 0
    while count < limit and abs(z) ** 2 < 4:
        z, count = z * z + c, count + 1
    return count

left, top = np.array([-2.1, 0.1]), np.array(-1.0)
got = ops.escapes(ow.tensor(left), ow.tensor(top), 5, 37, step=0.11, limit=30)
want = [[[rounds(complex(x + 0.11 * j, -1 + 0.11 * i), 30) for j in range(37)] for i in range(5)] for x in left]
assert got.dtype == ow.int64 and got.tolist() == want
assert ops.escapes(ow.tensor(left), ow.tensor(top), 0, 3).shape == (2, 0, 3)
assert ops.escapes(ow.tensor(left), ow.tensor(top), 1, 2, limit=0).tolist() == [[[0, 0]], [[0, 0]]]
out = ow.empty(2, 5, 37, dtype=ow.int64)
assert ops.escapes(ow.tensor(left), ow.tensor(top), 5, 37, step=0.11, limit=30, out=out) is out and out.tolist() == want

eccentricity, period, time = drawn(0, 0.4, 3), drawn(1, 3, 3), drawn(0, 9, 20)
angle = ops.anomalies(eccentricity, period, time)
mean = 2 * np.pi * time.detach().numpy() / period.detach().numpy()[:, None]
near = angle - eccentricity[:, None] * angle.sin() - ow.tensor(mean)
assert near.abs().max() < 1e-13
check(ops.anomalies, drawn(0, 0.4, 2), drawn(1, 3, 2), drawn(0, 9, 3))
half = ops.anomalies(*(each.detach().half() for each in (eccentricity, period, time)))
assert half.dtype == ow.float16 and (half - angle).abs().max() < 0.1
for threads in (1, 4):
    ow.set_num_threads(threads)
    assert ow.equal(ops.anomalies(eccentricity, period, time), angle)

field, couplings = drawn(-1, 1, 2, 5), drawn(-0.5, 0.5, 5, 5)
want = np.zeros((2, 5))
for rounds in range(4):
    assert np.allclose(ops.magnetization(field, couplings, rounds=rounds).detach().numpy(), want, rtol=1e-13)
    want = np.tanh(field.detach().numpy() + want @ couplings.detach().numpy().T)
check(ops.magnetization, drawn(-1, 1, 2, 3), drawn(-0.5, 0.5, 3, 3))
raises(RuntimeError, "", ops.escapes, ow.tensor(left), ow.tensor(top), -1, 2)
"""


def test_loops_for_each_position(tmp_path_factory: pytest.TempPathFactory) -> None:
    woven = weave_unoptimized(EXAMPLES, out=shared_folder(tmp_path_factory, "rounds"))
    script(RAISES + CODE, cwd=woven.folder.parent)
