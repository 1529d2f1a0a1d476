"""Programs for other sizes than those that were recorded give what the functions give, or there are none."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import opweave
import pytest
from compiled_calls import copied, facts
from opweave import nn
from opweave.nn import functional

SIZES = (5, 6, 1, 0, 7, 5, 2, 64, 1, 9, 30)


def rows(count: int) -> Any:
    return opweave.linspace(-2, 3, count * 8).reshape(count, 8)


def gelu(x: Any) -> Any:
    return 0.5 * x * (1 + opweave.tanh(0.7978845608 * (x + 0.044715 * x * x * x)))


def normalized(x: Any) -> Any:
    centered = x - x.mean(-1, keepdim=True)
    return centered / (centered.pow(2).mean(-1, keepdim=True) + 1e-5).sqrt()


def constants(x: Any) -> Any:
    noise = opweave.ones(8, device="cpu") * 2 + opweave.arange(8)
    return x * opweave.tensor(2.0) + opweave.tensor([1.0] * 8) + noise


def in_place(x: Any) -> Any:
    y = x.t().reshape(8, -1)
    y += 1
    z = y.contiguous()
    z.mul_(2)
    return y, z, y + z


def indexed(x: Any) -> Any:
    return x[:, :-1] * 2 + x[..., 1:], x[:, None, 3:5], x[:, 5:] + 1


def at_random(x: Any) -> Any:
    return opweave.rand_like(x) + functional.dropout(x, 0.5) * 2


def two_ways(x: Any) -> Any:
    y = x * 2 + 1
    if y.sum() > 100:
        return y.exp() * 3
    return y - 1, y * 2


FREE: list[Callable[..., Any]] = [
    gelu,
    normalized,
    constants,
    indexed,
    lambda x: [each + 1 for each in x.chunk(2, 1)],
    lambda x: (x @ x.t() + 1).softmax(-1) * 2,
    lambda x: opweave.cat([x, x.flip(0)], 0).view(-1, 4) * 2 + 1,
    lambda x: (x.sum(0) * 2, x.amax(1) if x.ndim > 5 else x.cumsum(0), x.t() * 2 - x.t().exp()),
    lambda x: x.expand(2, -1, 8) + opweave.zeros_like(x) - 1,
]
"""Functions whose Python is told no size that is not 8."""

COMPOSITES: list[Callable[..., Any]] = [
    in_place,
    at_random,
    lambda x: functional.layer_norm(x, (8,)) * 2 + 1,
    lambda x: functional.mse_loss(x, x * 2) + functional.cosine_similarity(x, x + 1),
    lambda x: functional.scaled_dot_product_attention(x[None], x[None], x[None]) * 2 + 1,
    lambda x: functional.pad(x, (1, 1)) * 2 + 1,
    lambda x: functional.one_hot((x > 0).long(), 3) * 2 + 1,
]
"""Functions in which operators that are made of others are told sizes."""


def _agree(function: Callable[..., Any], compiled: Callable[..., Any], *args: Any) -> None:
    expected, given = copied(args), copied(args)
    opweave.manual_seed(1)
    try:
        want = facts(function(*expected))
    except Exception as error:
        with pytest.raises(type(error)):
            compiled(*given)
        return
    opweave.manual_seed(1)
    assert facts(compiled(*given)) == want
    assert facts(given) == facts(expected)


def _of_sizes(function: Callable[..., Any], sizes: Sequence[int] = SIZES, **settings: Any) -> Any:
    """Compare calls of all sizes. Returns what is known of the function."""
    compiled: Any = opweave.compile(function, **settings)
    for size in sizes:
        _agree(function, compiled, rows(size))
    return compiled.compiled


@pytest.mark.parametrize("place", range(len(FREE)))
def test_one_recording_is_enough(place: int) -> None:
    known = _of_sizes(FREE[place])
    assert len(known.entries) == 1
    assert len(known.entries[0].others) == len(set(SIZES)) - 1


@pytest.mark.parametrize("batch_first", [True, False])
def test_attention_is_told_no_size_of_batches(batch_first: bool) -> None:
    layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=batch_first)
    attention = nn.MultiheadAttention(16, 2, batch_first=batch_first)
    mask = opweave.zeros(6, 6).fill_diagonal_(-1)
    functions: list[Callable[..., Any]] = [
        lambda x: layer(x),
        lambda x: attention(x, x, x),
        lambda x: attention(x, x, x, attn_mask=mask, need_weights=False, is_causal=True),
    ]
    for function in functions:
        compiled: Any = opweave.compile(function, dynamic=True)
        for size in (2, 5, 1, 7):
            shape = (size, 6, 16) if batch_first else (6, size, 16)
            _agree(function, compiled, opweave.linspace(-2, 3, size * 96).reshape(shape))
        assert len(compiled.compiled.entries) == 1, compiled.compiled.entries[0].unbound


@pytest.mark.parametrize("place", range(len(COMPOSITES)))
def test_composites_are_told_sizes(place: int) -> None:
    known = _of_sizes(COMPOSITES[place])
    assert len(known.entries) <= 2, [each.unbound for each in known.entries]
    assert sum(len(each.others) for each in known.entries) >= len(set(SIZES)) - 2


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x * x.shape[0],
        lambda x: x * len(x) + 1,
        lambda x: x.view(x.size(0) * 2, -1) * 2 + 1,
        lambda x: x.narrow(0, 0, x.size()[0] // 2) * 2 + 1,
        lambda x: x * 2 if x.numel() > 40 else x + 1,
        lambda x: sum((x * number + 1 for number in range(0, x.shape[0], 3)), x),
        lambda x: x[[*range(x.shape[0])[::2]]] * 2 + 1,
        lambda x: x.new_zeros(x.shape) + opweave.ones(x.shape) * 2,
        lambda x: [row * 2 + 1 for row in x],
        lambda x: x * {5: 1.0, 6: 2.0}.get(x.shape[0], 3.0) + 1,
        lambda x: x + 1 if getattr(x, "shape")[0] % 2 else x - 1,  # noqa: B009
        lambda x: x.t() + 1 if (x * 2).t().is_contiguous() else x - 1,
        lambda x: (lambda shape: (x + shape[-1]) * shape[0])(x.shape),
        lambda x: x + 1 if x.stride(0) == x.size else x * x.nbytes,
    ],
)
def test_sizes_that_the_function_reads(function: Callable[..., Any]) -> None:
    known = _of_sizes(function)
    assert all(not each.others for each in known.entries if each.ways.reads)


def test_a_size_that_is_read_beside_one_that_is_not() -> None:
    def scaled(x: Any) -> Any:
        return x / x.shape[-1] ** 0.5 * 2 + x.size(1) - x.size()[-1]

    compiled: Any = opweave.compile(lambda x: x / x.shape[-1] ** 0.5 * 2 + x.size(1))
    for count, width in ((3, 8), (4, 8), (5, 8), (5, 4), (6, 4), (1, 4), (6, 8)):
        _agree(lambda x: x / x.shape[-1] ** 0.5 * 2 + x.size(1), compiled, opweave.ones(count, width))
    assert len(compiled.compiled.entries) == 2
    assert "dimension 1 of a tensor of [3, 8] is read" in opweave.compiler.explain(compiled)
    _of_sizes(scaled)


def test_other_broadcasting() -> None:
    compiled: Any = opweave.compile(lambda x, y, z: (x * y + 1, y - z, (x + z).sum(0) * 2))
    shapes = (
        [(4, 1), (1, 4), (4, 4)],
        [(4, 3), (1, 3), (4, 1)],
        [(1, 1), (5, 1), (5, 7)],
        [(2, 2)] * 3,
        [(0, 1), (1, 3), (1, 1)],
    )
    for given in (*shapes, [(4, 3), (3, 3), (1, 1)], *shapes):
        args = [opweave.linspace(-1, 1, shape[0] * shape[1]).reshape(shape) for shape in given]
        _agree(lambda x, y, z: (x * y + 1, y - z, (x + z).sum(0) * 2), compiled, *args)
    assert len(compiled.compiled.entries) == 1


def test_other_strides() -> None:
    def reshaped(x: Any) -> Any:
        y = x.reshape(-1)
        y += 1
        return y * 2, x * 3 + 1

    compiled: Any = opweave.compile(reshaped)
    base = opweave.linspace(-1, 1, 48)
    for x in (base.view(6, 8), base.view(8, 6).t(), base.view(4, 12)[:, ::3], base.view(1, 48), base.view(12, 4)[::2]):
        _agree(reshaped, compiled, x)
        _agree(reshaped, compiled, x)


def test_errors_are_those_of_the_function() -> None:
    compiled: Any = opweave.compile(lambda x, y: (x + y) * 2 + x.view(-1, 4).sum())
    for shape in ((2, 4), (3, 4), (3, 3), (5, 2), (0, 3)):
        _agree(lambda x, y: (x + y) * 2 + x.view(-1, 4).sum(), compiled, opweave.ones(shape), opweave.ones(3, 4))


def test_conditions() -> None:
    known = _of_sizes(two_ways, [*SIZES, *SIZES])
    assert not known.refusals


def test_dynamic() -> None:
    known = _of_sizes(gelu, range(2, 14), dynamic=False)
    assert len(known.entries) == 8
    assert not any(each.others for each in known.entries)
    known = _of_sizes(COMPOSITES[1], range(2, 14), dynamic=True)
    assert len(known.entries) == 1
    assert len(known.entries[0].others) == 11


def test_explanation() -> None:
    compiled: Any = opweave.compile(lambda x: functional.layer_norm(x, (8,)) * 2 + 1)
    for size in (3, 4, 5, 6):
        compiled(rows(size))
    text = opweave.compiler.explain(compiled)
    assert "only for the shape of a tensor of [3, 8], which is read (" in text
    assert "recorded anew: the shape of a tensor of [3, 8] is read (" in text
    assert "for 2 other combinations of sizes as well" in text


def test_many_sizes() -> None:
    known = _of_sizes(gelu, [*range(2, 80), *range(2, 10)])
    assert len(known.entries) == 1
    assert len(known.entries[0].others) == 64


def test_gradients() -> None:
    layers = nn.Sequential(nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 8))

    def gradients(call: Callable[..., Any], size: int) -> list[Any]:
        layers.zero_grad()
        x = rows(size).requires_grad_()
        (call(x * 1) * 2).sum().backward()
        return [x.grad, *(each.grad.clone() for each in layers.parameters())]

    def function(x: Any) -> Any:
        return opweave.sigmoid(layers(x) * 2 + 1) * x

    compiled: Any = opweave.compile(function)
    for size in SIZES:
        assert facts(gradients(compiled, size)) == facts(gradients(function, size))
    assert len(compiled.compiled.entries) == 1


def test_variables_of_other_sizes() -> None:
    weight = opweave.linspace(0, 1, 8)
    compiled: Any = opweave.compile(lambda x: x * weight + weight.shape[0])
    for size, width in ((2, 8), (3, 8), (3, 4), (4, 4), (4, 8)):
        weight.resize_(width)
        _agree(lambda x: x * weight + weight.shape[0], compiled, opweave.ones(size, width))


def test_arguments_in_containers() -> None:
    compiled: Any = opweave.compile(lambda each, *, scale: [each["a"] * scale + 1, each["b"][0] - 2])
    for size in (2, 3, 4):
        given = {"a": rows(size), "b": [rows(size + 1)]}
        assert facts(compiled(given, scale=2)) == facts([given["a"] * 2 + 1, given["b"][0] - 2])
    assert len(compiled.compiled.entries) == 1


def test_arguments_that_share_memory() -> None:
    def added(x: Any, y: Any) -> Any:
        x += 1
        return y * 2 + x.sum()

    compiled: Any = opweave.compile(added)
    for size in (4, 5, 6):
        expected, given = rows(size), rows(size)
        assert facts(compiled(given, given[1:])) == facts(added(expected, expected[1:]))
        assert facts(compiled(given, given)) == facts(added(expected, expected))


def test_threads() -> None:
    compiled: Any = opweave.compile(gelu)
    failures: list[Any] = []

    def call(first: int) -> None:
        for size in [*range(first, 20), *range(1, 20)]:
            x = rows(size)
            if facts(compiled(x)) != facts(gelu(x)):
                failures.append(size)

    threads = [threading.Thread(target=call, args=(first,)) for first in (1, 7, 12, 3)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert not failures


def test_autocast_and_modes() -> None:
    layers = nn.Sequential(nn.Linear(8, 8), nn.GELU(), nn.LayerNorm(8))

    def function(x: Any) -> Any:
        with opweave.no_grad():
            quiet = x * 2 + 1
        return layers(x) + quiet, (x @ x.t()).exp() * 2

    compiled: Any = opweave.compile(function)
    for size in (3, 4, 1, 6):
        for settings in ({}, {"dtype": opweave.float16}, {"enabled": False}):
            with opweave.autocast("cpu", **settings):
                _agree(function, compiled, rows(size))
        with opweave.inference_mode():
            _agree(function, compiled, rows(size))
    assert not compiled.compiled.refusals
