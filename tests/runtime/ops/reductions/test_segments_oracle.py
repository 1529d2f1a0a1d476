"""`segment_reduce`: adjacent positions by lengths or by offsets, with gradients."""

from __future__ import annotations

import pytest
from harness import expressions

SETUP = "d = L.arange(24.).reshape(2, 6, 2); two = L.tensor([[2, 4], [3, 3]]); three = L.tensor([2, 0, 4]); "
GRADIENT = (
    "x = L.tensor([[3., 2], [3, 0], [1, 5], [1, 0], [0, 0]], requires_grad=True); "
    "y = L.segment_reduce(x, '{}', lengths=L.tensor([2, 0, 3]), initial={}); "
    "y.backward(L.tensor([[1., 2], [3, 4], [5, 6]])); [y.detach(), x.grad]"
)
CALLS = r"""
L.segment_reduce(d, "sum", lengths=two, axis=1)
L.segment_reduce(d, "mean", lengths=two.int(), axis=-2)
L.segment_reduce(d, "max", offsets=L.tensor([[0, 1, 6], [1, 2, 5]]), axis=1)
L.segment_reduce(d[0], "min", lengths=three - L.tensor([1, 0, 2]), unsafe=True)
L.segment_reduce(d[0], "sum", lengths=L.tensor([2, 4]), offsets=L.tensor([0, 3, 6]))
L.segment_reduce(d[0].bfloat16(), "prod", lengths=three, initial=2)
L.segment_reduce(L.tensor([1., L.nan, 3.]), "max", lengths=L.tensor([2, 1]), initial=2)
L.segment_reduce(d[0, :0], "mean", lengths=L.tensor([0, 0]))
L.segment_reduce(d[0], "sum", offsets=L.tensor([0]))
L.segment_reduce(L.ones(3, device="meta"), "sum", lengths=L.ones(2, dtype=L.int64, device="meta"), unsafe=True)
L.segment_reduce(d, "sum", lengths=two, axis=0)
L.segment_reduce(d, "median", lengths=two, axis=1)
L.segment_reduce(d[0], "sum", lengths=L.tensor([3, -1, 4]))
L.segment_reduce(d[0], "sum", lengths=L.tensor([2, 2]))
L.segment_reduce(d[0], "sum", indices=three)
L.segment_reduce(d[0], "sum")
"""


@pytest.mark.parametrize("call", CALLS.strip().split("\n"))
def test_calls(call: str) -> None:
    expressions.check(SETUP + call)


@pytest.mark.parametrize("reduce", ["sum", "mean", "prod", "max", "min"])
def test_gradients(reduce: str) -> None:
    for initial in (None, 3.0, 0.0):
        expressions.check(GRADIENT.format(reduce, initial))
