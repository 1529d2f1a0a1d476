"""Misuse of operators against torch, by the class of the exception alone; test_misuse_oracle.py compares texts too."""

from __future__ import annotations

import warnings
from types import ModuleType

import opweave
import pytest

torch = pytest.importorskip("torch")

NONE = "no exception"

DELIBERATE: dict[str, tuple[str, str]] = {
    "torch.sum(a, out=torch.ones((), dtype=torch.int64))": (NONE, "every reduction has out="),
    "torch.prod(a, (0, 1))": (NONE, "every reduction takes several dimensions"),
    "torch.add(a, 1, out=3)": ("TypeError", "the type is wrong"),
    "torch.add(1, 2)": ("TypeError", "an operator of numbers alone is Python's"),
    "~a": ("NotImplementedError", "as bitwise_not(a)"),
    "a.permute(1, 0, 2)": ("IndexError", "dimensions are checked one by one before they are counted"),
    "torch.zeros()": (NONE, "no sizes at all are those of a tensor without dimensions"),
    "a.permute()": ("RuntimeError", "the same"),
    "a.view()": ("RuntimeError", "the same"),
    "torch.permute(a, 0)": ("RuntimeError", "one integer stands for a list of one"),
    "torch.full(2, 1)": (NONE, "one integer stands for a list of one"),
}
"""Misuses of which opweave thinks otherwise: the class of its exception, and why."""

MISUSES = """
torch.add(a, b23)
a + torch.ones(4)
torch.ones(2, 3) * torch.ones(3, 2)
torch.where(torch.ones(2, 3) > 0, torch.ones(4), 1.0)
torch.clamp(a, torch.ones(2), torch.ones(3))
a.add_(torch.ones(2, 2, 3))
torch.ones(3).add_(torch.ones(2, 3))
torch.ones(()).mul_(torch.ones(3))
i.add_(1.5)
i.div_(2)
i.mul_(torch.ones(2, 2))
torch.ones(2, dtype=torch.bool).add_(1)
torch.ones(2, dtype=torch.uint8).exp_()
torch.ones(2, dtype=torch.int8).pow_(0.5)
torch.ones(1, 3).expand(2, 3).add_(1)
torch.ones(1).expand(3).copy_(torch.arange(3))
torch.add(a, 1, out=torch.ones(1, 3).expand(2, 3))
v = torch.ones(6); torch.add(v[:4], 1, out=v[1:5])
v = torch.ones(6); v[1:].add_(v[:-1])
v = torch.ones(3, 3); v.add_(v.t())
v = torch.ones(3, 3); torch.mm(v, v, out=v)
torch.add(a, 1, out=torch.ones(2, 3, dtype=torch.int32))
torch.eq(a, 1, out=torch.ones(2, 3, dtype=torch.int32))
torch.sum(a, out=torch.ones((), dtype=torch.int64))
torch.add(a, 1, out=3)
torch.add(a, 1, out=[a])
torch.floor_divide(i, 0)
i // torch.tensor([0, 1])
i % 0
torch.remainder(i, torch.zeros(2, dtype=torch.int64))
i.floor_divide_(0)
a[2]
a[0, 3]
a[-3]
a[0, 0, 0]
a[:, :, :]
a["x"]
a[1.5]
a[None, 5]
a[::-1]
a[::0]
torch.ones(())[0]
a.select(2, 0)
a.select(0, 2)
a.select(0, -3)
torch.ones(()).select(0, 0)
torch.sum(a, 2)
torch.sum(a, (0, 0))
torch.sum(a, (0, -2))
torch.sum(a, -3)
torch.sum(a, 1.0)
torch.sum(a, "x")
torch.sum(a, dim=0, keepdim="x")
torch.cumsum(a)
torch.cumsum(a, 2)
torch.cumsum(a, None)
torch.cumsum(a, (0,))
torch.transpose(a, 0, 2)
torch.transpose(a, 0)
torch.transpose(a, 0.0, 1)
torch.squeeze(a, 2)
torch.squeeze(a, (0, 0))
torch.unsqueeze(a, 3)
torch.unsqueeze(a, -4)
torch.softmax(a, 2)
torch.softmax(i, 0)
torch.softmax(a)
torch.add(a)
torch.add(a, None)
torch.add(a, "x")
torch.add(a, [1, 2])
torch.add(1, 2)
torch.add("x", a)
torch.add(a, 1, 2, 3)
torch.add(a, 1, alpha="x")
torch.add(i, 1, alpha=1.5)
torch.add(a, 1, beta=2)
torch.add(other=1)
torch.exp()
torch.exp(1.0)
torch.exp(None)
torch.exp(a, a)
torch.exp(a, dtype=torch.float64)
torch.exp([1.0])
a.exp(1)
a.nothing()
torch.nothing(a)
a + None
a + "x"
a + [1]
None - a
a + object()
a @ 1
1 @ a
a < "x"
a & 1
torch.bitwise_and(a, a)
torch.bitwise_not(a)
~a
t = torch.ones(2) > 0; t - t
t = torch.ones(2) > 0; -t
t = torch.ones(2) > 0; 1 - t
t = torch.ones(2) > 0; torch.relu(t)
t = torch.ones(2) > 0; torch.sub(t, 1)
t = torch.ones(2) > 0; torch.neg(t)
i ** -1
torch.pow(i, -2)
torch.pow(2, 3)
torch.where(a, a, a)
torch.where(i, 1, 0)
torch.where(a > 0, a)
torch.where(a > 0, "x", a)
torch.where(True, 1, 2)
torch.clamp(a)
torch.clamp(a, "x")
torch.clamp(a, None, None)
torch.amax(torch.ones(0))
torch.amin(torch.ones(0, 3), 0)
torch.amax(torch.ones(0, 3), ())
torch.amax(a, 2)
torch.amax(a, (0, 0))
torch.amax(a, None)
torch.mean(i)
torch.mean(i, dtype=torch.int32)
torch.mean(a > 0)
torch.mean(a, dtype="float32")
torch.mean(a, dtype=torch.int64)
torch.prod(a, (0, 1))
torch.any(a, 2)
torch.all(a, "x")
a.permute(0, 0)
a.permute(0)
a.permute(0, 2)
a.permute(1, 0, 2)
a.permute()
torch.permute(a, 0)
a.permute(0.0, 1.0)
a.view(4)
a.view(-1, -1)
a.view(-1, 4)
a.view(-2, 3)
a.view(2.0, 3)
a.t().view(6)
a.view()
torch.ones(0, 3).view(-1, 0)
a.reshape(5)
a.reshape(-1, -1)
a.expand(3, 3)
a.expand(3)
a.expand(-1, 2, 3)
a.expand(2, -2)
torch.mm(a, a)
torch.mm(a, torch.ones(3))
torch.mm(a, i)
torch.mm(torch.ones(2, 2), torch.ones(2, 2, dtype=torch.float64))
torch.mm(a, 2)
torch.mv(a, torch.ones(2))
torch.mv(a, a)
torch.dot(torch.ones(2), torch.ones(3))
torch.dot(a, a)
torch.dot(torch.ones(2), torch.ones(2, dtype=torch.int64))
torch.bmm(a, a)
torch.bmm(torch.ones(2, 2, 2), torch.ones(3, 2, 2))
torch.addmm(torch.ones(4), a, a.t())
torch.addmm(a, a, a)
torch.addmv(torch.ones(3), a, torch.ones(3))
torch.matmul(a, a)
torch.matmul(torch.ones(()), a)
torch.matmul(torch.ones(2, 2, 3), torch.ones(3, 3, 2))
a @ torch.ones(2)
torch.t(torch.ones(2, 2, 2))
torch.t(a, 0)
torch.t()
torch.arange(0, 1, 0)
torch.arange(1, 0, 1)
torch.arange(0, 1, -1)
torch.arange()
torch.arange("x")
torch.arange(0, float("inf"))
torch.arange(float("nan"))
torch.arange(0, 1, 1, 1)
torch.arange(3, dtype=torch.bool)
torch.arange(3, dtype="int64")
torch.arange(0, 2**62, 1, dtype=torch.int8)
torch.arange(2**64)
torch.zeros(-1)
torch.zeros(2, -3)
torch.zeros("x")
torch.zeros(1.5)
torch.zeros((2, 1.5))
torch.zeros(None)
torch.zeros()
torch.zeros(2**63)
torch.zeros(2**62, 4)
torch.zeros(2**40, 2**40)
torch.zeros(2**62)
torch.zeros(2**50)
torch.empty(2**31, 2**31, 2)
torch.empty(2**60, dtype=torch.float64)
torch.full((2**60,), 1)
torch.ones(2**55, dtype=torch.int8)
torch.ones(1).expand(2**61, 2**3)
torch.ones(1).expand(2**45).exp()
torch.ones(1).expand(2**45) + 1
torch.zeros(2, dtype="float32")
torch.zeros(2, dtype=int(3))
torch.zeros(2, size=(2,))
torch.zeros(2, device="gpu9")
torch.zeros(2, device=object())
torch.zeros(2, layout="strided")
torch.zeros(2, nothing=1)
torch.full((2,))
torch.full(2, 1)
torch.full((2,), "x")
torch.full((2,), None)
torch.full((-2,), 1)
torch.tensor([1, 2, 3], dtype=torch.uint8) + 2**70
i + 2**70
torch.tensor([2**70])
torch.tensor([[1], [2, 3]])
torch.tensor("x")
torch.tensor(None)
torch.tensor(object())
bool(a)
bool(torch.ones(0))
int(a)
float(torch.ones(2))
a.item()
len(torch.ones(()))
iter(torch.ones(()))
3 in torch.ones(2, dtype=torch.int64) + "x"
list(range(a))
list(range(torch.tensor(1.5)))
[1, 2][torch.tensor(1.0)]
a.shape[5]
a.size(2)
a.stride(-3)
a.to("float99")
del a[0]
a[0] = torch.ones(4)
a[5] = 1
a[0] = "x"
a[0, 0] = torch.ones(2)
i[0] = None
a.dtype = torch.int32
"""


def class_of_failure(source: str, library: ModuleType) -> str:
    names = {
        "torch": library,
        "a": library.arange(6.0).reshape(2, 3),
        "b23": library.ones(3, 2),
        "i": library.tensor([4, 5]),
    }
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(source, names)
    except Exception as error:
        # torch has no class of its own for this on the CPU.
        return type(error).__name__.replace("OutOfMemoryError", "RuntimeError")
    return NONE


@pytest.mark.parametrize("source", [line for line in MISUSES.splitlines() if line])
def test_misuse(source: str) -> None:
    got, want = (class_of_failure(source, library) for library in (opweave, torch))
    assert got == DELIBERATE.get(source, (want, ""))[0], f"{source}: {got}, torch has {want}"
