"""Views: every operator that gives other sizes and strides over the same memory, and its errors, against torch."""

from __future__ import annotations

import itertools
import random

import pytest
from harness import expressions

EXPRESSIONS = r"""
v.unflatten(0,(2,2))
v.unflatten(0,(-1,-1))
v.unflatten(0,())
v.unflatten(0,(-1,4))
v.unflatten(0,(-1,2))
v.unflatten(-1,(3,2))
a.unflatten(1,(3,1))
a.t().unflatten(0,(3,1))
L.zeros(0).unflatten(0,(-1,0))
v.unflatten(1,(1,))
v.unflatten(0,(2,-2))
a.movedim(0,0) is a
a.movedim((0,1),(1,))
a.movedim((0,0),(0,1))
a.movedim((0,1),(1,1))
a.movedim(0,5)
a.movedim(5,0)
z.movedim(0,0)
a.movedim((0,1),(1,0))
b.movedim(0,-1)
b.moveaxis((0,1),(2,0))
L.movedim(b, source=(0,), destination=(1,))
z.narrow(0,0,1)
a.narrow(0,0,-1)
a.narrow(0,3,0)
a.narrow(0,-3,0)
a.narrow(0,1,2)
a.narrow(0,2,0)
a.narrow(1,-2,2)
a.narrow(2,0,0)
a.narrow(0,zi,1)
L.narrow(a, 1, 0, 2)
z.diagonal()
v.diagonal()
a.diagonal(0,0,0)
a.diagonal(0,0,2)
a.diagonal(5)
a.diagonal(1)
a.diagonal(-1)
b.diagonal(dim1=1, dim2=2)
b.diagonal(offset=1, dim1=-1, dim2=0)
L.diagonal(b, 0, 1, 2)
z.unfold(0,1,1)
z.unfold(0,0,1)
z.unfold(0,2,1)
v.unfold(0,-1,1)
v.unfold(0,7,1)
v.unfold(0,2,0)
v.unfold(0,2,-1)
v.unfold(0,0,1)
v.unfold(1,0,1)
v.unfold(0,2,2)
a.unfold(1,2,1)
a.t().unfold(-1,2,1)
z.unbind()
z.unbind(1)
a.unbind(2)
a.unbind()
a.unbind(-1)
L.unbind(b, dim=2)
L.zeros(0,3).unbind()
z.split(1)
v.split(0)
v.split(-1)
L.zeros(0).split(0)
L.zeros(0).split(2)
v.split((1,2))
v.split((1,-2,7))
v.split(2,1)
v.split(4)
a.split(2, dim=1)
L.split(a, [1,2], dim=1)
v.split([1,5])
v.split(1.5)
L.split(v,split_size_or_sections=4)
v.split_with_sizes([])
v.split_with_sizes([2,4])
L.zeros(0).split_with_sizes([])
v.chunk(0)
z.chunk(1)
v.chunk(4)
v.chunk(9)
a.chunk(2, 1)
L.chunk(a, 2, dim=1)
L.zeros(0).chunk(3)
v.chunk(2,1)
z.tensor_split(1)
v.tensor_split(0)
v.tensor_split(4)
v.tensor_split((1,3))
v.tensor_split((3,1))
v.tensor_split((-2,9))
v.tensor_split(L.tensor(3))
v.tensor_split(L.tensor([1,3]))
v.tensor_split(L.tensor([1.,3]))
v.tensor_split(2,1)
v.tensor_split(())
a.tensor_split(2, dim=1)
z.hsplit(1)
v.hsplit(4)
v.hsplit(0)
v.hsplit(3)
v.hsplit((1,2))
a.hsplit(3)
v.vsplit(1)
a.vsplit(2)
a.vsplit(3)
a.vsplit([1])
a.dsplit(1)
L.zeros(2,2,4).dsplit(2)
L.zeros(2,2,4).dsplit(3)
v.flatten(1)
v.flatten() is v
a.flatten(1,0)
a.flatten(0,2)
z.flatten(1)
z.flatten(0,-1)
b.flatten(1), b.flatten(0,1), b.flatten(end_dim=-2)
b.mT.flatten(1)
a.t().flatten()
L.flatten(a,start_dim=-5)
v.adjoint()
z.adjoint()
a.adjoint(), b.adjoint(), L.adjoint(b)
z.ravel(), a.ravel(), a.t().ravel(), e.ravel(), v.ravel()
r = a.ravel(); r[0] = 9; a
r = a.t().ravel(); r[0] = 9; a
a.broadcast_to(2,2)
a.broadcast_to((2,-1,3))
a.broadcast_to((-1,2,3))
a.broadcast_to(2,2,3)
L.broadcast_to(a, (1,2,3))
a.select(0,5)
a.select(-1,-1)
a.swapaxes(0,5)
a.swapaxes(0,1), a.swapdims(0,-1), L.swapaxes(a, axis0=0, axis1=1), L.swapdims(a, 0, 1)
a.squeeze(5)
a.squeeze((0,0))
b.squeeze(), b.squeeze(0), b.squeeze(1), b.squeeze((0,1)), b.squeeze(dim=-3)
a.unsqueeze(4)
a.unsqueeze(0), a.unsqueeze(-1), a.unsqueeze(1), z.unsqueeze(0)
a.as_strided((2,),(1,),100)
a.view_as(zi)
a.view(-1,-1)
a.expand_as(b)
a.view(size=(6,))
a.reshape(shape=(6,)), L.reshape(a, (3, 2)), L.reshape(a, shape=[6]), L.reshape(a, (-1,))
a.permute(dims=(1,0)), a.permute(1,0), a.permute([1,0]), L.permute(b, (2,0,1)), b.permute(-1,0,1)
a.permute(0)
a.permute()
a.permute((1.5,0))
a.permute('x')
a.permute(None)
a.expand(2,'a')
a.expand((2,[1]))
a.expand()
a.expand(size=(2,2,3))
L.zeros(size=(2,3)), L.ones(size=(1,)), L.empty(size=(0,)), L.full(size=(2,), fill_value=3)
L.zeros()
L.zeros((2,'a'))
L.zeros(('a',2))
L.zeros('a')
L.zeros(None)
L.zeros((2,True))
L.zeros(2.5)
a.view(L.float64)
a.view(L.int16)
a.view(L.uint8)
a.t().view(L.int16)
a[:,::2].view(L.int64)
z.view(L.int16)
L.zeros(2,4)[:,1:3].view(L.float64)
L.zeros(2,4)[:,2:4].view(L.float64)
L.zeros(2,5)[:,2:4].view(L.float64)
z.view(L.int32)
L.zeros(3,2).view(L.bool)
a.view(L.float32) is a
w = a.view(L.int32); w[0, 0] = 1065353216; a
L.zeros(0, 2).view(L.float64)
L.zeros(2, 0).view(L.float64)
a.T, b[0].T, a.mT, b.mT, b.mH, a.H
x = a.clone().requires_grad_(); [str(y.grad_fn).split(' ')[0] for y in (x.T, x.mT, x.mH, x.H, x.adjoint())]
b.H
L.zeros(3).H
L.zeros(3).mH
L.zeros(3).adjoint()
L.ops.aten.numpy_T(a), L.ops.aten.mT(b), L.ops.aten.matrix_H(a), L.ops.aten.mH(b)
[str(getattr(L.ops.aten, n).default._schema) for n in ('numpy_T', 'mT', 'matrix_H', 'mH')]
a.T = a
L.as_strided(a, (2, 2), (1, 2), 1)
[(y.tolist(), y.stride()) for y in (L.t_copy(a), L.permute_copy(b, (2, 0, 1)), L.expand_copy(a, (2, *a.shape)))]
[(y.tolist(), y.stride()) for y in (L.squeeze_copy(a, 0), L.diagonal_copy(a, 1), L.unsqueeze_copy(a, -1))]
L.view_copy(a.t(), (-1,)), L.unfold_copy(a, 1, 2, 1), L.slice_copy(a, 1, 0, 2), L.transpose_copy(b, 0, -1).stride()
L.split_copy(a, 1), L.unbind_copy(a, 1), L.split_with_sizes_copy(a, [1, a.shape[0] - 1])
L.transpose_copy(a, 0, 5)
L.select_copy(a, 0, 9)
L.t_copy(b)
L.as_strided_copy(a, (2,), (1,), 1), L.view_as_real_copy(L.tensor([1 + 2j]))
L.t_copy(a, out=L.empty(0)), L.t_copy(a, out=L.empty(0, dtype=L.int8))
L.detach(a).data_ptr() == a.data_ptr()
""".strip().splitlines()


def test_expression() -> None:
    expressions.check_all(EXPRESSIONS, "v = L.arange(6); ")


LAYOUTS = (
    "L.arange(24).reshape(2, 3, 4)",
    "L.arange(24).reshape(4, 3, 2).permute(2, 1, 0)",
    "L.arange(24).reshape(2, 3, 4)[:, ::2]",
    "L.arange(12).reshape(3, 4).expand(2, 3, 4)",
    "L.arange(2).reshape(2, 1, 1).expand(2, 3, 1)",
    "L.arange(60).reshape(3, 4, 5)[1:, 1:3, ::2]",
    "L.zeros(2, 0, 3)",
    "L.arange(6)[::2]",
    "L.tensor(7)",
    "L.arange(16).reshape(1, 4, 1, 4).permute(3, 0, 1, 2)",
)
CALLS = (
    "reshape(-1)", "reshape(3, -1)", "reshape(-1, 2)", "reshape(2, 2, -1)", "reshape(1, -1, 1)", "view(-1)",
    "view(3, -1)", "view(-1, 2)", "view(1, -1)", "view(2, 12)", "view(6, 4)", "flatten()", "flatten(1)",
    "flatten(0, 1)", "ravel()", "squeeze()", "squeeze(0)", "unsqueeze(1)", "unsqueeze(-1)", "diagonal()",
    "diagonal(1)", "diagonal(-1, 1, 2)", "diagonal(0, 2, 0)", "unfold(0, 2, 1)", "unfold(-1, 1, 2)", "unbind(-1)",
    "split(2)", "split(1, -1)", "chunk(2, -1)", "tensor_split(2)", "tensor_split((1, 2), -1)", "narrow(0, 0, 1)",
    "narrow(-1, -1, 1)", "movedim(0, -1)", "movedim((0, 1), (1, 0))", "transpose(0, -1)", "t()", "mT", "T",
    "contiguous()", "clone()", "hsplit(2)", "vsplit(2)", "select(0, 0)", "abs()", "+ 1",
    "logical_not()", "double()", "half()", "swapaxes(0, 1)",
)  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(layout: str) -> None:
    """The same strides, offsets and elements from every layout, one call after another."""
    sequence = random.Random(1)
    pairs = [(call,) for call in CALLS] + list(itertools.product(CALLS, CALLS))
    for calls in [*pairs[: len(CALLS)], *sequence.sample(pairs[len(CALLS) :], 300)]:
        expression = f"x = {layout}; x"
        for call in calls:
            expression = f"{expression} {call}" if call[0] == "+" else f"{expression}.{call}"
        if "unbind" in calls[0] or "split" in calls[0] or "chunk" in calls[0]:
            expression = expression.replace(f".{calls[0]}", f".{calls[0]}[0]", 1)
        expressions.check(expression)


RESULTS = ("clone()", "double()", "neg()", "add(1)", "add(x)", "add(x.contiguous())", "lt(x)", "sum(0, True)", "tril()")


def test_memory_order_of_results() -> None:
    """The strides of new tensors, also along dimensions of one element and of none, where they are never used."""
    sequence = random.Random(2)
    for _ in range(400):
        ndim = sequence.choice((2, 3, 5))
        sizes = sequence.choices((0, 1, 1, 2, 3), k=ndim)
        dims = sequence.sample(range(ndim), ndim)
        slices = ", ".join(sequence.choices((":", ":", "::2", "1:", "0:1"), k=ndim))
        setup = f"x = L.ones({sizes}).permute({dims})[{slices}]; "
        expression = setup + "[" + ", ".join(f"x.{call}.stride()" for call in RESULTS) + "]"
        expressions.check(expression)
