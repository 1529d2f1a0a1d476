"""Derivatives of the third order and above, where kernels give the first ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import opweave as ow
import pytest
from opweave import func, nn

Function = Callable[[Any], Any]

_GENERATOR = ow.Generator().manual_seed(7)


def _numbers(*sizes: int) -> Any:
    return ow.randn(*sizes, dtype=ow.float64, generator=_GENERATOR)


X, ALONG, WEIGHT, BIAS = _numbers(3, 5), _numbers(3, 5), _numbers(5), _numbers(5)
TARGET = ow.tensor([0, 4, -100])

ROWS: dict[str, Function] = {
    "attention": lambda x: nn.functional.scaled_dot_product_attention(x[None], x[None], x[None]).pow(3).sum(),
    "batch_norm": lambda x: nn.functional.batch_norm(x, None, None, WEIGHT, BIAS, training=True).pow(3).sum(),
    "cross_entropy": lambda x: nn.functional.cross_entropy(x, TARGET).pow(2),
    "group_norm": lambda x: nn.functional.group_norm(x.view(1, 3, 5), 3, WEIGHT[:3], BIAS[:3]).pow(3).sum(),
    "layer_norm": lambda x: nn.functional.layer_norm(x, (5,), WEIGHT, BIAS).pow(3).sum(),
    "log_softmax": lambda x: nn.functional.log_softmax(x, 0).pow(3).sum(),
    "rms_norm": lambda x: nn.functional.rms_norm(x, (5,), WEIGHT).pow(3).sum(),
    "softmax": lambda x: nn.functional.softmax(x, -1).square().sum(),
}


def _directional(function: Function, x: Any, order: int) -> Any:
    """Return the derivative of an order along `ALONG`, with its graph."""
    value = function(x)
    for _ in range(order):
        (gradient,) = ow.autograd.grad(value, x, create_graph=True)
        value = (gradient * ALONG).sum()
    return value


@pytest.mark.parametrize("function", ROWS.values(), ids=ROWS)
def test_an_order_is_the_difference_of_the_one_below(function: Function) -> None:
    step = 1e-5
    for order in (3, 4, 5):
        found = _directional(function, X.clone().requires_grad_(), order)
        above, below = (
            _directional(function, (X + sign * step * ALONG).requires_grad_(), order - 1) for sign in (1, -1)
        )
        expected = (above - below) / (2 * step)
        assert abs(float(found - expected)) <= 1e-5 * max(1, abs(float(expected))), order


@pytest.mark.filterwarnings("ignore:There is a performance drop")
@pytest.mark.parametrize("function", ROWS.values(), ids=ROWS)
def test_forward_derivatives_of_gradients(function: Function) -> None:
    x = X.clone().requires_grad_()
    (gradient,) = ow.autograd.grad(function(x), x, create_graph=True)
    (expected,) = ow.autograd.grad((gradient * ALONG).sum(), x)
    assert ow.allclose(func.jvp(func.grad(function), (X,), (ALONG,))[1], expected)
    by_both = func.jacfwd(func.jacfwd(function))(X)
    assert ow.allclose(ow.einsum("abcd,cd->ab", by_both, ALONG), expected)


@pytest.mark.filterwarnings("ignore:There is a performance drop")
@pytest.mark.parametrize("normalize", [nn.functional.layer_norm, nn.functional.rms_norm])
def test_third_derivatives_of_samples(normalize: Callable[..., Any]) -> None:
    def third(row: Any) -> Any:
        first = func.grad(lambda x: normalize(x, (5,), WEIGHT).pow(3).sum())
        second = func.grad(lambda x: (first(x) * BIAS).sum())
        return func.grad(lambda x: (second(x) * WEIGHT).sum())(row)

    assert ow.allclose(ow.vmap(third)(X), ow.stack([third(row) for row in X]))


def test_gradients_of_gradients_where_one_saved_tensor_is_made_of_another() -> None:
    lstm = nn.LSTM(2, 3, dtype=ow.float64)
    x = _numbers(4, 1, 2)

    def gradient(weight: Any) -> Any:
        # The state depends on the weight, which the steps use as well.
        state = weight[:3].sum(1).view(1, 1, 3)
        weights = dict(lstm.named_parameters()) | {"weight_hh_l0": weight}
        out, _ = func.functional_call(lstm, weights, (x, (state, state)))
        (found,) = ow.autograd.grad(out.square().sum(), weight, create_graph=True)
        return found

    weight = lstm.weight_hh_l0.detach().clone().requires_grad_()
    assert ow.autograd.gradcheck(gradient, (weight,))
