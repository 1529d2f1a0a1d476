"""Ranges that are shorter than the dimensions that they index: the rest takes no part, and its gradients are zero."""

from __future__ import annotations

from pathlib import Path

import pytest
from folders import shared_folder, written
from scripts import script
from weaving import weave_unoptimized

pytest.importorskip("opweave")

from opweave._weave.weave import Woven

BODIES = {
    "waves(Tensor self, Tensor w)": "value[..., x]: sum(tanh(self[..., x, i] * w[i]) for i in range(w.size(0)))",
    "two(Tensor self, Tensor w, Tensor v)": "value[x]: sum(exp(self[x, i]) * w[i] for i in range(w.size(0)))"
    " + sum(self[x, i] * self[x, i] * v[i] for i in range(v.size(0)))",
    "fewer(Tensor self, Tensor w)": "size: {x: w.size(0)}\n    value[x]: sin(self[x] * w[x])",
    "perhaps(Tensor self, int k, Tensor? w)": "value[x]: sum(self[x, i] ** 2 * (1 + w[i]) for i in range(k))",
    "left(Tensor self, Tensor w)": "value[..., x, y]: sum(self[..., x, i] * w[i, y] for i in range(w.size(0)))",
    "corner(Tensor self, Tensor w, int k)": "value[x, y]: sum(self[x, i] * w[y, i] for i in range(k))",
    "grid(Tensor self, Tensor w)": "value[x]: sum(tanh(self[x, i * 3 + j] * w[i, j])"
    " for i in range(2) for j in range(3))",
    "spread(Tensor self, Tensor w, Tensor at)": "value[x]: sum(square(self[int(at[x, i * 2 + j])] * w[x, i, j])"
    " for i in range(2) for j in range(2))\n    outside: {self: 0}",
    "paths(Tensor self, Tensor w)": "value[t, k]: self[t, k] + sum(value[t - 1, i] * w[i, k] for i in range(w.size(0)))"
    "\n    outside: {value: 0}",
}
ENTRIES = "".join(
    f"- func: {head} -> Tensor\n  doc: D.\n  compute:\n    {body}\n  dtypes: float64\n  derivatives: auto\n\n"
    for head, body in BODIES.items()
)
HEAD = """
import numpy as np
import opweave as ow
import short as ops
from opweave.autograd import gradcheck, gradgradcheck

rng = np.random.default_rng(5)

def leaf(*shape):
    return ow.from_numpy(rng.uniform(-1, 1, shape)).requires_grad_()

def check(function, *leaves):
    assert gradcheck(function, leaves) and gradgradcheck(function, leaves)
"""


@pytest.fixture(scope="module")
def woven(tmp_path_factory: pytest.TempPathFactory) -> Woven:
    folder = shared_folder(tmp_path_factory, "short_ranges")
    return weave_unoptimized(written(Path(folder) / "short.yaml", ENTRIES), out=folder)


def run(woven: Woven, code: str) -> None:
    script(HEAD + code, cwd=woven.folder.parent)


def test_values_and_gradients(woven: Woven) -> None:
    run(
        woven,
        """
def paths(s, w):
    lines = [s[0]]
    for line in s[1:]:
        lines.append(line + lines[-1][:len(w)] @ w)
    return np.stack(lines)

for name, shapes, expected in (
    ("waves", [(2, 4, 7), (3,)], lambda s, w: np.tanh(s[..., :3] * w).sum(-1)),
    ("waves", [(2, 4, 7), (7,)], lambda s, w: np.tanh(s * w).sum(-1)),
    ("two", [(4, 7), (3,), (5,)], lambda s, w, v: np.exp(s[:, :3]) @ w + s[:, :5] ** 2 @ v),
    ("two", [(4, 7), (6,), (0,)], lambda s, w, v: np.exp(s[:, :6]) @ w),
    ("fewer", [(5,), (3,)], lambda s, w: np.sin(s[:3] * w)),
    ("left", [(2, 4, 7), (3, 5)], lambda s, w: s[..., :3] @ w),
    ("grid", [(4, 6), (2, 3)], lambda s, w: np.tanh(s * w.reshape(6)).sum(-1)),
    ("grid", [(4, 6), (3, 5)], lambda s, w: np.tanh(s * w[:2, :3].reshape(6)).sum(-1)),
    ("paths", [(3, 5), (2, 5)], paths),
):
    leaves = [leaf(*shape) for shape in shapes]
    found = getattr(ops, name)(*leaves)
    np.testing.assert_allclose(found.detach().numpy(), expected(*(each.detach().numpy() for each in leaves)), 1e-12)
    if all(each.numel() for each in leaves):
        check(getattr(ops, name), *leaves)
    else:
        found.sum().backward()
""",
    )


def test_tensors_that_may_be_absent(woven: Woven) -> None:
    run(
        woven,
        """
self, w = leaf(4, 5), leaf(3)
squares = self.detach().numpy()[:, :3] ** 2
np.testing.assert_allclose(ops.perhaps(self, 3, None).detach().numpy(), squares.sum(-1))
np.testing.assert_allclose(ops.perhaps(self, 3, w).detach().numpy(), squares @ (1 + w.detach().numpy()))
check(lambda self: ops.perhaps(self, 3, None), self)
check(lambda self, w: ops.perhaps(self, 3, w), self, w)
""",
    )


def test_products_of_parts_of_matrices(woven: Woven) -> None:
    """They are large enough to be computed as products of matrices, of tensors whose lines are read in part."""
    run(
        woven,
        """
for k in (24, 48):
    self, w, grad = leaf(64, 48), leaf(56, 48), rng.uniform(-1, 1, (64, 56))
    s, other = self.detach().numpy()[:, :k], w.detach().numpy()[:, :k]
    found = ops.corner(self, w, k)
    np.testing.assert_allclose(found.detach().numpy(), s @ other.T, 1e-10)
    found.backward(ow.from_numpy(grad))
    for leaf_, expected in ((self, grad @ other), (w, grad.T @ s)):
        np.testing.assert_allclose(leaf_.grad.numpy()[:, :k], expected, 1e-10)
        assert not leaf_.grad.numpy()[:, k:].any()

for rows in (32, 48):
    self, w, grad = leaf(2, 64, 48), leaf(rows, 40), rng.uniform(-1, 1, (2, 64, 40))
    s, other = self.detach().numpy(), w.detach().numpy()
    found = ops.left(self, w)
    np.testing.assert_allclose(found.detach().numpy(), s[..., :rows] @ other, 1e-10)
    found.backward(ow.from_numpy(grad))
    np.testing.assert_allclose(self.grad.numpy()[..., :rows], grad @ other.T, 1e-10)
    assert not self.grad.numpy()[..., rows:].any()
    np.testing.assert_allclose(w.grad.numpy(), np.einsum("bxi,bxy->iy", s[..., :rows], grad), 1e-10)
""",
    )


def test_scattered_terms(woven: Woven) -> None:
    """Terms that are led by data to their places are those of the ranges, whatever the sizes of what is read."""
    run(
        woven,
        """
at = ow.tensor([[0.0, 2, -1, 1], [1, 1, 3, 0], [2, 0, 0, 5]], dtype=ow.float64)
for shape in ((3, 2, 2), (3, 4, 3)):
    self, w = leaf(4), leaf(*shape)
    places, factors = at.numpy().astype(int), w.detach().numpy()[:, :2, :2].reshape(3, 4)
    read = np.where((places >= 0) & (places < 4), self.detach().numpy()[places.clip(0, 3)], 0)
    np.testing.assert_allclose(ops.spread(self, w, at).detach().numpy(), ((read * factors) ** 2).sum(-1), 1e-12)
    check(lambda self, w: ops.spread(self, w, at), self, w)
""",
    )
