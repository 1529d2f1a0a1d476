"""Steps of training within compiled functions give the parameters, gradients and states of the functions."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import opweave
import pytest
from compiled_calls import facts
from opweave import nn, optim

X, Y = opweave.linspace(-1, 2, 96).reshape(12, 8), opweave.linspace(1, -1, 36).reshape(12, 3)

OPTIMIZERS: list[Callable[[Any], Any]] = [
    lambda params: optim.SGD(params, lr=0.1),
    lambda params: optim.SGD(params, lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.01),
    lambda params: optim.SGD(params, lr=0.1, momentum=0.9, dampening=0.1, maximize=True),
    lambda params: optim.Adam(params, lr=0.01, amsgrad=True),
    lambda params: optim.AdamW(params, lr=0.01),
    lambda params: optim.RMSprop(params, lr=0.01, momentum=0.5, centered=True),
]


class Training:
    """A model with an optimizer, and what one step of it gives."""

    def __init__(self, make: Callable[[Any], Any]) -> None:
        opweave.manual_seed(0)
        self.model = nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.LayerNorm(16), nn.Linear(16, 3))
        self.optimizer = make(self.model.parameters())

    def gradients(self, x: Any, y: Any) -> Any:
        self.optimizer.zero_grad()
        loss = ((self.model(x) - y) ** 2).mean()
        loss.backward()
        return loss

    def step(self, x: Any, y: Any) -> Any:
        loss = self.gradients(x, y)
        self.optimizer.step()
        return loss


def _state(training: Training) -> Any:
    params = list(training.model.parameters())
    return facts([[each.grad for each in params], params, training.optimizer.state_dict()["state"]])


def _compare(make: Callable[[Any], Any], compile_step: Callable[[Training], Callable[..., Any]]) -> None:
    expected, given = Training(make), Training(make)
    step = compile_step(given)
    for number in range(8):
        if number == 5:
            for each in (expected, given):
                each.optimizer.param_groups[0]["lr"] *= 0.5
        if number == 6:
            for each in (expected, given):
                each.model.eval()
        count = 12 - number % 3
        assert facts(step(X[:count], Y[:count])) == facts(expected.step(X[:count], Y[:count]))
        assert _state(given) == _state(expected)


@pytest.mark.parametrize("place", range(len(OPTIMIZERS)))
def test_whole_step(place: int) -> None:
    _compare(OPTIMIZERS[place], lambda training: opweave.compile(training.step))


@pytest.mark.parametrize("place", range(len(OPTIMIZERS)))
def test_step_of_the_optimizer(place: int) -> None:
    def compiled(training: Training) -> Callable[..., Any]:
        update = opweave.compile(training.optimizer.step, fullgraph=True)

        def step(x: Any, y: Any) -> Any:
            loss = training.gradients(x, y)
            assert update() is None
            return loss

        return step

    _compare(OPTIMIZERS[place], compiled)


def test_modules_that_are_called_are_compiled() -> None:
    training = Training(OPTIMIZERS[3])
    step: Any = opweave.compile(training.step)
    for _ in range(4):
        step(X, Y)
    text = opweave.compiler.explain(step)
    assert "zero_grad() of opweave.optim.optimizer runs, which changes parameters, their gradients or the state" in text
    assert "calls a module that is compiled: Sequential, 1 program" in text
    assert training.model._compiled_call_impl is None
    assert [*step.compiled.modules.compiled] == [training.model]
    opweave.compiler.reset()
    assert not step.compiled.modules.compiled
    with pytest.raises(RuntimeError, match="changes parameters"):
        opweave.compile(training.step, fullgraph=True)(X, Y)


def test_modules_with_effects() -> None:
    seen = []
    layer = nn.Linear(8, 3)
    layer.register_forward_hook(lambda module, args, output: seen.append(output.shape))

    def function(x: Any) -> list[Any]:
        return [layer(x).tolist(), nn.Linear(8, 2, device="cpu").weight.shape, nn.ReLU()(x).tolist()]

    compiled = opweave.compile(function)
    for number in range(1, 30):
        opweave.manual_seed(0)
        assert compiled(X)[0] == (X @ layer.weight.t() + layer.bias).tolist()
        assert len(seen) == number


def test_an_error_in_a_module() -> None:
    layer = nn.Linear(8, 3)
    compiled: Any = opweave.compile(lambda x: [layer(x).tolist()])
    for _ in range(4):
        compiled(X)
        with pytest.raises(RuntimeError):
            compiled(Y)
    assert facts(layer(X)) == facts(nn.functional.linear(X, layer.weight, layer.bias))


def test_threads() -> None:
    training = Training(OPTIMIZERS[0])
    expected = training.model(X).tolist()
    compiled: Any = opweave.compile(lambda x: training.model(x).tolist())
    failures: list[int] = []

    def call() -> None:
        for number in range(8):
            if compiled(X) != expected:
                failures.append(number)

    threads = [threading.Thread(target=call) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert not failures
