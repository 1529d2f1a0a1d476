"""Operators whose last dimensions have few positions, each with an expression of its own: examples/vectors.yaml."""

from __future__ import annotations

from pathlib import Path

import pytest
from folders import shared_folder
from scripts import script
from weaving import RAISES, weave_unoptimized

pytest.importorskip("opweave")

from opweave._weave.weave import Woven

EXAMPLES = Path(__file__).parents[2] / "examples" / "vectors.yaml"
HEAD = """
import numpy as np
import opweave as ow
import vectors as ops

rng = np.random.default_rng(5)
SHAPES = ((), (1,), (5,), (17,), (3, 50), (1000,), (70000,), (0,))

def recorded(*shape):
    return ow.from_numpy(rng.standard_normal(shape)).requires_grad_()

def check(function, *tensors):
    assert ow.autograd.gradcheck(function, tensors) and ow.autograd.gradgradcheck(function, tensors)
"""


@pytest.fixture(scope="module")
def woven(tmp_path_factory: pytest.TempPathFactory) -> Woven:
    return weave_unoptimized(EXAMPLES, out=shared_folder(tmp_path_factory, "vectors"))


def run(woven: Woven, code: str, **environment: str) -> None:
    script(HEAD + RAISES + code, cwd=woven.folder.parent, **environment)


def test_positions_with_expressions_of_their_own(woven: Woven) -> None:
    run(
        woven,
        """
for shape in SHAPES:
    for dtype in ("float64", "float32"):
        a, b = (rng.standard_normal((*shape, 4)).astype(dtype) for _ in range(2))
        (p, q, r, s), (w, x, y, z) = (np.moveaxis(each, -1, 0) for each in (a, b))
        want = np.stack([p * w - q * x - r * y - s * z, p * x + q * w + r * z - s * y,
                         p * y - q * z + r * w + s * x, p * z + q * y - r * x + s * w], -1)
        got = ops.quaternion_product(ow.from_numpy(a), ow.from_numpy(b))
        np.testing.assert_allclose(got.numpy(), want, rtol=1e-5, atol=1e-5)
i, j, k = (ow.eye(4)[n] for n in (1, 2, 3))
assert ops.quaternion_product(i, j).tolist() == k.tolist() and ops.quaternion_product(j, i).tolist() == (-k).tolist()
check(ops.quaternion_product, recorded(5, 4), recorded(3, 1, 4))
""",
    )


def test_one_expression_for_all_positions(woven: Woven) -> None:
    run(
        woven,
        """
for shape in SHAPES:
    a, b = (rng.standard_normal((*shape, 3)) for _ in range(2))
    got = ops.cross_product(ow.from_numpy(a), ow.from_numpy(b))
    np.testing.assert_allclose(got.numpy(), np.cross(a, b), atol=1e-12)
assert ops.cross_product(ow.tensor([1, 0, 0]), ow.tensor([0, 1, 0])).tolist() == [0, 0, 1]
turned = ow.from_numpy(rng.standard_normal((3, 8))).t()
other = turned.flip(0)
np.testing.assert_allclose(ops.cross_product(turned, other).numpy(), np.cross(turned.numpy(), other.numpy()))
check(ops.cross_product, recorded(5, 3), recorded(1, 3))
""",
    )


def test_small_matrices(woven: Woven) -> None:
    run(
        woven,
        """
matrices = rng.standard_normal((4, 9, 2, 2)) + 3 * np.eye(2)
np.testing.assert_allclose(ops.inverse2(ow.from_numpy(matrices)).numpy(), np.linalg.inv(matrices), rtol=1e-12)
check(ops.inverse2, ow.from_numpy(matrices[0, :3]).requires_grad_())
maps, points = rng.standard_normal((40, 3, 4)), rng.standard_normal((40, 3))
point, direction = ops.moved(ow.from_numpy(maps), ow.from_numpy(points))
np.testing.assert_allclose(direction.numpy(), np.einsum("nij,nj->ni", maps[..., :3], points), rtol=1e-11, atol=1e-12)
np.testing.assert_allclose(point.numpy(), direction.numpy() + maps[..., 3])
""",
    )


def test_pairs_along_a_line(woven: Woven) -> None:
    run(
        woven,
        """
x, angles = rng.standard_normal((2, 5, 33, 2)), rng.standard_normal((5, 33))
want = (x[..., 0] + 1j * x[..., 1]) * np.exp(1j * angles)
got = ops.rotary(ow.from_numpy(x), ow.from_numpy(angles)).numpy()
np.testing.assert_allclose(got, np.stack([want.real, want.imag], -1), atol=1e-12)
check(ops.rotary, recorded(2, 2, 3, 2), recorded(2, 3))
""",
    )


def test_results_without_dimensions_of_their_own(woven: Woven) -> None:
    run(
        woven,
        """
for count in (1, 50, 1001):
    origin, direction, low, high = (rng.standard_normal((count, 3)) for _ in range(4))
    ends = (low - origin) / direction, (high - origin) / direction
    near, far = ops.ray_meets_box(*map(ow.from_numpy, (origin, direction, low, high)))
    np.testing.assert_allclose(near.numpy(), np.minimum(*ends).max(-1))
    np.testing.assert_allclose(far.numpy(), np.maximum(*ends).min(-1))
""",
    )


def test_results_do_not_depend_on_the_number_of_threads(woven: Woven) -> None:
    run(
        woven,
        """
a, b = (ow.from_numpy(rng.standard_normal((100_003, 3)).astype("f4")) for _ in range(2))
found = []
for threads in (1, 2, 3):
    ow.set_num_threads(threads)
    found.append(ops.cross_product(a, b).numpy())
assert (found[0] == found[1]).all() and (found[0] == found[2]).all()
""",
    )


def test_what_does_not_fit(woven: Woven) -> None:
    run(
        woven,
        """
one = ow.ones
raises(RuntimeError, "size 3 in dimension -1, but has shape [2, 4]", ops.cross_product, one(2, 4), one(2, 3))
raises(RuntimeError, "self must have at least 2 dimensions, but has shape [2]", ops.inverse2, one(2))
raises(RuntimeError, "self must have size 2 in dimension -2, but has shape [3, 2]", ops.inverse2, one(3, 2))
raises(RuntimeError, "size 5 of a dimension in front does not fit to 2", ops.cross_product, one(2, 3), one(5, 3))
raises(RuntimeError, "self must have size 4 in dimension -1, but has shape [0]", ops.quaternion_product, one(0), one(4))
""",
    )
