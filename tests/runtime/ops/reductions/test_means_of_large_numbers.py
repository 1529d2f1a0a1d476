"""Means whose sum leaves the range of the dtype."""

from __future__ import annotations

import math

import opweave as ow
import pytest

LARGE = {ow.float32: 3e38, ow.float64: 1.5e308, ow.bfloat16: 3e38}


@pytest.mark.parametrize("dtype", LARGE, ids=str)
def test_sums_that_overflow(dtype: ow.dtype) -> None:
    large = ow.tensor(LARGE[dtype], dtype=dtype)
    least = 1e-6 if dtype is not ow.bfloat16 else 1e-2
    for tensor in (large.expand(3), large.expand(2, 5).clone(), large.expand(100_000).clone(), -large.expand(7)):
        mean = tensor.mean().item()
        assert math.isclose(mean, tensor.flatten()[0].item(), rel_tol=least)
    rows = ow.stack([large, large, -large, large * 0]).expand(3, 4).clone()
    for means in (rows.mean(1), rows.t().contiguous().mean(0)):
        assert all(math.isclose(each, large.item() / 4, rel_tol=least) for each in means.tolist())
    assert math.isclose(rows[:, 0].mean(0, keepdim=True).item(), large.item(), rel_tol=least)


def test_infinities_stay() -> None:
    rows = ow.tensor([[math.inf, 1.0], [-math.inf, 1.0], [math.inf, -math.inf], [math.nan, 3e38], [0.0, 0.0]])
    assert ow.equal(rows.mean(1).nan_to_num(7, 8, 9), ow.tensor([8.0, 9.0, 7.0, 7.0, 0.0]))


def test_gradient() -> None:
    x = ow.full((4,), 3e38, requires_grad=True)
    x.mean().backward()
    assert x.grad.tolist() == [0.25] * 4
