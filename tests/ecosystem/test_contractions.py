"""einops, opt_einsum, autoray."""

from __future__ import annotations

from typing import Any

import numpy as np
import opweave as ow
import pytest


@pytest.mark.parametrize("module", ["einops", "einops.array_api"])
def test_einops(module: str) -> None:
    einops: Any = pytest.importorskip(module)
    x = ow.arange(24.0).view(2, 3, 4)
    assert einops.rearrange(x, "a b c -> (a b) c").tolist() == x.reshape(6, 4).tolist()
    assert einops.rearrange(x, "a b c -> c a b").tolist() == x.permute(2, 0, 1).tolist()
    assert einops.reduce(x, "a b c -> a", "mean").tolist() == [5.5, 17.5]
    assert einops.reduce(x, "a (b b2) c -> a b c", "max", b2=3).shape == (2, 1, 4)
    assert einops.repeat(x, "a b c -> a b c d", d=2).shape == (2, 3, 4, 2)
    packed, shapes = einops.pack([x, x], "* b c")
    assert packed.shape == (4, 3, 4)
    assert [each.shape for each in einops.unpack(packed, shapes, "* b c")] == [(2, 3, 4), (2, 3, 4)]
    if module == "einops":
        assert einops.einsum(x, x, "a b c, a b c -> a").shape == (2,)
        w = ow.ones(2, 3, requires_grad=True)
        einops.reduce(w, "a b -> a", "sum").sum().backward()
        assert w.grad is not None


def test_opt_einsum() -> None:
    contract = pytest.importorskip("opt_einsum").contract
    a, b, c = ow.rand(3, 4), ow.rand(4, 5), ow.rand(5, 6)
    result = contract("ij,jk,kl->il", a, b, c)
    assert type(result) is ow.Tensor
    assert np.allclose(result.numpy(), (a @ b @ c).numpy(), atol=1e-5)
    assert contract("ij,jk,kl->li", a, b, c).shape == (6, 3)
    assert contract("ij->ji", a).tolist() == a.t().tolist()
    assert contract("ij,kl->ijkl", a, b).shape == (3, 4, 4, 5)
    assert contract("ii->i", ow.eye(3)).tolist() == [1, 1, 1]


def test_autoray() -> None:
    autoray = pytest.importorskip("autoray")
    do = autoray.do
    x = ow.rand(3, 4)
    assert autoray.infer_backend(x) == "opweave"
    assert do("transpose", x).shape == do("transpose", x, (1, 0)).shape == (4, 3)
    assert do("tensordot", x, x, axes=((0,), (0,))).shape == (4, 4)
    assert do("stack", [x, x], axis=1).shape == (3, 2, 4)
    assert do("concatenate", [x, x]).shape == (6, 4)
    assert do("linalg.svd", x)[0].shape == (3, 3)
    assert do("linalg.norm", x).shape == ()
    assert do("einsum", "ab,cb->ac", x, x).shape == (3, 3)
    assert do("sum", x, axis=0).shape == (4,)
    assert do("eye", 3, like=x).shape == (3, 3)
    assert type(autoray.to_numpy(x)) is np.ndarray
