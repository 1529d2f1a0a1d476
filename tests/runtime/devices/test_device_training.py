"""Gradients, modules and optimizers on a registered device: the numbers of the CPU."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import devices.mirror
import opweave as ow
import pytest

assert devices.mirror


def test_gradients() -> None:
    x = ow.tensor([1.0, 2.0], device="mirror", requires_grad=True)
    (x[:1].exp() * ow.stack([x, x])).sum().backward()
    assert x.grad is not None
    assert x.grad.device == x.device
    assert x.grad.tolist() == pytest.approx([2 * 2.718282 * 4, 2 * 2.718282])


def test_saved_results_and_second_gradients() -> None:
    x = ow.tensor([0.5, -0.5], device="mirror", requires_grad=True)
    (first,) = ow.autograd.grad(x.tanh().sum(), x, create_graph=True)
    (second,) = ow.autograd.grad(first.sum(), x)
    want = ow.tensor([0.5, -0.5])
    assert second.tolist() == pytest.approx((-2 * want.tanh() * (1 - want.tanh() ** 2)).tolist())


def test_gradients_through_moves() -> None:
    x = ow.tensor([1.0, 2.0], requires_grad=True)
    (x.to("mirror") * ow.tensor([3.0, 4.0], device="mirror")).to("mirror:1").sum().cpu().backward()
    assert x.grad is not None
    assert (x.grad.device, x.grad.tolist()) == (ow.device("cpu"), [3.0, 4.0])


def test_gradients_of_another_device_are_refused() -> None:
    class Elsewhere(ow.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: ow.Tensor) -> ow.Tensor:
            return x * 2

        @staticmethod
        def backward(ctx: Any, grad: ow.Tensor) -> ow.Tensor:
            return grad.cpu()

    x = ow.ones(2, device="mirror", requires_grad=True)
    with pytest.raises(RuntimeError, match="expected device mirror:0 but got cpu"):
        Elsewhere.apply(x).sum().backward()


def network() -> ow.nn.Module:
    ow.manual_seed(0)
    return ow.nn.Sequential(
        ow.nn.Conv2d(1, 2, 3), ow.nn.BatchNorm2d(2), ow.nn.ReLU(), ow.nn.Flatten(), ow.nn.Linear(8, 3)
    )


OPTIMIZERS: list[Callable[[Any], ow.optim.Optimizer]] = [
    lambda parameters: ow.optim.SGD(parameters, lr=0.1, momentum=0.9),
    lambda parameters: ow.optim.AdamW(parameters, lr=0.1),
    lambda parameters: ow.optim.RMSprop(parameters, lr=0.01, centered=True),
    lambda parameters: ow.optim.LBFGS(parameters, lr=0.1, max_iter=2),
]


def trained(model: ow.nn.Module, make: Callable[[Any], ow.optim.Optimizer], device: str) -> list[Any]:
    """The losses and the weights of three steps."""
    optimizer = make(model.parameters())
    images, targets = ow.arange(32.0).view(2, 1, 4, 4).sin().to(device), ow.tensor([0, 2], device=device)
    losses = []

    def loss() -> ow.Tensor:
        optimizer.zero_grad()
        value = ow.nn.functional.cross_entropy(model(images), targets)
        value.backward()
        return value

    for _ in range(3):
        losses.append(float(optimizer.step(loss)))
    return [losses, *[each.tolist() for each in model.state_dict().values()]]


@pytest.mark.parametrize("make", OPTIMIZERS)
def test_training(make: Callable[[Any], ow.optim.Optimizer]) -> None:
    model = network()
    there = copy.deepcopy(model).to("mirror")
    assert {each.device for each in there.state_dict().values()} == {ow.device("mirror:0")}
    assert all(isinstance(each, ow.nn.Parameter) for each in there.parameters())
    assert trained(there, make, "mirror") == trained(model, make, "cpu")


def test_state_dicts_go_between_devices() -> None:
    model, there = network(), network().to("mirror:1")
    for each in there.parameters():
        ow.nn.init.constant_(each, 0.5)
    model.load_state_dict(there.state_dict())
    assert {str(each.device) for each in model.state_dict().values()} == {"cpu"}
    assert model.state_dict()["4.bias"].tolist() == [0.5] * 3
    there.load_state_dict(network().state_dict(), assign=True)
    assert {str(each.device) for each in there.state_dict().values()} == {"cpu"}
    assert next(network().to_empty(device="mirror").parameters()).device == ow.device("mirror:0")
