"""Joins are computed piece by piece with the operators of elements around them: results are those of the functions, bit
for bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import opweave
import pytest
from compiled_calls import check, copied, facts


def _numbers(*shape: int, dtype: Any = opweave.float32) -> Any:
    count = opweave.Size(shape).numel()
    return (((opweave.arange(count) * 7919) % 100_003).to(opweave.float64) / 3e4 - 1.6).reshape(shape).to(dtype)


def _others(function: Any, *args: Any) -> str:
    """The number of operators that are in no kernel."""
    return opweave.compiler.explain(function, *args).splitlines()[0].rpartition(", ")[2]


def rope(x: Any, cos: Any, sin: Any) -> Any:
    half = x.shape[-1] // 2
    return x * cos + opweave.cat((-x[..., half:], x[..., :half]), -1) * sin


def rope_of_chunks(x: Any, cos: Any, sin: Any) -> Any:
    one, other = x.chunk(2, dim=-1)
    return x * cos + opweave.cat((-other, one), -1) * sin


def rope_in_halves(x: Any, cos: Any, sin: Any) -> Any:
    (one, other), c, s = x.split(32, -1), cos[..., :32], sin[..., :32]
    return opweave.cat((one * c - other * s, other * c + one * s), -1)


ROPES = [rope, rope_of_chunks, rope_in_halves]


@pytest.mark.parametrize("function", ROPES)
@pytest.mark.parametrize("dtype", [opweave.float32, opweave.float64, opweave.complex64])
def test_rotary_embeddings_are_one_kernel(function: Any, dtype: Any) -> None:
    given = _numbers(2, 3, 5, 64, dtype=dtype), _numbers(5, 64), _numbers(5, 64) * 0.5
    check(function, *given)
    compiled = opweave.compile(function)
    assert _others(compiled, *given) == "0 other operators"


@pytest.mark.parametrize("function", ROPES)
def test_gradients_of_rotary_embeddings(function: Any) -> None:
    given = [_numbers(2, 3, 5, 64), _numbers(5, 64), _numbers(5, 64) * 0.5]
    compiled: Any = opweave.compile(function)
    for wanted in ([0], [0, 1, 2], [2]):
        expected, found = copied((given, given))
        for each in wanted:
            expected[each].requires_grad_()
            found[each].requires_grad_()
        for call, tensors in ((function, expected), (compiled, found)):
            call(*tensors).mul(_numbers(2, 3, 5, 64)).sum().backward()
        assert facts([each.grad for each in expected]) == facts([each.grad for each in found])
    assert not compiled.compiled.refusals


def test_gradients_of_a_rotary_embedding_are_one_kernel() -> None:
    given = _numbers(2, 3, 5, 64).requires_grad_(), _numbers(5, 64), _numbers(5, 64)
    compiled = opweave.compile(rope)
    assert "its gradient: 1 kernel, 0 other operators" in opweave.compiler.explain(compiled, *given)


def test_gradients_of_gradients() -> None:
    given = _numbers(2, 5, 64).double().requires_grad_(), _numbers(5, 64).double().requires_grad_()
    compiled = opweave.compile(lambda x, cos: rope(x, cos, cos) ** 2)
    (grad,) = opweave.autograd.grad(compiled(*given).sum(), given[0], create_graph=True)
    (want,) = opweave.autograd.grad((rope(*given, given[1]) ** 2).sum(), given[0], create_graph=True)
    assert grad.equal(want)
    found, wanted = (opweave.autograd.grad(each.square().sum(), given) for each in (grad, want))
    assert all(map(opweave.allclose, found, wanted))


# ---- joins of all kinds -----------------------------------------------------------------------------------------

JOINS: list[Callable[[Any, Any], Any]] = [
    lambda x, y: opweave.cat((x * 2, y.exp()), 0),
    lambda x, y: opweave.cat((x, y), 1) * 2 + 1,
    lambda x, y: opweave.cat((x.exp(), y), -1) * opweave.cat((y, x), -1),
    lambda x, y: opweave.cat((x, y, x), -2).exp() - 1,
    lambda x, y: opweave.stack((x + y, x - y), 0),
    lambda x, y: opweave.stack((x + y, y, x - y), 1) * 2,
    lambda x, y: opweave.stack((x + y, x - y), -2) * x[:, None] + 1,
    lambda x, y: opweave.stack((x * y[0], x), -1) * 2,
    lambda x, y: opweave.stack((x.sum(-1, keepdim=True) * y, y), 2),
    lambda x, y: x.roll(2, 1) * y + x,
    lambda x, y: x.roll(-3, -1) * x.roll(0, -1) - y,
    lambda x, y: x.roll((1, 2), (0, 1)) * y + 1,
    lambda x, y: (x * 2).roll(1, 0).exp() + y.roll(5),
    lambda x, y: opweave.hstack((x * 2, y * 3)),
    lambda x, y: opweave.cat((x * y, opweave.cat((x + y, x), 1)), 1) + 1,
    lambda x, y: opweave.cat((x * y, opweave.cat((x + y, x), 0)[:8]), 1) + 1,
    lambda x, y: opweave.cat((x[:, :0] * 2, y * 2, x[:, 3:20]), 1) * 2,
    lambda x, y: opweave.cat((x * 2,), 1) + 1,
    lambda x, y: opweave.cat((x.exp()[:, 4:], x.exp()[:, :4]), 1) * x.exp(),
    lambda x, y: opweave.cat((x[:, 16:], x[:, :16]), 1) * 2 + opweave.cat((y[:, 4:], y[:, :4]), 1),
    lambda x, y: opweave.cat([each * 2 for each in x.split(3, 0)], 0) + y,
    lambda x, y: opweave.cat((opweave.tensor([]), x.view(-1) * 2, y.view(-1)), 0) + 1,
    lambda x, y: opweave.cat([x * each for each in range(12)], 1) - 1,
]


@pytest.mark.parametrize("dtype", [opweave.float32, opweave.int32, opweave.bfloat16])
@pytest.mark.parametrize("place", range(len(JOINS)))
def test_joins(place: int, dtype: Any) -> None:
    check(JOINS[place], _numbers(8, 32, dtype=dtype), _numbers(8, 32, dtype=dtype) * 3, calls=2)


@pytest.mark.parametrize("place", range(len(JOINS)))
def test_gradients_of_joins(place: int) -> None:
    given = _numbers(8, 32), _numbers(8, 32) * 0.3
    expected, found = copied(given), copied(given)
    compiled: Any = opweave.compile(JOINS[place])
    for call, tensors in ((JOINS[place], expected), (compiled, found)):
        for each in tensors:
            each.requires_grad_()
        result = call(*tensors)
        result.backward((opweave.arange(result.numel()) % 7).reshape(result.shape) - 2.5)
    for one, other in zip(expected, found, strict=True):
        assert (one.grad is None) is (other.grad is None)
        if one.grad is not None:
            assert one.grad.stride() == other.grad.stride()
            opweave.testing.assert_close(one.grad, other.grad, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("place", [0, 1, 2, 3, 4, 5, 9, 10, 14, 18])
def test_joins_are_part_of_kernels(place: int) -> None:
    given = _numbers(8, 32), _numbers(8, 32) * 3
    assert _others(opweave.compile(JOINS[place]), *given) == "0 other operators"


@pytest.mark.parametrize(
    "halves",
    [
        lambda x: x.chunk(2, -1),
        lambda x: x.split((16, 16), -1),
        lambda x: x.tensor_split(2, -1),
        lambda x: (x.as_strided((8, 16), (32, 1), 0), x.as_strided((8, 16), (32, 1), 16)),
        lambda x: (x[:, slice(None, 16)], x.narrow(-1, 16, 16)),
    ],
)
def test_views_are_known_by_their_geometry(halves: Callable[[Any], Any]) -> None:
    def function(x: Any) -> Any:
        one, other = halves(x)
        return x * opweave.cat((-other, one), -1)

    check(function, _numbers(8, 32))
    assert _others(opweave.compile(function), _numbers(8, 32)) == "0 other operators"


def of_several(x: Any, y: Any) -> Any:
    """The whole of a join is used by others as well."""
    whole = opweave.cat((x * 2, y), -1)
    return whole, whole.sum(-1), whole.exp() + 1, whole.view(-1)[3:]


def of_both(x: Any, y: Any) -> Any:
    """A product follows from the join by a way around it."""
    whole = opweave.cat((x * 2, y), -1).exp()
    return whole * whole.softmax(-1), whole - whole.sum(-1, keepdim=True)


def of_parts(x: Any, y: Any) -> Any:
    """What is joined is used by others as well."""
    double = x * 2
    return opweave.cat((double, y), 0) + 1, double + 1, double


def in_place(x: Any, y: Any) -> Any:
    """What is joined is written to before the join is used."""
    one = x * 2
    whole = opweave.cat((one, x), 1)
    x.add_(1)
    one.mul_(3)
    result = whole * 2 + opweave.cat((x, one), 1)
    result.add_(1)
    return result, whole


def to_zeros(x: Any, y: Any) -> Any:
    """Zeros are read before and after a part of them is written to."""
    whole = x.new_zeros(8, 32)
    before = whole * 2 + 1
    whole[:, :16] = y[:, :16] * 2
    after = whole * 2 - 1
    whole[:, 16:] = x[:, 16:]
    other = x.new_zeros((8, 32))
    other[2:6] = y[2:6] * 2
    return before, after, whole * 2, other * x - 1, x.new_zeros(8, 32).narrow(1, 2, 20).copy_(y[:, :20])


@pytest.mark.parametrize("function", [of_several, of_both, of_parts, in_place, to_zeros])
def test_other_uses(function: Any) -> None:
    check(function, _numbers(8, 32), _numbers(8, 32) * 3)


def test_dtypes_are_promoted() -> None:
    x, y = _numbers(8, 32), _numbers(8, 32, dtype=opweave.float64)
    check(lambda x, y: opweave.cat((x * 2, y), 1) + 1, x, y)
    check(lambda x, y: opweave.cat((x, x * 2), 1).double() + opweave.cat((y, y), 1), x, y)
    check(lambda x, y: opweave.stack((x.int() * 2, y + 1), 1) * x[:, None], x, y)
    check(lambda x, y: opweave.cat((x > 0, y > 0), 1) & opweave.cat((y < 1, x < 1), 1), x, y)


def test_operands_are_broadcast() -> None:
    x, y = _numbers(4, 8, 32), _numbers(32)
    check(lambda x, y: opweave.cat((x, -x), -1) * opweave.cat((y, y)) + y[0], x, y)
    check(lambda x, y: opweave.cat((x, -x), 0) * y, x, y)
    check(lambda x, y: opweave.cat((x * y, x), 1) + x[:1, :1], x, y)
    check(lambda x, y: opweave.cat((y.expand(8, 32) * 2, x[0]), 1) * x[0, :, :1], x, y)


@pytest.mark.parametrize("dim", range(4))
def test_channels_last(dim: int) -> None:
    x, y = _numbers(2, 16, 4, 6), _numbers(2, 16, 4, 6) * 2
    for one, other in ((True, True), (True, False), (False, True)):
        given = [
            each.contiguous(memory_format=opweave.channels_last) if is_last else each
            for each, is_last in ((x, one), (y, other))
        ]  # fmt: skip
        check(lambda x, y: opweave.cat((x, y), dim) * 2 + 1, *given)
        check(lambda x, y: opweave.cat((x * 2, y.exp()), dim), *given)
        check(lambda x, y: x * y + opweave.cat((x.roll(2, dim), -y), dim).narrow(dim, 0, x.shape[dim]), *given)
        check(lambda x, y: opweave.stack((x * 2, y.exp()), dim) - 1, *given)


def test_other_sizes() -> None:
    compiled: Any = opweave.compile(rope)
    for count in (5, 1, 7, 2, 5):
        given = _numbers(2, count, 64), _numbers(count, 64), _numbers(count, 64) * 0.5
        assert facts(compiled(*given)) == facts(rope(*given))
    assert len(compiled.compiled.entries) == 1
    for place in range(len(JOINS)):
        compiled = opweave.compile(JOINS[place])
        for count in (32, 20, 24, 32):
            given = _numbers(8, count), _numbers(8, count) * 3
            assert facts(compiled(*given)) == facts(JOINS[place](*given)), place


def test_a_join_of_inputs_stays_one_call() -> None:
    x = _numbers(8, 32)
    assert _others(opweave.compile(lambda x: opweave.cat((x, x, x))), x) == "1 other operator"
