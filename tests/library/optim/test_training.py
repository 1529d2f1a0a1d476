"""Optimizers with gradients that are computed: fits, closures, and parameters that must be leaves."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import opweave
import pytest
from harness import oracle
from harness.oracle import Like

from .side_by_side import tensor

OPTIMIZERS: dict[str, dict[str, Any]] = {
    "SGD": {"lr": 0.05, "momentum": 0.9, "nesterov": True},
    "Adam": {"lr": 0.1},
    "AdamW": {"lr": 0.1, "weight_decay": 1e-4},
    "RMSprop": {"lr": 0.02, "centered": True},
    "Adagrad": {"lr": 0.5},
    "LBFGS": {"line_search_fn": "strong_wolfe", "max_iter": 4},
}
POINTS = np.linspace(-1, 1, 20)


class Line:
    """A line through points, whose slope is 2 and whose height at 0 is -0.5."""

    def __init__(self, library: ModuleType, name: str) -> None:
        self.slope, self.height = (tensor(library, value, "float64").requires_grad_() for value in (0.3, 0.7))
        self.x, self.y = tensor(library, POINTS, "float64"), tensor(library, 2 * POINTS - 0.5, "float64")
        self.optimizer = getattr(library.optim, name)([self.slope, self.height], **OPTIMIZERS[name])

    def closure(self) -> Any:
        self.optimizer.zero_grad()
        loss = ((self.slope * self.x + self.height - self.y) ** 2).mean()
        loss.backward()
        return loss

    def fit(self, steps: int) -> list[float]:
        return [self.optimizer.step(self.closure).item() for _ in range(steps)]


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_fits(name: str) -> None:
    line = Line(opweave, name)
    losses = line.fit(300)
    assert losses[0] > 0.5
    assert losses[-1] < 1e-4
    assert (line.slope.item(), line.height.item()) == (pytest.approx(2, abs=0.02), pytest.approx(-0.5, abs=0.02))


@pytest.mark.oracle
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_fits_as_torch(name: str) -> None:
    steps = 3 if name == "LBFGS" else 100  # before it arrives, where only rounding errors are left

    def fit(library: Any) -> Any:
        line = Line(library, name)
        return line.fit(steps), line.slope, line.height

    oracle.check(fit, "", Like(rtol=1e-9))


def test_steps_have_no_history() -> None:
    line = Line(opweave, "Adam")
    line.fit(2)
    for parameter in (line.slope, line.height):
        assert parameter.is_leaf
        assert parameter.requires_grad
        assert parameter.grad_fn is None
        state = line.optimizer.state[parameter].values()
        assert not any(each.requires_grad for each in state if isinstance(each, opweave.Tensor))


def test_closure_records_history_even_where_none_is_recorded() -> None:
    line = Line(opweave, "SGD")
    with opweave.no_grad():
        line.optimizer.step(line.closure)
        assert not opweave.is_grad_enabled()
    assert line.slope.grad is not None


def test_parameters_are_leaves() -> None:
    leaf = opweave.ones(2).requires_grad_()
    with pytest.raises(ValueError, match="can't optimize a non-leaf Tensor"):
        opweave.optim.SGD([leaf * 2])
    kept = leaf * 2
    kept.retain_grad()
    opweave.optim.SGD([kept])
    opweave.optim.SGD([leaf[0].detach()])


def test_gradients_with_history_are_zeroed_without_it() -> None:
    leaf = opweave.ones(2, dtype=opweave.float64).requires_grad_()
    (leaf**3).sum().backward(create_graph=True)
    gradient = leaf.grad
    assert gradient.requires_grad
    opweave.optim.SGD([leaf]).zero_grad(set_to_none=False)
    assert leaf.grad is gradient
    assert not gradient.requires_grad
    assert gradient.tolist() == [0.0, 0.0]


def test_momentum_does_not_keep_a_history() -> None:
    leaf = opweave.ones(2, dtype=opweave.float64).requires_grad_()
    optimizer = opweave.optim.SGD([leaf], momentum=0.9)
    (leaf**3).sum().backward(create_graph=True)
    optimizer.step()
    assert not optimizer.state[leaf]["momentum_buffer"].requires_grad
