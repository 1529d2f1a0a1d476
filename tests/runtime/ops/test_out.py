"""`out=` that is an input, or a view: what is not refused is what the call computes into memory of its own."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import fuzzing
import numpy as np
import opweave as ow
import pytest
from harness.arrays import array
from opweave import Tensor

pytestmark = pytest.mark.filterwarnings("ignore:an output of shape", "ignore:opweave.range is deprecated")


# ---- an output that is an input and takes another shape --------------------------------------------------------


def test_elementwise_operators_refuse_an_input_that_would_grow() -> None:
    row = ow.tensor([7, 5, 1, -2])
    with pytest.raises(RuntimeError, match=r"output with shape \[4\] doesn't match the broadcast shape \[3, 1, 4\]"):
        ow.add(ow.tensor([[[2]], [[0]], [[1]]]), row, out=row)
    assert row.tolist() == [7, 5, 1, -2]
    one = ow.tensor([3.0])
    with pytest.raises(RuntimeError, match="doesn't match the broadcast shape"):
        ow.where(one > 0, one, ow.ones(2, 2), out=one)


def test_another_handle_of_the_input_takes_the_shape() -> None:
    row = ow.tensor([1, 2])
    out = row.detach()
    ow.add(ow.tensor([[10], [20]]), row, out=out)
    assert out.tolist() == [[11, 12], [21, 22]]
    assert row.tolist() == [1, 2]


MATRIX = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda t: ow.sum(t, 1, out=t), [6.0, 15.0]),
        (lambda t: ow.sum(t, 0, out=t), [5.0, 7.0, 9.0]),
        (lambda t: ow.prod(t, 1, out=t), [6.0, 120.0]),
        (lambda t: ow.amax(t, 1, out=t), [3.0, 6.0]),
        (lambda t: ow.amin(t, 0, keepdim=True, out=t), [[1.0, 2.0, 3.0]]),
        (lambda t: ow.mean(t, 1, out=t), [2.0, 5.0]),
        (lambda t: ow.mm(t, ow.ones(3, 4), out=t), [[6.0] * 4, [15.0] * 4]),
        (lambda t: ow.mm(ow.ones(1, 2), t, out=t), [[5.0, 7.0, 9.0]]),
        (lambda t: ow.mm(t, t.t(), out=t), [[14.0, 32.0], [32.0, 77.0]]),
        (lambda t: ow.mv(t, ow.ones(3), out=t), [6.0, 15.0]),
        (lambda t: ow.addmm(t, ow.ones(2, 1), ow.ones(1, 3), out=t), [[2.0, 3.0, 4.0], [5.0, 6.0, 7.0]]),
        (lambda t: ow.outer(t[0], t[1], out=t), [[4.0, 5.0, 6.0], [8.0, 10.0, 12.0], [12.0, 15.0, 18.0]]),
    ],
)
def test_what_is_read_is_what_the_input_was(call: Callable[[Tensor], Tensor], expected: list[Any]) -> None:
    matrix = ow.tensor(MATRIX)
    assert call(matrix) is matrix
    assert matrix.tolist() == expected


def test_an_addend_that_is_broadcast_into_itself() -> None:
    row = ow.tensor([[1.0, 2.0]])
    ow.addmm(row, ow.ones(3, 1), ow.ones(1, 2), out=row)
    assert row.tolist() == [[2.0, 3.0]] * 3
    batch = ow.tensor([[1.0]])
    ow.baddbmm(batch, ow.ones(2, 1, 3), ow.ones(2, 3, 1), out=batch)
    assert batch.tolist() == [[[4.0]], [[4.0]]]
    vector = ow.tensor([2.0, 3.0])
    ow.dot(vector, vector, out=vector)
    assert vector.tolist() == 13.0


def test_an_output_that_grows_into_an_input_is_refused() -> None:
    memory = ow.arange(12.0)
    source, out = memory[:9].view(3, 3), memory[:0]
    with pytest.raises(RuntimeError, match="refer to a single memory location"):
        ow.scatter_add(ow.zeros(3, 3), 0, ow.tensor([[0, 2, 1]]), source, out=out)


# ---- every function ------------------------------------------------------------------------------------------


def apart(value: Any) -> Any:
    """Tensors as copies at the beginning of larger memory, so that views of it have room to grow."""
    if isinstance(value, (list, tuple)):
        return type(value)(map(apart, value))
    if not isinstance(value, Tensor):
        return value
    memory = ow.zeros(value.numel() + 40, dtype=value.dtype)
    return memory[: value.numel()].copy_(value.reshape(-1)).view(value.shape)


def outputs(t: Tensor, result: Tensor) -> Iterator[Tensor]:
    """Views of an input: itself, another handle of it, parts, other orders, and one of the shape of the result."""
    yield t
    yield t.detach()
    yield t.permute(list(range(t.ndim))[::-1])
    if t.ndim:
        yield t.narrow(0, 0, max(0, t.size(0) - 1))
        yield t.narrow(-1, min(1, t.size(-1)), max(0, t.size(-1) - 1))
        yield t[::2]
    if t.dtype is result.dtype and result.numel() <= t.numel() + 39:
        yield t.as_strided(list(result.shape), list(result.contiguous().stride()), 1)


def agree(got: Tensor, expected: Tensor) -> bool:
    if got.shape != expected.shape:
        return False
    values = [array(each.to(got.dtype).to(ow.complex128)) for each in (got, expected)]
    return np.allclose(*values, 1e-4, 1e-4, equal_nan=True)


def check(entry: fuzzing.Entry, call: fuzzing.Call) -> None:
    named = {name: value for name, value in call.keywords.items() if name != "out"}
    try:
        result = entry.function(*apart(call.arguments), **named)
    except fuzzing.EXPECTED:
        return
    results = [result] if isinstance(result, Tensor) else list(result)
    for index, argument in enumerate(call.arguments):
        if not isinstance(argument, Tensor):
            continue
        for which, part in enumerate(results):
            for kind in range(len(list(outputs(apart(argument), part)))):
                given = apart(call.arguments)
                out = [ow.empty(0, dtype=each.dtype) for each in results]
                out[which] = list(outputs(given[index], part))[kind]
                target = out[0] if isinstance(result, Tensor) else tuple(out)
                try:
                    entry.function(*given, **named, out=target)
                except fuzzing.EXPECTED:
                    continue
                assert all(map(agree, out, results)), f"{call}: argument {index} as output {which}, view {kind}: {out}"


@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_inputs_as_outputs(monkeypatch: pytest.MonkeyPatch, dtype: str) -> None:
    monkeypatch.setattr(fuzzing, "DTYPE_NAMES", (dtype,))
    for name, forms in sorted(fuzzing.entries().items()):
        for entry in forms:
            if not entry.has_out or entry.draws:
                continue
            for seed in range(3):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    check(entry, fuzzing.random_call(Random(f"{name} {seed}"), entry))


# ---- factories -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "fill",
    [
        lambda out: ow.arange(0, 4, out=out),
        lambda out: ow.range(0, 3, out=out),
        lambda out: ow.linspace(0, 3, 4, out=out),
        lambda out: ow.linspace(ow.tensor(0.0), ow.tensor(3.0), 4, out=out),
    ],
)
def test_a_sequence_keeps_the_shape_of_an_output_of_as_many_elements(fill: Callable[[Tensor], Tensor]) -> None:
    whole = ow.full((2, 3), -1.0)
    columns = whole.narrow(1, 1, 2)
    assert fill(columns) is columns
    assert columns.shape == (2, 2)
    assert columns.stride() == (3, 1)
    assert whole.tolist() == [[-1, 0, 1], [-1, 2, 3]]
    square = ow.zeros(2, 2)
    fill(square.t())
    assert square.tolist() == [[0, 2], [1, 3]]
    tail = ow.full((8,), -1.0)
    fill(tail[3:5])
    assert tail.tolist() == [-1, -1, -1, 0, 1, 2, 3, -1]
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        fill(ow.zeros(1, 1).expand(2, 2))


def test_powers_in_a_view() -> None:
    whole = ow.zeros(2, 4)
    ow.logspace(0, 3, 4, base=2, out=whole[:, ::2])
    assert whole.tolist() == [[1, 0, 2, 0], [4, 0, 8, 0]]


def test_other_factories_give_a_view_their_shape() -> None:
    whole = ow.full((2, 3), -1.0)
    ow.zeros(4, out=whole.narrow(1, 1, 2))
    assert whole.tolist() == [[-1, 0, 0], [0, 0, -1]]
    whole = ow.full((2, 4), -1.0)
    ow.full((2, 2), 5, out=whole[:, ::2])
    assert whole.tolist() == [[5, -1, 5, -1], [5, -1, 5, -1]]
    whole = ow.full((2, 4), -1.0)
    ow.eye(2, out=whole[:, 1::2])
    assert whole.tolist() == [[-1, 1, -1, 0], [-1, 0, -1, 1]]


@pytest.mark.parametrize(
    "draw",
    [
        lambda out: ow.randperm(4, out=out, generator=ow.Generator()),
        lambda out: ow.rand(4, out=out, generator=ow.Generator()),
        lambda out: ow.randn(4, out=out, generator=ow.Generator()),
        lambda out: ow.randint(100, (4,), out=out, generator=ow.Generator()),
        lambda out: ow.normal(0, 1, (4,), out=out, generator=ow.Generator()),
        lambda out: ow.bernoulli(ow.full((4,), 0.5), out=out, generator=ow.Generator()),
        lambda out: ow.multinomial(ow.ones(9), 4, out=out, generator=ow.Generator()),
    ],
)
@pytest.mark.parametrize("dtype", [ow.float32, ow.int64])
def test_random_numbers_in_a_view(draw: Callable[[Tensor], Tensor], dtype: ow.dtype) -> None:
    expected = ow.empty(4, dtype=dtype)
    try:
        draw(expected)
    except (NotImplementedError, RuntimeError):
        return  # not of this dtype
    whole = ow.full((4, 3), 77, dtype=dtype)
    draw(whole[:, 1])
    assert whole[:, 1].tolist() == expected.tolist()
    assert whole[:, ::2].eq(77).all()


def test_random_numbers_in_the_place_of_their_parameters() -> None:
    means = ow.full((2, 3), 5.0)
    expected = ow.normal(means, 2.0, generator=ow.Generator())
    ow.normal(means, 2.0, generator=ow.Generator(), out=means)
    assert means.equal(expected)
    chances = ow.full((3, 3), 0.5)
    expected = ow.bernoulli(chances, generator=ow.Generator())
    ow.bernoulli(chances, generator=ow.Generator(), out=chances.t())
    assert chances.t().equal(expected)


@pytest.mark.parametrize("function", [ow.complex, ow.polar])
def test_complex_results_of_the_same_dtype(function: Any) -> None:
    x = ow.ones(2)
    out = ow.empty(2, dtype=ow.complex64)
    assert function(x, x, out=out) is out
    text = "Expected object of scalar type ComplexFloat but got scalar type ComplexDouble for argument 'out'"
    with pytest.raises(RuntimeError, match=text):
        function(x, x, out=ow.empty(2, dtype=ow.complex128))


RESIZED = re.escape(
    "An output with one or more elements was resized since it had shape [4], which does not match the required output "
    "shape [3]."
)


@pytest.mark.parametrize(
    "call",
    [
        lambda x, out: ow.add(x, x, out=out),
        lambda x, out: ow.sum(ow.ones(2, 3), 0, out=out),
        lambda x, out: ow.cumsum(x, 0, out=out),
        lambda x, out: ow.mv(ow.ones(3, 3), x, out=out),
        lambda x, out: ow.take(x, ow.tensor([0, 1, 2]), out=out),
        lambda x, out: ow.cat([x], out=out),
        lambda x, out: ow.where(x > 0, x, x, out=out),
    ],
)
def test_an_output_that_is_resized_is_warned_of(call: Callable[[Tensor, Tensor], Tensor]) -> None:
    with pytest.warns(UserWarning, match=RESIZED) as given:
        assert call(ow.ones(3), ow.ones(4)).shape == (3,)
    assert len(given) == 1
    assert given[0].filename == __file__


def test_an_output_without_elements_and_one_that_is_filled_are_not_warned_of() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ow.abs(ow.ones(3), out=ow.empty(0))
        ow.abs(ow.ones(3), out=ow.ones(3))
        ow.zeros(3, out=ow.ones(4))
        ow.linspace(0, 1, 3, out=ow.ones(4))
