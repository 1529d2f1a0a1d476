"""Products of bfloat16, whose sums of small integers are exact whatever instructions compute them."""

from __future__ import annotations

import itertools
from typing import Any

import opweave as ow
import pytest

SIZES = [(1, 1024, 65), (33, 300, 70), (70, 544, 33), (5, 64, 300), (300, 96, 1), (31, 33, 129), (600, 32, 40)]
LAYOUTS = ("rows", "columns", "gaps")


def _integers(*shape: int, layout: str = "rows") -> Any:
    x = ow.randint(-4, 5, shape).to(ow.bfloat16)
    if layout == "columns":
        return x.mT.contiguous().mT
    if layout == "gaps":
        return x.repeat_interleave(2, -1)[..., ::2]
    return x


def _rounded(x: Any) -> Any:
    return x.to(ow.float32).to(ow.bfloat16)


@pytest.mark.parametrize(("rows", "inner", "columns"), SIZES)
def test_layouts(rows: int, inner: int, columns: int) -> None:
    """Sizes beside those of panels, of blocks and of squares, in all layouts, alone and in a batch."""
    for first, second in itertools.product(LAYOUTS, LAYOUTS):
        a, b = _integers(rows, inner, layout=first), _integers(inner, columns, layout=second)
        assert ow.equal(a @ b, _rounded(a.double() @ b.double()))
        for batch in (2, 9):
            c, d = _integers(batch, rows, inner, layout=first), _integers(batch, inner, columns, layout=second)
            assert ow.equal(ow.bmm(c, d), _rounded(ow.bmm(c.double(), d.double())))


@pytest.mark.parametrize("shape", [(70,), (1, 70), (33, 1), (33, 70), (), (1, 1)])
@pytest.mark.parametrize("layout", ["rows", "columns"])
def test_addends(shape: tuple[int, ...], layout: str) -> None:
    """A scaled addend is expanded to the result, and not read where its factor is zero."""
    a, b, c = _integers(33, 320), _integers(320, 70, layout=layout), _integers(*shape)
    expected = 2 * c.double() - 0.5 * (a.double() @ b.double())
    assert ow.equal(ow.addmm(c, a, b, beta=2, alpha=-0.5), _rounded(expected))
    unread = ow.full(shape, float("nan"), dtype=ow.bfloat16)
    assert ow.equal(ow.addmm(unread, a, b, beta=0), _rounded(a.double() @ b.double()))
    out = ow.empty(70, 33, dtype=ow.bfloat16).t()
    assert ow.equal(ow.addmm(c, a, b, beta=2, alpha=-0.5, out=out), _rounded(expected))


def test_results_among_operands() -> None:
    """A result that is an operand, or shares memory with one, is written after all of it was read."""
    a, b = _integers(96, 96), _integers(96, 96)
    expected = _rounded(a.double() @ b.double())
    assert ow.equal(ow.mm(a, b, out=a), expected)
    memory = _integers(97, 96)
    c = memory[:96].clone()
    assert ow.equal(ow.mm(memory[:96], b, out=memory[1:]), _rounded(c.double() @ b.double()))
    d = _integers(96, 96)
    expected = _rounded(d.double() + c.double() @ b.double())
    assert ow.equal(d.addmm_(c, b), expected)


def test_nothing_leaks_from_beside() -> None:
    """What lies behind rows, and rows that are not finite, changes no other element."""
    memory = ow.full((40, 200), float("nan"), dtype=ow.bfloat16)
    memory[:33, :100] = a = _integers(33, 100)
    b = _integers(100, 65)
    expected = _rounded(a.double() @ b.double())
    assert ow.equal(memory[:33, :100] @ b, expected)
    a[7, 3] = float("inf")
    found = a @ b
    assert not found[7].isfinite().all()
    found[7] = expected[7]
    assert ow.equal(found, expected)


@pytest.mark.parametrize("dtypes", list(itertools.product((ow.bfloat16, ow.float32), repeat=2)))
@pytest.mark.parametrize(("rows", "inner", "columns"), [(3, 5, 4), (0, 5, 4), (3, 0, 4), (100, 64, 70)])
def test_float32_sums(dtypes: tuple[Any, Any], rows: int, inner: int, columns: int) -> None:
    """Products of attention have float32 results, of small matrices and of large ones, in any layout."""
    for first, second in itertools.product(LAYOUTS, LAYOUTS):
        a, b = _integers(3, rows, inner, layout=first), _integers(3, inner, columns, layout=second)
        found = ow.ops.aten.wide_bmm(a.to(dtypes[0]), b.to(dtypes[1]))
        assert found.dtype is ow.float32
        assert ow.equal(found, ow.bmm(a.float(), b.float()))
    with pytest.raises(RuntimeError, match="expected matrices"):
        ow.ops.aten.wide_bmm(a, b[:2])
    with pytest.raises(RuntimeError, match="expected bfloat16 or float32, got"):
        ow.ops.aten.wide_bmm(a.half(), b)


@pytest.mark.parametrize("causal", [False, True])
def test_attention(causal: bool) -> None:
    """Values and gradients of attention to bfloat16 are those of float64, rounded a few times."""
    numbers = [2 * ow.randn(2, 3, 150, 64).to(ow.bfloat16) for _ in range(3)]
    grad = ow.randn(2, 3, 150, 64).to(ow.bfloat16)
    results = []
    for dtype in (ow.bfloat16, ow.float64):
        query, key, value = (each.to(dtype).detach().requires_grad_() for each in numbers)
        result = ow.nn.functional.scaled_dot_product_attention(query, key, value, is_causal=causal)
        result.backward(grad.to(dtype))
        results.append([each.detach().double() for each in (result, query.grad, key.grad, value.grad)])
    for found, expected in zip(*results, strict=True):
        assert (found - expected).abs().max() < 0.02 * max(expected.abs().max(), 1)


def test_second_derivatives_and_tangents_of_attention() -> None:
    """Those of bfloat16 are those of float64, rounded a few times."""
    attend = ow.nn.functional.scaled_dot_product_attention
    numbers = [ow.randn(1, 2, 80, 64).to(ow.bfloat16) for _ in range(4)]
    results = []
    for dtype in (ow.bfloat16, ow.float64):
        *inputs, tangent = (each.to(dtype).detach() for each in numbers)
        leaves = [each.requires_grad_() for each in inputs]
        first = ow.autograd.grad(attend(*leaves).double().square().sum(), leaves, create_graph=True)
        second = ow.autograd.grad(ow.stack([each.double().square().sum() for each in first]).sum(), leaves)
        _, key, value = (each.detach() for each in leaves)
        _, forward = ow.func.jvp(lambda x: attend(x, key, value), (leaves[0].detach(),), (tangent,))  # noqa: B023
        results.append([each.detach().double() for each in (*second, forward)])
    for found, expected in zip(*results, strict=True):
        assert (found - expected).abs().max() < 0.02 * expected.abs().max()


def test_threads() -> None:
    """Sums do not depend on the number of threads."""
    a, b, c = (ow.randn(n, 700, 700).to(ow.bfloat16) for n in (1, 1, 12))
    threads = ow.get_num_threads()
    try:
        results = []
        for n in (1, 2, 3):
            ow.set_num_threads(n)
            results.append((ow.bmm(a, b), ow.bmm(c, c), a[0] @ b[0].t()))
    finally:
        ow.set_num_threads(threads)
    for other in results[1:]:
        assert all(map(ow.equal, results[0], other))
