"""The operators of examples/random.yaml draw what functions of whole tensors draw, and have gradients."""

from __future__ import annotations

from pathlib import Path

import pytest
from folders import shared_folder
from scripts import script
from weaving import RAISES

pytest.importorskip("opweave")

from opweave._weave.weave import weave

EXAMPLES = Path(__file__).parents[2] / "examples" / "random.yaml"
CODE = """
import opweave as ow
import random_ops as ops

def seeded(function):
    def called(*given):
        ow.manual_seed(7)
        return function(*given)
    return called

def leaf(*shape):
    return ow.rand(shape, dtype=ow.float64).requires_grad_()

x = ow.arange(12.0).reshape(3, 4)
for each in (x, x.double(), x.half(), x.t(), x[:, ::2], x[0, 0], x[:0], x.to(ow.bfloat16)):
    ow.manual_seed(7)
    noise = ow.randn(each.shape, dtype=each.dtype)
    got = seeded(ops.noisy)(each)
    assert got.dtype == each.dtype and got.shape == each.shape
    assert ow.allclose(got, each + 0.1 * noise, atol=0.1 if each.dtype.itemsize == 2 else 1e-6)
state = ow.Generator().manual_seed(3)
first, second = (ops.noisy(x, generator=state) for _ in range(2))
again = ow.Generator().manual_seed(3)
assert ow.equal(first, x + 0.1 * ow.randn(3, 4, generator=again)) and not ow.equal(first, second)
assert ow.equal(second, ops.noisy(x, generator=again))
out = ow.empty(3, 4)
assert seeded(lambda: ops.noisy(x, out=out))() is out and ow.equal(out, seeded(ops.noisy)(x))
for threads in (1, 4):
    ow.set_num_threads(threads)
    assert ow.equal(seeded(ops.noisy)(ow.zeros(300, 300)), 0.1 * seeded(ow.randn)(300, 300))

value, kept = seeded(ops.thinned)(x, ow.tensor([0.1, 0.5, 0.9, 1]))
assert kept.dtype == ow.bool and ow.equal(kept, seeded(ow.rand)(3, 4) < ow.tensor([0.1, 0.5, 0.9, 1]))
assert ow.equal(value, ow.where(kept, x / ow.tensor([0.1, 0.5, 0.9, 1]), 0))
assert seeded(ops.thinned)(x[0], ow.full((2, 1), 0.5)).value.shape == (2, 4)

path = seeded(ops.drifting)(x, 0)
noise, want = seeded(ow.randn)(3, 4), x[0]
for t in range(3):
    want = want + 0.1 * (x[t] - want) + noise[t]
    assert ow.allclose(path[t], want)

for function in (ops.noisy, ops.drifting, lambda x: ops.thinned(x, ow.tensor(0.5, dtype=ow.float64)).value):
    assert ow.autograd.gradcheck(seeded(function), (leaf(2, 5),))
    assert ow.autograd.gradgradcheck(seeded(function), (leaf(2, 5),))
raises(RuntimeError, "", ops.thinned, x, ow.ones(3))
raises(NotImplementedError, "not implemented for 'Long'", ops.noisy, x.long())
"""


def test_random_numbers_of_elements(tmp_path_factory: pytest.TempPathFactory) -> None:
    woven = weave(EXAMPLES, out=shared_folder(tmp_path_factory, "random_expressions"), name="random_ops")
    script(RAISES + CODE, cwd=woven.folder.parent)
