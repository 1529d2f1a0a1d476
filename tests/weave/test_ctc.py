"""The loss of sequences in examples/ctc.yaml: loops in C with a derivative of their own."""

from __future__ import annotations

from pathlib import Path

import pytest
from folders import shared_folder
from scripts import script
from weaving import weave_unoptimized

pytest.importorskip("opweave")

from opweave._weave.weave import Woven

EXAMPLES = Path(__file__).parents[2] / "examples" / "ctc.yaml"
HEAD = """
import numpy as np
import opweave as ow
import ctc as ops

def near(got, want, rtol=1e-12):
    np.testing.assert_allclose(got.detach().numpy(), want, rtol=rtol, atol=rtol)
"""


@pytest.fixture(scope="module")
def woven(tmp_path_factory: pytest.TempPathFactory) -> Woven:
    return weave_unoptimized(EXAMPLES, out=shared_folder(tmp_path_factory, "ctc"))


def test_the_loss_and_its_gradient(woven: Woven) -> None:
    script(
        HEAD
        + """
# Three steps of equal chances and one label: of the eight sequences of two classes six are that label, and four of
# these have it in the middle.
zeros = ow.zeros(1, 3, 2, dtype=ow.float64, requires_grad=True)
loss = ops.ctc(zeros, ow.tensor([[1]]), ow.tensor([3]), ow.tensor([1]))
near(loss, [-np.log(6 / 8)])
loss.sum().backward()
near(zeros.grad[0], [[0, 0], [1 / 6, -1 / 6], [0, 0]])

rng = np.random.default_rng(5)
for steps, classes, lengths, labels in (
    (7, 4, [7, 5, 7], [3, 2, 0]), (5, 3, [5, 1, 3], [2, 2, 3]), (12, 6, [12, 9, 11], [4, 4, 1])
):
    scores = ow.from_numpy(rng.standard_normal((3, steps, classes))).requires_grad_()
    targets = ow.from_numpy(rng.integers(1, classes, (3, 4)))
    length, count = ow.tensor(lengths), ow.tensor(labels)
    loss = ops.ctc(scores, targets, length, count)
    ours = scores.detach().clone().requires_grad_()
    want = ow.nn.functional.ctc_loss(
        ours.log_softmax(-1).transpose(0, 1), targets, length, count, reduction="none", zero_infinity=True
    )
    finite = loss.isfinite()
    near(ow.where(finite, loss, 0), want.detach().numpy(), 1e-10)
    weight = ow.from_numpy(rng.standard_normal(3)) * finite
    (ow.where(finite, loss, 0) * weight).sum().backward()
    (want * weight).sum().backward()
    near(scores.grad, ours.grad.numpy(), 1e-9)
    some = scores.detach()[:1].clone().requires_grad_()
    assert ow.autograd.gradcheck(lambda x: ops.ctc(x, targets[:1], length[:1], count[:1]), some)
single = ops.ctc(scores.detach().float(), targets, length, count)
near(single, loss.detach().numpy(), 1e-5)
""",
        cwd=woven.folder.parent,
    )
