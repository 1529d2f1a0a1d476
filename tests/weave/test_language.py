"""The operators of examples/language.yaml compute what they say, also their gradients."""

from __future__ import annotations

from pathlib import Path

import pytest
from weaving import python

pytest.importorskip("opweave")

from opweave._weave.weave import Woven, weave

EXAMPLES = Path(__file__).parents[2] / "examples" / "language.yaml"
HEAD = """
import numpy as np
import opweave as ow
import language as ops

rng = np.random.default_rng(5)

def near(got, want, rtol=1e-12):
    np.testing.assert_allclose(got.detach().numpy() if hasattr(got, "detach") else got, want, rtol=rtol, atol=rtol)

def leaf(*shape, low=0.1, high=2.0):
    return ow.from_numpy(rng.uniform(low, high, shape)).requires_grad_()

check = ow.autograd.gradcheck
check_again = ow.autograd.gradgradcheck
"""


@pytest.fixture(scope="module")
def woven(tmp_path_factory: pytest.TempPathFactory) -> Woven:
    return weave(EXAMPLES, out=tmp_path_factory.mktemp("language"))


def run(woven: Woven, code: str, **environment: str) -> None:
    python("-c", HEAD + code, cwd=woven.folder.parent, **environment)


def test_functions_of_the_file_and_names_for_parts(woven: Woven) -> None:
    run(
        woven,
        """
x = ow.tensor([-1.0, 0.0, 0.25, 0.5, 2.0])
near(ops.smoothstep(x), [0, 0, 0.15625, 0.5, 1])
near(ops.smoothstep(ow.tensor([3.0]), 2, high=4), [0.5])
assert "`t * t * lerp(3, 1, t)` with `t = clamp((self - low) / (high - low), 0, 1)`" in ops.smoothstep.__doc__
x = leaf(4, 5, low=0.1, high=0.9)
assert check(ops.smoothstep, x) and check_again(ops.smoothstep, x)
""",
    )
