"""Steps over rows run together: results are those of the functions, bit for bit, and one kernel computes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import opweave
import pytest
from compiled_calls import check, facts
from opweave._base.pytree import flatten
from opweave._handle import run_tiles
from opweave.compiler import _tiles
from opweave.nn import functional


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tiles of a few rows, so that small tensors have many; and none of them is given up."""

    def run(*args: Any) -> Any:
        result = run_tiles(*args)
        assert result is not None
        return result

    monkeypatch.setattr(_tiles, "_TILE_BYTES", 4096)
    monkeypatch.setattr(_tiles, "run_tiles", run)


def softmax(x: Any) -> Any:
    powers = opweave.exp(x - x.amax(-1, keepdim=True))
    return powers / powers.sum(-1, keepdim=True)


def layer_norm(x: Any, weight: Any, bias: Any) -> Any:
    centred = x - x.mean(-1, keepdim=True)
    return centred * opweave.rsqrt(centred.square().mean(-1, keepdim=True) + 1e-5) * weight + bias


def norm_of_sum(x: Any, rest: Any, weight: Any) -> Any:
    total = x + rest
    return total, total * opweave.rsqrt(total.square().mean(-1, keepdim=True) + 1e-6) * weight


def kernels_of_rows(x: Any, rest: Any) -> Any:
    total = x + rest
    return functional.gelu(functional.rms_norm(total, (x.shape[-1],))) + total, total.softmax(-1) * 2


def deviations(x: Any) -> Any:
    return (x - x.mean(-1)[..., None]).square().mean(-1)


def products(x: Any, rest: Any) -> Any:
    return (x * rest).sum(-1)


def in_other_shapes(x: Any) -> Any:
    doubled = x * 2
    heads = doubled.view(*x.shape[:-1], 2, -1)
    return heads.sum(-1), heads, (doubled + 1).unsqueeze(-1), (heads - heads.amax(-1, keepdim=True)).exp()


def extrema(x: Any) -> Any:
    scaled = x / 2
    return scaled.amin(-1), scaled.argmax(-1), scaled.logsumexp(-1), (scaled * scaled).amax((-1,))


def _numbers(*shape: int, dtype: Any = opweave.float32) -> Any:
    count = opweave.Size(shape).numel()
    return (((opweave.arange(count) * 7919) % 1009).to(opweave.float64) / 300 - 1.5).reshape(shape).to(dtype)


ROWS: list[tuple[Callable[..., Any], int, int]] = [
    # the function, the number of its tensors, and of those with an element for each place in a row
    (softmax, 1, 0), (layer_norm, 1, 2), (norm_of_sum, 2, 1), (kernels_of_rows, 2, 0), (deviations, 1, 0),
    (products, 2, 0), (in_other_shapes, 1, 0), (extrema, 1, 0),
]  # fmt: skip
SHAPES = [(40, 100), (3, 5, 64), (2, 3, 7, 32), (64, 64), (2, 1000), (1, 300), (33, 24), (7, 3), (0, 16), (700, 16)]


@pytest.mark.parametrize("dtype", [opweave.float32, opweave.float64, opweave.bfloat16])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize(("function", "full", "places"), ROWS, ids=lambda each: getattr(each, "__name__", ""))
def test_rows(function: Any, full: int, places: int, shape: Any, dtype: Any) -> None:
    if function in (in_other_shapes, extrema) and (shape[-1] % 2 or 0 in shape):
        pytest.skip("rows that have no halves, or no elements")
    tensors = [_numbers(*shape, dtype=dtype) + place for place in range(full)]
    check(function, *tensors, *(_numbers(shape[-1], dtype=dtype) for _ in range(places)), calls=2)


def _text(function: Any, *args: Any) -> str:
    compiled: Any = opweave.compile(function, fullgraph=True)
    compiled(*args)
    text: str = opweave.compiler.explain(compiled).partition("\n")[0]
    return text


@pytest.mark.parametrize(("function", "full", "places"), ROWS[:6], ids=lambda each: getattr(each, "__name__", ""))
def test_one_kernel(function: Any, full: int, places: int) -> None:
    args = [*(_numbers(40, 100) for _ in range(full)), *(_numbers(100) for _ in range(places))]
    assert _text(function, *args).startswith("program 1: 1 kernel of")


def test_explanation() -> None:
    text = opweave.compiler.explain(opweave.compile(lambda x: x.softmax(-1) * 2), _numbers(40, 100))
    assert text.endswith("Kernel 1 is calls of its operators for a few rows at a time.")


@pytest.mark.parametrize("shape", [(40, 100), (3, 5, 64), (2, 1000)], ids=str)
@pytest.mark.parametrize(("function", "full", "places"), [each for each in ROWS if each[0] is not in_other_shapes])
def test_gradients(function: Any, full: int, places: int, shape: Any) -> None:
    tensors = [*(_numbers(*shape) + place for place in range(full)), *(_numbers(shape[-1]) for _ in range(places))]

    def gradients(called: Any) -> Any:
        given = [each.clone().requires_grad_() for each in tensors]
        results, _ = flatten(called(*given))
        floating = [each for each in results if each.requires_grad]
        return facts(results), facts(opweave.autograd.grad(floating, given, [each.exp() for each in floating]))

    compiled = opweave.compile(function, fullgraph=True)
    want = gradients(function)
    for _ in range(2):
        assert gradients(compiled) == want


def test_kernel_of_gradients() -> None:
    compiled: Any = opweave.compile(softmax, fullgraph=True)
    text = opweave.compiler.explain(compiled, _numbers(40, 100).requires_grad_())
    assert text.startswith("program 1: 1 kernel of")
    assert "its gradient: 1 kernel, 0 other operators" in text


def test_operands_are_broadcast_and_strided() -> None:
    x = _numbers(30, 80)

    def function(x: Any, row: Any, column: Any, mask: Any, number: Any) -> Any:
        scores = opweave.where(mask, x * row + column, number)
        return scores.softmax(-1), scores.sum(-1) * column[:, 0]

    for other in (x, x[:, ::2], x.t(), x[::2], x.expand(4, 30, 80)[1]):
        rows, length = other.shape
        check(function, other, _numbers(length), _numbers(rows, 1), other > 0, opweave.tensor(-2.0))
    repeated = x[:1].expand(30, 80)
    compiled = opweave.compile(lambda x: (x * 2).softmax(-1).exp())
    for _ in range(2):
        assert compiled(repeated).equal((repeated * 2).softmax(-1).exp())
    square = _numbers(64, 64)
    check(lambda x, y: (x + y).sum(-1) + y, square, _numbers(64))
    masked = _numbers(3, 5, 20, 20)
    check(lambda x, m: (x + m).softmax(-1) * m.exp(), masked, _numbers(3, 1, 1, 20))
    check(lambda x, m: (x + m).softmax(-1) * m.exp(), masked, _numbers(5, 20, 1))


def test_lines_along_other_dimensions_are_reduced_apart() -> None:
    x = _numbers(40, 30, 8)
    for function in (
        lambda x: (x * 2).sum(0) + 1,
        lambda x: ((x * 2).sum(1) + 1).exp(),
        lambda x: ((x * 2).sum((1, 2)) + 1).exp(),
        lambda x: ((x * 2).sum((0, 2)) + 1).exp(),
        lambda x: ((x * 2).sum() + 1).exp(),
        lambda x: (x.transpose(0, 1) * 2).softmax(-1).exp(),
        lambda x: (x * 2).cumsum(-1).sum(-1),
    ):
        check(function, x)


@pytest.mark.parametrize("dim", [0, -1])
def test_tensors_without_dimensions_have_no_lines(dim: int) -> None:
    def function(x: Any) -> Any:
        return (x * 2).sum(dim) + x.logsumexp(dim) + x.softmax(dim)

    check(function, opweave.tensor(3.0))


def test_what_is_written_to_between_steps() -> None:
    def function(x: Any, y: Any) -> Any:
        total = (x * y).sum(-1, keepdim=True)
        y += 1
        scaled = (x * y) / total
        x[0] = 0
        return scaled, (scaled + x).sum(-1)

    check(function, _numbers(40, 50) + 3, _numbers(40, 50) + 4)


def test_a_step_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_tiles, "run_tiles", run_tiles)
    compiled = opweave.compile(lambda x, y: (x // y).sum(-1) + 1, fullgraph=True)
    x, y = opweave.arange(4000).reshape(40, 100), opweave.ones(40, 100, dtype=opweave.int64)
    compiled(x, y)
    y[30, 7] = 0
    for _ in range(2):
        with pytest.raises(RuntimeError, match="ZeroDivisionError"):
            compiled(x, y)
    y[30, 7] = 2
    assert compiled(x, y).equal((x // y).sum(-1) + 1)


def test_threads_and_versions() -> None:
    x = _numbers(1000, 200)
    compiled = opweave.compile(softmax)
    want, before = facts(softmax(x)), opweave.get_num_threads()
    compiled(x)
    try:
        for number in (1, 2, 4):
            opweave.set_num_threads(number)
            result = compiled(x)
            assert facts(result) == want
            assert result._version == 0
    finally:
        opweave.set_num_threads(before)


def test_modes_see_the_operators(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_tiles, "run_tiles", run_tiles)
    compiled = opweave.compile(softmax)
    x = _numbers(40, 100)
    compiled(x)
    with opweave.profiler.profile() as profile:
        assert compiled(x).equal(softmax(x))
    assert any("amax" in each.key for each in profile.key_averages())
