"""Compiled functions give what the functions give, bit for bit, when they are recorded and when programs answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import opweave
import pytest
from compiled_calls import check, facts
from opweave import nn
from opweave.nn import functional

X = opweave.linspace(-3, 4, 600).reshape(20, 30)
Y = opweave.linspace(2, -1, 30)
N = opweave.arange(600).reshape(20, 30) % 17
B = X > 0.5


def gelu(x: Any) -> Any:
    return 0.5 * x * (1 + opweave.tanh(0.7978845608 * (x + 0.044715 * x * x * x)))


def several(x: Any, y: Any) -> Any:
    s = opweave.sigmoid(x)
    return {"a": (s * y, [s > 0.5]), "b": opweave.cos(x), "c": 3, "d": None}


def normalized(x: Any) -> Any:
    mean = x.mean(1, keepdim=True)
    centered = x - mean
    return centered / (centered.pow(2).mean(1, keepdim=True) + 1e-5).sqrt()


def rotated(x: Any) -> Any:
    a, b = x.chunk(2, -1)
    return opweave.cat([-b, a], -1) * opweave.cos(x) + x * opweave.sin(x)


def in_place(x: Any) -> Any:
    y = x * 2
    y += 1
    y.mul_(x).clamp_(min=0)
    z = y + x
    y[0] = 7
    return y, z


def of_a_view(x: Any) -> Any:
    y = x.clone()
    y.t()[1].add_(1)
    return y * 2, y.t()


def by_shape(x: Any) -> Any:
    total = x
    for size in x.shape:
        total = total + size if size > 25 else total * 2
    return total.view(-1)[:: x.ndim]


def with_numbers(x: Any) -> Any:
    return opweave.add(x, 2, alpha=3) + opweave.tensor([1.0, 2.0, 3.0]).repeat(10) + opweave.ones(30)


def twice(x: Any) -> Any:
    return x + 1, x + 1


def itself(x: Any) -> Any:
    return x, x.t(), x.contiguous()


def nothing(x: Any) -> Any:
    x * 2


def powers(x: Any) -> Any:
    return x**2 + x**3 - x.abs() ** 0.5 + x.abs() ** 1.5 + 2**x + x**0


FUNCTIONS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (gelu, (X,)),
    (several, (X, Y)),
    (normalized, (X,)),
    (rotated, (X,)),
    (in_place, (X,)),
    (of_a_view, (X,)),
    (by_shape, (X,)),
    (with_numbers, (X,)),
    (twice, (X,)),
    (itself, (X,)),
    (nothing, (X,)),
    (powers, (X,)),
    (lambda x, y: x * y - y, (X.t(), Y[:20])),
    (lambda x, y: x * y - y, (X[::2, ::3], X[1::2, ::3])),
    (lambda x, y: x[:, None] * y + 1 - x[:, None], (Y, Y)),
    (lambda x, n: x * n + n // 3 - (n % 5).clamp(max=3), (X, N)),
    (lambda x, n: opweave.where(n > 3, x, n.double()).exp() + x, (X, N)),
    (lambda n, b: ((n & 3) | 8) * b + (n << 1) - ~n, (N, B)),
    (lambda x: (x.double() * 2 + x).float().relu(), (X,)),
    (lambda x: x.half() * 2 + 1, (X,)),
    (lambda x: (x > 0).logical_and(x < 1).logical_not(), (X,)),
    (lambda x: opweave.atan2(x, 1 - x).sinh().expm1().log1p(), (X,)),
    (lambda x: opweave.special.erf(x) * opweave.lgamma(x.abs() + 1), (X,)),
    (lambda x, y: opweave.lerp(x, y, 0.3).clamp(-1, 1) * opweave.addcmul(x, y, y, value=2), (X, Y)),
    (lambda x: opweave.complex(x, 2 * x).exp().abs() + x, (X,)),
    (lambda x: functional.silu(x) * functional.softplus(x) - functional.hardtanh(x), (X,)),
    (lambda x: x.softmax(-1).log() + x.sum(), (X,)),
    (lambda x: [each * 2 + 1 for each in x.unbind(1)], (X,)),
    (lambda x: (x.max(1).values + 1).mul(2), (X,)),
    (lambda x: opweave.nan_to_num(x / 0 + 1, 0.5), (X,)),
    (lambda x: x.expand(3, 20, 30) * 2 + 1, (X,)),
    (lambda x: x.item() if x.numel() == 1 else x * 3, (X,)),
    (lambda x: x.cumsum(0).exp().neg() * 2, (X,)),
    (lambda x: x * 2 + 1, (opweave.tensor(3.0),)),
    (lambda x: x * 2 + 1, (opweave.ones(0, 3),)),
    (lambda x: x * 2 + 1, (opweave.ones(2, 3, 4, 5).to(memory_format=opweave.channels_last),)),
    (lambda xs, *, scale: [each * scale + 1 for each in xs["a"]], ({"a": [X, Y]},)),
]


@pytest.mark.parametrize("place", range(len(FUNCTIONS)))
def test_bits(place: int) -> None:
    function, args = FUNCTIONS[place]
    check(function, *args, **({"scale": 1.5} if isinstance(args[0], dict) else {}))


@pytest.mark.parametrize(
    "dtype", [opweave.float64, opweave.float16, opweave.bfloat16, opweave.int32, opweave.complex64]
)
def test_dtypes(dtype: opweave.dtype) -> None:
    check(lambda x, y: (x * y + 1) * (x - 2 * y), X.to(dtype), N.to(dtype))


def test_signs_of_zeros_of_complex_numbers() -> None:
    parts = [(re, im) for re in (0.0, -0.0, 1.0, -1.0) for im in (0.0, -0.0)]
    numbers = opweave.complex(opweave.tensor([re for re, _ in parts]), opweave.tensor([im for _, im in parts]))
    x, y = numbers.repeat(8), numbers.repeat_interleave(8)
    for function in (lambda x, y: x * y + 1, lambda x, y: -(2 - x) * y, lambda x, y: (x + y) / 2 - 1):
        check(function, x, y)


def test_many_results() -> None:
    check(lambda x: [x * number + 1 for number in range(20)], X)


def test_many_inputs() -> None:
    check(lambda *each: sum(x * place for place, x in enumerate(each)), *(X + place for place in range(20)))


def test_long_chain() -> None:
    def function(x: Any) -> Any:
        for number in range(500):
            x = x * 0.99 + number * 0.001
        return x

    check(function, X)


def test_modes() -> None:
    weight = opweave.ones(30, requires_grad=True)

    @opweave.no_grad()
    def quiet(x: Any) -> Any:
        return x * weight + 1

    check(quiet, X)
    with opweave.no_grad():
        check(lambda x: x * weight + 1, X)
    check(lambda x: x.detach() * 2 + 1, X.clone().requires_grad_())
    with opweave.inference_mode():
        check(lambda x: x * 2 + 1, X)


def test_autocast() -> None:
    def function(x: Any) -> Any:
        with opweave.autocast("cpu", dtype=opweave.bfloat16):
            return x @ x.t() + 1

    check(function, X)


def test_random_numbers_are_those_of_the_function() -> None:
    def function(x: Any) -> Any:
        noise = opweave.randn_like(x)
        return functional.dropout(x * 2, 0.3) + noise, opweave.rand(3) * 2 + 1

    check(function, X, is_recorded=True)


@pytest.mark.parametrize("training", [True, False])
def test_modules(training: bool) -> None:
    opweave.manual_seed(0)
    layers = nn.Sequential(
        nn.Linear(30, 8), nn.BatchNorm1d(8), nn.GELU(), nn.Dropout(0.2), nn.LayerNorm(8), nn.Linear(8, 2)
    )
    layers.train(training)
    with opweave.no_grad():
        check(lambda x: layers(x) * 2 + 1, X)


def test_attention() -> None:
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval()
    x = opweave.randn(2, 5, 8)
    with opweave.no_grad():
        check(lambda x: layer(x), x)


def test_gradients() -> None:
    layers = nn.Sequential(nn.Linear(30, 8), nn.Tanh(), nn.Linear(8, 1))

    def gradients(call: Callable[..., Any]) -> list[Any]:
        layers.zero_grad()
        x = X.clone().requires_grad_()
        (call(x * 1) * 2).sum().backward()
        return [x.grad, *(each.grad.clone() for each in layers.parameters())]

    function = opweave.compile(lambda x: opweave.sigmoid(layers(x) * 2 + 1), fullgraph=True)
    expected = gradients(lambda x: opweave.sigmoid(layers(x) * 2 + 1))
    for _ in range(3):
        assert all(a.equal(b) for a, b in zip(gradients(function), expected, strict=True))


@pytest.mark.parametrize("needs_grad", [False, True])
def test_autocast_around_the_call(needs_grad: bool) -> None:
    layers = nn.Sequential(nn.Linear(30, 8), nn.GELU(), nn.LayerNorm(8), nn.Linear(8, 8))

    def function(x: Any) -> Any:
        y = layers(x)
        if opweave.is_autocast_enabled("cpu"):
            y = y * 2 + 1
        with opweave.autocast("cpu", enabled=False):
            return (y @ y.t().to(y.dtype)).exp().var(1), opweave.addmm(y, y, y[:8]) - 1, y.float() @ y.t().float()

    compiled: Any = opweave.compile(function)
    x = X.clone().requires_grad_(needs_grad)
    for _ in range(3):
        for settings in ({}, {"dtype": opweave.float16}, {"enabled": False}):
            with opweave.autocast("cpu", **settings):
                assert facts(compiled(x)) == facts(function(x))
        assert facts(compiled(x)) == facts(function(x))
    assert len(compiled.compiled.entries) == 3, compiled.compiled.refusals
    with opweave.autocast("cpu"):
        assert check(lambda x: x @ x.t() * 2 + 1, X).entries


def test_composites_cast_within() -> None:
    def function(x: Any) -> Any:
        with opweave.autocast("cpu", dtype=opweave.float16):
            return opweave.linalg.pinv(x), opweave.var(x, dim=1) * 2 + 1

    check(function, X)
    check(opweave.linalg.pinv, X)
    with opweave.autocast("cpu"):
        check(function, X)
        check(opweave.linalg.pinv, X)
