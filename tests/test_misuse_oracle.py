"""Misuse of operators against torch: the same exception, and where it is not said otherwise the same text."""

from __future__ import annotations

import opweave
import pytest
from compare import outcome

torch = pytest.importorskip("torch")

# `a` is 2×3 float32, `b` 1×3×2 int64, `i` 2×2 int64, `u` three uint8, `z` and `zi` scalars, `e` 0×3 (compare.py).
SAME_TEXT = r"""
a + i
L.add(a, i)
a.add_(L.ones(3, 2, 3))
i.add_(1.5)
i.add_(a[:, :2])
i.mul_(0.5)
i.div_(2)
i /= 2
u.sub_(L.tensor([1.5, 1, 1]))
a.lt_(1); a.dtype
-L.tensor([True])
L.tensor([True]).neg_()
i // 0
i % 0
i // L.zeros(2, 2, dtype=L.int64)
u % L.tensor(0, dtype=L.uint8)
i.floor_divide_(0)
i ** -1
u ** -2
L.pow(i, -1)
L.add(i, i, alpha=1.5)
L.sub(i, i, alpha=0.5)
L.add(u, u, alpha=300)
L.sub(u, u, alpha=-300)
L.add(a, a, alpha=1e300)
L.sub(a, a, alpha=1e300)
L.add(a, 'x')
L.add(a, [1.0])
L.exp(1.0)
L.exp('x')
L.exp(None)
L.exp(a, out=1)
L.exp(i, out=L.empty(2, 2, dtype=L.int64))
L.exp_(i) if hasattr(L, 'exp_') else i.exp_()
i.exp_()
i.sigmoid_()
i.sqrt_()
L.add(a, a, out=i)
L.add(a, a, out=L.zeros(1).expand(2, 3))
L.zeros(1).expand(2, 3).add_(1)
L.zeros(1).expand(2, 3).exp_()
L.zeros(1, 3).expand(2, 3).cumsum_(0)
a[0, 1:].add_(a[0, :2])
L.where(a > 0, a, L.ones(4))
L.relu(L.tensor([True]))
L.mm(a, a)
L.mm(a, a[0])
L.mm(a[0], a)
L.mm(a, i)
L.mm(a, a.t().to(L.float64))
L.mm(L.ones(2, 2, dtype=L.bool), L.ones(2, 2, dtype=L.bool))
L.mv(a, a)
L.mv(a, L.ones(2))
L.mv(a[0], a[0])
L.mv(a, L.ones(3, dtype=L.float64))
L.dot(a, a)
L.dot(L.ones(2), L.ones(3))
L.dot(L.ones(2), L.ones(2, dtype=L.float64))
L.bmm(a, a)
L.bmm(L.ones(2, 2, 3), L.ones(2, 2, 3))
L.bmm(L.ones(2, 2, 3), L.ones(3, 3, 2))
L.bmm(L.ones(2, 2, 3), L.ones(2, 3, 2, dtype=L.float64))
L.addmm(a, a, a)
L.addmm(L.ones(5, 5), a, a.t())
L.addmm(L.ones(2, 2, dtype=L.float64), a, a.t())
L.addmm(i, i, i, beta=0.5)
L.addmm(i, i, i, alpha=0.5)
L.addmv(L.ones(3), a, L.ones(3))
L.addmv(L.ones(2), a, L.ones(2))
a @ a
a @ 1
a @ z
z @ a
a @ L.ones(4)
L.ones(2) @ L.ones(3)
a @ i
a.sum(2)
a.sum((0, 0))
a.sum((0, -2))
a.sum(-3)
a.sum(2**70)
z.sum(1)
i.mean()
i.mean(0)
u.mean(dtype=L.int32)
a.mean(dtype=L.int64)
e.amax()
e.amax(0)
e.amin(-2)
a.amax(5)
L.amax(a, out=L.empty((), dtype=L.float64))
L.all(a, out=L.empty(()))
a.any(4)
a.cumsum(2)
z.cumsum(1)
L.cumsum(a, 0, out=L.zeros(1).expand(2, 3))
i.cumsum_(0, dtype=L.float32)
L.tensor([True]).cumsum_(0)
a.view(7)
a.view(-1, -1)
a.view(-2, 3)
a.view(4, -1)
a.t().view(6)
e.view(-1, 0)
a.transpose(0, 2)
a.transpose(2**70, 0)
L.ones(1, 1, 1).t()
a.permute(0, 5)
a.select(0, 2)
a.select(0, -3)
a.select(2, 0)
z.select(0, 0)
a.squeeze(2)
a.squeeze((0, 0))
a.unsqueeze(3)
a.unsqueeze(-4)
a.unsqueeze(2**70)
a.expand(3, 3)
a.expand(-1, 2, 3)
e.expand(2, 3)
L.zeros(2**62)
L.zeros(2, dtype='x')
L.zeros(2, dtype=float) if False else L.zeros(2, dtype=3)
L.zeros(2, layout=3)
L.full((-1,), 1)
L.arange(3, 0)
L.arange(0, 3, 0)
L.arange(0, 3, -1)
L.arange(float('inf'))
L.arange(float('nan'))
L.softmax(a, 2)
L.add(a, 2**70)
a + 2**70
i * 2**70
i < 2**70
L.neg(a, a)
L.exp(a, unknown=1)
a.add_(a, out=a)
"""

# The texts differ: those of torch name its overloads, its kernels or positions.
SAME_TYPE = r"""
L.tensor([True]) - L.tensor([True])
L.tensor([True]) - 1
1 - L.tensor([True])
L.add(a, a, alpha=None)
L.add(a, a, alpha='x')
L.add(a, None)
L.where(a, a, a)
L.where(i, a, a)
L.clamp(a)
a.clamp_()
L.clamp(a, 'x')
L.bitwise_and(a, a)
a & a
a | 1
a ^ a
a.bitwise_not_()
L.ones(2, 2, 3) @ L.ones(3, 3, 2)
a.sum('x')
a.sum(1.5)
a.cumsum()
a.cumsum('x')
a.cumsum(None)
a.view('x')
a.view(1.5)
a.view(2**70)
a.transpose(0)
a.transpose('x', 0)
a.permute(0)
a.permute(0, 0)
a.permute('x')
a.select(0, 1.5)
a.unsqueeze('x')
a.expand(2)
a.expand(2, -2)
a.expand('x')
L.zeros(-1)
L.zeros(2, -3)
L.zeros('x')
L.zeros(1.5)
L.zeros(None)
L.zeros(2**31, 2**31, 2**31)
L.zeros(2, device='nowhere')
L.full((2,), None)
L.full((2,), 'x')
L.arange()
L.arange('x')
L.softmax(a)
L.softmax(i, 0)
L.softmax(a, 'x')
L.neg()
L.add(a)
a.add()
a.exp(1)
a.sum(0, False, 1)
"""


def expressions(text: str) -> list[str]:
    return text.strip().split("\n")


@pytest.mark.parametrize("expression", expressions(SAME_TEXT))
def test_text(expression: str) -> None:
    assert outcome(expression, opweave) == outcome(expression, torch)


@pytest.mark.parametrize("expression", expressions(SAME_TYPE))
def test_type(expression: str) -> None:
    got, want = outcome(expression, opweave), outcome(expression, torch)
    assert got[0] == want[0]
    assert got[0].endswith("Error")
