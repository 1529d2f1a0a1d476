"""Steps of complex parameters, whose real numbers are parameters each, and steps that are part of a graph."""

from __future__ import annotations

from typing import Any

import opweave as ow
import pytest

OPTIMIZERS: dict[str, tuple[str, dict[str, Any]]] = {
    "SGD": ("SGD", {}),
    "SGD with momentum": ("SGD", {"momentum": 0.9, "nesterov": True, "weight_decay": 0.1}),
    "Adam": ("Adam", {}),
    "Adam with AMSGrad": ("Adam", {"amsgrad": True, "weight_decay": 0.1, "maximize": True}),
    "AdamW": ("AdamW", {}),
    "Adagrad": ("Adagrad", {"initial_accumulator_value": 0.1}),
    "Adadelta": ("Adadelta", {"eps": 1e-2}),
    "NAdam": ("NAdam", {}),
    "RMSprop": ("RMSprop", {}),
    "RMSprop with momentum": ("RMSprop", {"momentum": 0.9, "centered": True, "weight_decay": 0.1}),
}


def loss_of(parts: Any) -> Any:
    return (parts * parts).sum() + (parts * ow.tensor([[1.0, -2.0], [0.5, 0.25]])).sum()


@pytest.mark.parametrize("case", OPTIMIZERS)
def test_complex_parameters_move_as_their_parts(case: str) -> None:
    name, options = OPTIMIZERS[case]
    w = ow.tensor([1 + 2j, -0.5 + 0.3j], requires_grad=True)
    parts = ow.view_as_real(w.detach()).clone().requires_grad_()
    optimizers = [getattr(ow.optim, name)([parameter], lr=0.1, **options) for parameter in (w, parts)]
    for _ in range(3):
        for optimizer, parameter in zip(optimizers, (w, parts), strict=True):
            optimizer.zero_grad()
            loss_of(ow.view_as_real(parameter) if parameter is w else parameter).backward()
            optimizer.step()
    assert ow.view_as_real(w.detach()).tolist() == parts.tolist()
    state = optimizers[0].state[w]
    assert all(value.dtype is ow.complex64 for key, value in state.items() if key not in ("step", "mu_product"))


def test_lbfgs_of_complex_parameters() -> None:
    w = ow.tensor([1 + 2j, -0.5 + 0.3j], requires_grad=True)
    optimizer = ow.optim.LBFGS([w], lr=0.5)

    def closure() -> Any:
        optimizer.zero_grad()
        loss = loss_of(ow.view_as_real(w))
        loss.backward()
        return loss

    for _ in range(10):
        optimizer.step(closure)
    expected = [-0.5 + 1j, -0.25 - 0.125j]
    assert [abs(result - right) < 1e-3 for result, right in zip(w.tolist(), expected, strict=True)] == [True, True]


@pytest.mark.parametrize("case", OPTIMIZERS)
def test_gradients_through_steps_are_those_of_differences(case: str) -> None:
    name, options = OPTIMIZERS[case]

    def trained(start: Any) -> Any:
        w = start.clone()
        optimizer = getattr(ow.optim, name)([w], lr=0.1, differentiable=True, **options)
        for factor in (0.5, 0.75, -0.25):
            w.grad = start * start * factor + factor
            optimizer.step()
        return (w * ow.tensor([1.0, 2.0], dtype=ow.float64)).sum()

    start = ow.tensor([1.0, -2.0], dtype=ow.float64, requires_grad=True)
    trained(start).backward()
    width = 1e-6
    for index in range(2):
        step = ow.zeros(2, dtype=ow.float64)
        step[index] = width
        with ow.no_grad():
            difference = (trained(start + step) - trained(start - step)).item() / (2 * width)
        assert start.grad[index].item() == pytest.approx(difference, rel=1e-4, abs=1e-6)


def test_gradient_by_the_product_of_momenta() -> None:
    def trained(product: Any) -> Any:
        w = ow.ones(2, dtype=ow.float64, requires_grad=True) * 1
        optimizer = ow.optim.NAdam([w], lr=0.1, differentiable=True)
        w.grad = ow.tensor([0.5, 2.0], dtype=ow.float64)
        optimizer.step()
        optimizer.state[w]["mu_product"] = product
        optimizer.step()
        return w

    assert ow.autograd.gradcheck(trained, ow.tensor(0.8, dtype=ow.float64, requires_grad=True))


def test_only_recorded_steps_take_computed_tensors() -> None:
    w = ow.ones(2, requires_grad=True) * 1
    with pytest.raises(ValueError, match="can't optimize a non-leaf Tensor"):
        ow.optim.SGD([w], lr=0.1)
    plain = ow.ones(2, requires_grad=True)
    optimizer = ow.optim.SGD([plain], lr=0.1)
    (plain * 2).sum().backward()
    optimizer.step()
    assert plain.is_leaf
    assert ow.is_grad_enabled()
