"""Misuse against torch where only the class of the exception is the same, or where opweave thinks otherwise."""

from __future__ import annotations

from typing import Any

import opweave
from harness import expressions, oracle
from harness.oracle import PRINTED
from harness.outcome import Error, outcome

# The texts differ: those of torch name its overloads, its kernels, positions, or sizes of memory. The names are those
# of harness/expressions.py.
SAME_CLASS = r"""
L.tensor([True]) - L.tensor([True])
L.tensor([True]) - 1
1 - L.tensor([True])
L.add(a, a, alpha=None)
L.add(a, a, alpha='x')
L.add(a, None)
L.nn.functional.softshrink(a, -1)
L.round(L.tensor([15, 25]), decimals=-1)
L.tensor([15, 25]).round_(decimals=2)
L.nn.functional.softshrink(a, float('nan'))
L.nn.functional.softshrink(a.half(), -0.5)
L.nn.functional.hardtanh(a, 2, 1)
L.celu(a, alpha=0)
L.celu_(a, 0)
L.nn.functional.celu(a[:, ::2], 0.0)
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
L.ones(())[0]
L.sum(a, 1.0)
L.cumsum(a)
L.cumsum(a, (0,))
L.transpose(a, 0.0, 1)
L.add(a, 1, alpha='x')
L.add(other=1)
L.exp()
L.nothing(a)
a & 1
L.bitwise_not(a)
t = L.ones(2) > 0; t - t
t = L.ones(2) > 0; 1 - t
t = L.ones(2) > 0; L.sub(t, 1)
L.pow(2, 3)
L.where(i, 1, 0)
L.where(a > 0, a)
L.where(a > 0, 'x', a)
L.where(True, 1, 2)
L.clamp(a, None, None)
L.mean(a, dtype='float32')
L.all(a, 'x')
a.permute(0.0, 1.0)
a.view(2.0, 3)
L.mm(a, 2)
L.matmul(L.ones(2, 2, 3), L.ones(3, 3, 2))
L.t()
L.arange(0, 1, 1, 1)
L.arange(3, dtype='int64')
L.zeros(2**63)
L.zeros(2**62, 4)
L.zeros(2**40, 2**40)
L.empty(2**31, 2**31, 2)
L.zeros(2, device='gpu9')
L.zeros(2, device=object())
L.full((2,))
a.to('float99')
setattr(a, 'dtype', L.int32)
a.view()
L.arange(0, 2**62, 1, dtype=L.int8)
L.zeros(2**50)
L.ones(2**55, dtype=L.int8)
L.ones(1).expand(2**45).exp()
L.ones(1).expand(2**45) + 1
L.kthvalue(a, 1, out=(L.zeros(0), L.zeros(0, dtype=L.float16)))
L.mode(a, out=(L.zeros(0), L.zeros(0, dtype=L.int32)))
L.median(a, 0, out=(L.zeros(0), L.zeros(0)))
L.cummin(a, 0, out=(L.zeros(0), L.zeros(0)))
L.searchsorted(a[1], i, out=L.zeros(0))
L.bucketize(i, a[1], out=L.zeros(0, dtype=L.int32))
L.nonzero(a, out=L.zeros(0))
L.quantile(a, 0.5, out=L.zeros(0, dtype=L.float64))
L.histc(a, out=L.zeros(0, dtype=L.float64))
L.linspace(1+1j, 2, 3, dtype=L.float32)
L.logspace(L.ones(1), 2, 3)
L.linspace(0, 1, 3, dtype=L.bool)
L.arange(1e30)
L.multinomial(L.ones(5), 2, out=L.ones(2))
L.gradient(a, dim=(1, -1))
L.nn.functional.prelu(a, L.ones(3, 1))
L.diff(a, 0, prepend=L.ones(1))
"""

NONE = "no exception"

DELIBERATE: dict[str, tuple[str, str]] = {
    "L.sum(a, out=L.ones((), dtype=L.int64))": (NONE, "every reduction has out="),
    "L.prod(a, (0, 1))": (NONE, "every reduction takes several dimensions"),
    "L.add(a, 1, out=3)": ("TypeError", "the type is wrong"),
    "~a": ("NotImplementedError", "as bitwise_not(a)"),
    "a.permute(1, 0, 2)": ("IndexError", "dimensions are checked one by one before they are counted"),
    "L.full(2, 1)": (NONE, "one integer stands for a list of one"),
}
"""Misuses of which opweave thinks otherwise: the class of its exception, and why."""


def class_of_failure(outcome: Any) -> str:
    # torch has no class of its own for exhausted memory on the CPU.
    return outcome.kind.replace("OutOfMemoryError", "RuntimeError") if isinstance(outcome, Error) else NONE


def classes(text: str) -> tuple[str, str]:
    call = expressions.expression(text)
    want = oracle.ask(call, text, PRINTED)
    return class_of_failure(outcome(call, opweave, printed=True)), class_of_failure(want)


def test_same_class() -> None:
    for text in SAME_CLASS.strip().split("\n"):
        got, want = classes(text)
        assert want != NONE, text
        assert got == want, text


def test_deliberate() -> None:
    for text, (expected, _) in DELIBERATE.items():
        got, want = classes(text)
        assert got == expected, text
        assert got != want, f"no longer a difference: {text} belongs to the lists of what is the same"
