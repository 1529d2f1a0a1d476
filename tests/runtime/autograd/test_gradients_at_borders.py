"""Gradients, of first and second order, where formulas tend to fail: at the ends of pieces and domains, for NaN, for
infinities and very large or small numbers, and where an arm that is not taken overflows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import opweave as ow
import pytest

F = ow.nn.functional
INF, NAN = float("inf"), float("nan")


def first(function: Callable[..., Any], *inputs: Any) -> list[list[float]]:
    tensors = [ow.tensor(each, requires_grad=True) for each in inputs]
    return [each.tolist() for each in ow.autograd.grad(function(*tensors).sum(), tensors)]


def second(function: Callable[[Any], Any], input: list[float]) -> list[float]:
    x = ow.tensor(input, requires_grad=True)
    (gradient,) = ow.autograd.grad(function(x).sum(), x, create_graph=True)
    result: list[float] = ow.autograd.grad(gradient.sum(), x)[0].tolist()
    return result


def same(result: list[float], expected: list[float], relative: float = 1e-5) -> None:
    assert result == pytest.approx(expected, rel=relative, abs=1e-37, nan_ok=True)


@pytest.mark.parametrize("size", [1e30, 1e-30, 1e38])
def test_quotient(size: float) -> None:
    by_dividend, by_divisor = first(lambda a, b: a / b, [size], [size])
    same(by_dividend, [1 / size])
    same(by_divisor, [-1 / size])
    (shares,) = first(lambda x: (x / x.sum())[0], [size / 8, size / 4])
    same(shares, [16 / 9 / size * 1, -8 / 9 / size])


def test_angle() -> None:
    by_y, by_x = first(ow.atan2, [0.0, 1e-30, 3e30, 0.0], [0.0, 1e-30, -4e30, -2.0])
    same(by_y, [0, 5e29, -1.6e-31, -0.5])
    same(by_x, [0, -5e29, -1.2e-31, 0])
    z = ow.tensor([1e-30 + 1e-30j], requires_grad=True)
    assert ow.autograd.grad(z.angle(), z)[0].item() == pytest.approx(-5e29 + 5e29j, rel=1e-5)


@pytest.mark.parametrize(
    ("factors", "expected"),
    [
        ([0.0, 0.0, 1e13, 1e13, 1e13, 1e13], [0.0] * 6),
        ([0.0, 2.0, 3.0], [6.0, 0.0, 0.0]),
        ([1e-30, 1e-30], [1e-30, 1e-30]),
        ([1e30, 1e30, 0.0], [0.0, 0.0, INF]),
        ([1e30, 1e30, 1e-30, 1e-30, 2.0], [2e-30, 2e-30, 2e30, 2e30, 1.0]),
        ([0.0, 1e30, 1e30, 1e-30, 1e-30], [1.0, 0.0, 0.0, 0.0, 0.0]),
        ([3e38, 2.0, 5.0], [10.0, INF, INF]),
    ],
)
def test_product(factors: list[float], expected: list[float]) -> None:
    same(first(lambda x: x.prod(), factors)[0], expected)
    same(first(lambda x: x.prod(0), factors)[0], expected)


def test_product_twice_with_zeros() -> None:
    x = ow.tensor([0.0, 0.0, 3.0], dtype=ow.float64, requires_grad=True)
    (gradient,) = ow.autograd.grad(x.prod(), x, create_graph=True)
    assert ow.autograd.grad(gradient[0], x)[0].tolist() == [0.0, 3.0, 0.0]


@pytest.mark.parametrize(("p", "size"), [(0.5, 1e30), (0.5, 1e-30), (1.5, 1e20), (3.0, 1e12), (9.0, 1e4), (9.0, 1e-3)])
def test_norm(p: float, size: float) -> None:
    share = 0.5 ** ((p - 1) / p)
    same(first(lambda x: x.norm(p), [size, -size])[0], [share, -share], relative=1e-4)


def test_losses() -> None:
    zeros = ow.zeros(4)
    same(first(lambda x: F.mse_loss(x, zeros), [3e38, -3e38, 1.0, 2.0])[0], [1.5e38, -1.5e38, 0.5, 1.0])
    points = [NAN, 1.0, -3.0, INF]
    same(first(lambda x: F.huber_loss(x, zeros, reduction="sum"), points)[0], [NAN, 1.0, -1.0, 1.0])
    same(first(lambda x: F.smooth_l1_loss(x, zeros, reduction="sum", beta=2.0), points)[0], [NAN, 0.5, -1.0, 1.0])


def test_softsign() -> None:
    same(first(F.softsign, [1e10, -1e10, 0.0, INF])[0], [1e-20, 1e-20, 1.0, 0.0])
    z = ow.tensor([0.5 - 2j, -1 + 0.25j, 0j], dtype=ow.complex128, requires_grad=True)
    assert ow.autograd.gradcheck(F.softsign, [z.detach()[:2].requires_grad_()])
    assert ow.autograd.grad(F.softsign(z)[2].real, z)[0][2].item() == 1


def test_remainders() -> None:
    same(first(ow.remainder, [5.0, -5.0, 5.0, -5.0], [INF, INF, -INF, -INF])[1], [0, 1, 1, 0])
    same(first(ow.fmod, [5.0, -5.0, 7.0], [INF, INF, 2.0])[1], [0, 0, -3])


def test_infinite_limits() -> None:
    by_x, by_min = first(lambda x, low: ow.clamp(x, min=low), [5.0, -5.0, 1.0], [INF, -INF, 2.0])
    assert (by_x, by_min) == ([0, 1, 0], [1, 0, 1])
    by_x, by_max = first(lambda x, high: ow.clamp(x, max=high), [5.0, -5.0, 1.0], [-INF, INF, 2.0])
    assert (by_x, by_max) == ([0, 1, 1], [1, 0, 0])


@pytest.mark.parametrize(
    ("function", "points", "expected"),
    [
        (F.hardswish, [3.0, -3.0, 0.0], [1.0, 0.0, 0.5]),
        (ow.logit, [2.0, -1.0, 0.5, 1.0], [NAN, NAN, 4.0, INF]),
        (lambda x: ow.logit(x, 0.1), [2.0, -1.0, 0.5], [0.0, 0.0, 4.0]),
        (F.hardtanh, [NAN, 1.0, -1.0, 0.5], [1.0, 0.0, 0.0, 1.0]),
        (F.relu6, [NAN, 0.0, 6.0, 3.0], [1.0, 0.0, 0.0, 1.0]),
        (F.softshrink, [NAN, 0.5, 1.0], [1.0, 0.0, 1.0]),
        (F.elu, [NAN, 0.0, 1.0], [1.0, 1.0, 1.0]),
        (F.celu, [NAN, 0.0, 1.0], [1.0, 1.0, 1.0]),
        (lambda x: F.elu(x, 2.0), [NAN, 0.0, -0.0], [1.0, 2.0, 2.0]),
        (lambda x: F.gelu(x, approximate="tanh"), [1e22, -1e22, NAN], [1.0, 0.0, NAN]),
        (F.mish, [1e38, -1e38, 30.0], [1.0, 0.0, 1.0]),
        (ow.asinh, [1e30, -1e30], [1e-30, 1e-30]),
        (ow.acosh, [1e30], [1e-30]),
        (lambda x: x**-2, [1e-11, 3e38], [-2e33, 0.0]),
    ],
)
def test_one_input(function: Callable[[Any], Any], points: list[float], expected: list[float]) -> None:
    same(first(function, points)[0], expected)


@pytest.mark.parametrize("function", [ow.maximum, ow.minimum])
def test_the_larger_or_smaller_of_nan(function: Callable[..., Any]) -> None:
    assert first(function, [NAN, 1.0, NAN, 2.0], [1.0, NAN, NAN, 2.0]) == [[1.0, 1.0, 1.0, 0.5]] * 2


@pytest.mark.parametrize(
    ("function", "points", "expected"),
    [
        (F.elu, [100.0, 1000.0, -1.0, 0.0], [0.0, 0.0, 0.36787944, 0.0]),
        (F.selu, [100.0, -1.0, 0.0], [0.0, 1.7580993 * 0.36787944, 0.0]),
        (F.celu, [100.0, -1.0, 0.0], [0.0, 0.36787944, 0.0]),
        (F.mish, [20.0, 100.0, 0.0, -20.0], [0.0, 0.0, 0.64, -3.710076e-08]),
        (lambda x: F.gelu(x, approximate="tanh"), [1e15, 0.0], [0.0, 0.79788456]),
        (ow.special.log_ndtr, [15.0, 1e3, 0.0], [0.0, 0.0, -0.63661977]),
        (lambda x: x ** ow.tensor([0.0, 1.0, 2.0]), [0.0, 0.0, 0.0], [0.0, 0.0, 2.0]),
        (lambda x: x**0, [0.0, 1.0], [0.0, 0.0]),
        (lambda x: x.pow(3), [0.0, 2.0], [0.0, 12.0]),
        (lambda x: 1 / x, [1e-10, -2.0], [2e30, -0.25]),
        (lambda x: ow.logaddexp(x, ow.zeros(3)), [200.0, -200.0, 0.0], [0.0, 0.0, 0.25]),
        (lambda x: ow.fmod(ow.ones(2), x), [1e-30, 0.3], [0.0, 0.0]),
    ],
)
def test_second_derivatives(function: Callable[[Any], Any], points: list[float], expected: list[float]) -> None:
    assert second(function, points) == pytest.approx(expected, rel=1e-4, abs=1e-9)


def test_the_second_derivative_of_log_ndtr_far_below_zero() -> None:
    x = ow.tensor([-1e6, -1e3, -30.0], dtype=ow.float64, requires_grad=True)
    (slope,) = ow.autograd.grad(ow.special.log_ndtr(x).sum(), x, create_graph=True)
    # -1 + 1 / x**2 - 6 / x**4 + 50 / x**6 - 518 / x**8
    expected = [-0.999999999999, -0.999999000006, -0.99889622848801]
    assert ow.autograd.grad(slope.sum(), x)[0].tolist() == pytest.approx(expected, rel=1e-13)


def test_distances() -> None:
    rows, others = [[1.0, NAN], [1.0, 2.0]], [[1.0, 2.0], [3.0, 4.0]]
    for p, distances, gradient in (
        (0.0, [NAN, NAN, 0.0, 2.0], [0.0, 0.0, 0.0, 0.0]),
        (1.0, [NAN, NAN, 0.0, 4.0], [-1.0, NAN, -1.0, -1.0]),
        (INF, [NAN, NAN, 0.0, 2.0], [0.0, NAN, -0.5, -0.5]),
    ):
        x = ow.tensor(rows, requires_grad=True)
        result = ow.cdist(x, ow.tensor(others), p=p)
        same(result.flatten().tolist(), distances)
        same(ow.autograd.grad(result.sum(), x)[0].flatten().tolist(), gradient)
    x = ow.tensor([[0.0, 1.0], [0.0, 3.0], [NAN, 1.0]], requires_grad=True)
    result = F.pdist(x, p=0)
    same(result.tolist(), [1.0, NAN, NAN])
    assert ow.autograd.grad(result.sum(), x)[0].tolist() == [[0.0, 0.0]] * 3
