"""Chains of halves are rounded after each operator, for all numbers of both formats."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import opweave
import pytest
from compiled_calls import check

HALVES = (opweave.float16, opweave.bfloat16)


def gelu(x: Any) -> Any:
    return 0.5 * x * (1 + opweave.tanh(0.7978845608 * (x + 0.044715 * x * x * x)))


def chosen(x: Any) -> Any:
    large = x > 0.7
    return opweave.where(large & (x < 3), x.exp(), -x).clamp(min=-2), large


def in_place(x: Any) -> Any:
    y = x * 3
    y += 0.1
    return y.mul_(x).sigmoid(), (x + 1) / (x - 1)


def parameters(x: Any) -> Any:
    return opweave.nn.functional.leaky_relu(opweave.add(x, x, alpha=0.3), 0.1) ** 2.5 * x.sqrt() - x.abs().log()


def beside_others(x: Any) -> Any:
    wide = x * 2 + 1
    return wide.float() * 3 + 1, wide * opweave.ones(()) - 1, (wide.isnan() | (x != x)).logical_not()


FUNCTIONS: tuple[Callable[[Any], Any], ...] = (gelu, chosen, in_place, parameters, beside_others)


def _all_numbers(dtype: Any) -> Any:
    """Each number of the format but for NaN, whose bits beyond the first may differ."""
    numbers = opweave.arange(-32768, 32768, dtype=opweave.int16).view(dtype)
    return opweave.where(numbers == numbers, numbers, 1).reshape(256, 256)


@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda each: each.__name__)
def test_bits(function: Callable[[Any], Any], dtype: Any) -> None:
    numbers = _all_numbers(dtype)
    for x in (numbers, numbers[::3, :7], numbers.t()[1:]):
        check(function, x)


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_each_pair_rounds(dtype: Any) -> None:
    """Sums and products of numbers near the ends of the format, whose results lie between two of it."""
    x = _all_numbers(dtype).flatten()[::37]
    check(lambda x, y: (x + y) * y - x * (y * y), x[:, None], x[::17])


def test_formats_are_not_mixed() -> None:
    x = opweave.linspace(-2, 2, 90).reshape(9, 10)
    check(lambda x, y, z: ((x + y) * z, (x * y).exp() + x, y * 2 * y), x.half(), x.bfloat16(), x)
    check(lambda x, y: (x * y + 1) * opweave.tensor(0.3), x.half(), x[0].half())


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_gradients(dtype: Any) -> None:
    def gradient(function: Any) -> Any:
        x = opweave.linspace(-2, 2, 90).to(dtype).requires_grad_()
        function(x).backward(opweave.linspace(1, 2, 90).to(dtype))
        return x.grad

    compiled = opweave.compile(gelu)
    for _ in range(2):
        assert opweave.allclose(gradient(compiled), gradient(gelu), 2e-2, 2e-2)
