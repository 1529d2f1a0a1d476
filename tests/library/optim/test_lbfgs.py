"""L-BFGS: the same way as torch's over 100 steps, minima of known functions, and steps with the Wolfe conditions."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from types import ModuleType
from typing import Any

import numpy as np
import opweave
import pytest
from harness import oracle
from harness.oracle import Like
from opweave.optim.line_search import Trial, strong_wolfe

from .side_by_side import converted, plain, tensor

Values = np.ndarray[Any, np.dtype[np.float64]]


def rosenbrock(x: Values) -> tuple[float, Values]:
    """The sum over neighbours, and its gradient."""
    a, b = x[:-1], x[1:]
    gradient = np.zeros_like(x)
    gradient[:-1] += -400 * a * (b - a**2) - 2 * (1 - a)
    gradient[1:] += 200 * (b - a**2)
    return float((100 * (b - a**2) ** 2 + (1 - a) ** 2).sum()), gradient


def bowl(x: Values) -> tuple[float, Values]:
    """A quadratic form with eigenvalues from 1 to 100."""
    scale = np.logspace(0, 2, len(x))
    return float((scale * (x - 1) ** 2).sum() / 2), scale * (x - 1)


class Problem:
    """A function of two parameters, which together are its vector."""

    def __init__(self, library: ModuleType, function: Callable[[Values], tuple[float, Values]], dtype: str) -> None:
        self.library, self.function, self.dtype = library, function, dtype
        start = np.array([-1.2, 1.0, -0.5, 0.8, 1.5])
        parts = start[:4].reshape(2, 2), start[4:]
        self.parameters = [tensor(library, part, dtype).requires_grad_() for part in parts]

    def vector(self) -> Values:
        return np.concatenate([each.detach().numpy().astype(float).ravel() for each in self.parameters])

    def closure(self) -> float:
        loss, gradient = self.function(self.vector())
        parts = gradient[:4].reshape(2, 2), gradient[4:]
        for parameter, part in zip(self.parameters, parts, strict=True):
            parameter.grad = tensor(self.library, part, self.dtype)
        return loss


CONFIGURATIONS: list[dict[str, Any]] = [
    {"lr": 0.1},
    {"lr": 0.5, "max_iter": 4, "history_size": 2},
    {"line_search_fn": "strong_wolfe"},
    {"line_search_fn": "strong_wolfe", "max_iter": 3, "max_eval": 5, "history_size": 3, "lr": 0.7},
    {"line_search_fn": "strong_wolfe", "tolerance_grad": 1e-2, "tolerance_change": 1e-3},
    {"line_search_fn": "strong_wolfe", "max_eval": 1},
]


# Rounding errors grow on the way through the valley, and shrink near the minimum.
LIKE = Like(rtol=1e-6, atol=1e-9)


@pytest.mark.oracle
@pytest.mark.parametrize("function", [rosenbrock, bowl])
@pytest.mark.parametrize("options", CONFIGURATIONS, ids=str)
def test_as_torch(options: dict[str, Any], function: Any) -> None:
    def steps(library: Any) -> Any:
        problem = Problem(library, function, "float64")
        optimizer = library.optim.LBFGS(problem.parameters, **options)
        path = [(float(optimizer.step(problem.closure)), problem.vector().tolist()) for _ in range(100)]
        state = optimizer.state_dict()["state"][0]
        return path, sorted(state), state["n_iter"], state["func_evals"]

    oracle.check(steps, "", LIKE)


@pytest.mark.oracle
@pytest.mark.parametrize("options", CONFIGURATIONS[1:4], ids=str)
def test_states_are_taken_over(options: dict[str, Any]) -> None:
    """Three steps, and three more of an optimizer that takes over the state, which has torch's form."""

    def steps(library: Any) -> Any:
        problem, continued = (Problem(library, rosenbrock, "float64") for _ in range(2))
        optimizer = library.optim.LBFGS(problem.parameters, **options)
        for _ in range(3):
            optimizer.step(problem.closure)
        continued.parameters = [converted(plain(each), library).requires_grad_() for each in problem.parameters]
        other = library.optim.LBFGS(continued.parameters)
        saved = plain(optimizer.state_dict())
        other.load_state_dict(converted(saved, library))
        for _ in range(3):
            other.step(continued.closure)
        return sorted(saved["state"][0]), continued.vector().tolist()

    oracle.check(steps, "", replace(LIKE, grad=False, strides=False))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("function", [rosenbrock, bowl])
def test_minimum(function: Any, dtype: str) -> None:
    problem = Problem(opweave, function, dtype)
    optimizer = opweave.optim.LBFGS(
        problem.parameters, line_search_fn="strong_wolfe", max_iter=100, tolerance_change=0.0, tolerance_grad=1e-6
    )
    first = optimizer.step(problem.closure)
    assert first == pytest.approx(function(np.array([-1.2, 1.0, -0.5, 0.8, 1.5]))[0], rel=1e-6)
    np.testing.assert_allclose(problem.vector(), 1.0, atol=1e-3 if dtype == "float32" else 1e-6)


def test_options() -> None:
    problem = Problem(opweave, bowl, "float64")
    evaluations = []

    def closure() -> float:
        evaluations.append(1)
        return problem.closure()

    optimizer = opweave.optim.LBFGS(problem.parameters, max_iter=10, max_eval=4, lr=0.01)
    optimizer.step(closure)
    assert len(evaluations) == 4
    with pytest.raises(RuntimeError, match="only 'strong_wolfe' is supported"):
        opweave.optim.LBFGS(problem.parameters, line_search_fn="armijo").step(closure)


def test_parameters_without_gradient_count_as_constant() -> None:
    constant = opweave.tensor([5.0]).requires_grad_()
    problem = Problem(opweave, bowl, "float32")
    opweave.optim.LBFGS([constant, *problem.parameters], line_search_fn="strong_wolfe").step(problem.closure)
    assert constant.item() == 5.0
    np.testing.assert_allclose(problem.vector(), 1.0, atol=1e-3)


# ---- the line search alone ----------------------------------------------------------------------------------

LINES: dict[str, tuple[Callable[[float], float], Callable[[float], float]]] = {
    "parabola": (lambda t: (t - 3) ** 2, lambda t: 2 * (t - 3)),
    "far parabola": (lambda t: (t / 500 - 1) ** 2, lambda t: (t / 500 - 1) / 250),
    "near parabola": (lambda t: (200 * t - 1) ** 2, lambda t: 400 * (200 * t - 1)),
    "quartic": (lambda t: (t - 2) ** 4 - t, lambda t: 4 * (t - 2) ** 3 - 1),
    "waves": (lambda t: t * t / 20 - math.sin(3 * t), lambda t: t / 10 - 3 * math.cos(3 * t)),
    "wall": (lambda t: -t if t < 1 else 50 * (t - 1) - 1, lambda t: -1.0 if t < 1 else 50.0),
}


@pytest.mark.parametrize("first", [1e-3, 0.3, 1.0, 20.0])
@pytest.mark.parametrize("line", LINES)
def test_wolfe_conditions(line: str, first: float) -> None:
    function, derivative = LINES[line]
    tried: list[float] = []

    def evaluate(step: float) -> Trial:
        tried.append(step)
        return Trial(step, function(step), opweave.tensor([derivative(step)]), derivative(step))

    start = evaluate(0.0)
    tried.clear()
    result, trials = strong_wolfe(evaluate, start, first, 1.0, 1e-9, 40)
    assert trials == len(tried)
    assert result.step in tried
    assert result.loss <= start.loss + 1e-4 * result.step * start.slope
    if line != "wall":  # no derivative there is small
        assert abs(result.slope) <= 0.9 * abs(start.slope)


def test_search_ends() -> None:
    """No step is better: after the last one allowed the start is."""
    start = Trial(0.0, 0.0, opweave.zeros(1), -1.0)
    for most in (0, 1, 7):
        result, trials = strong_wolfe(lambda t: Trial(t, 1 + t, opweave.zeros(1), 1.0), start, 1.0, 1.0, 1e-9, most)
        assert result.step == 0.0
        assert 1 <= trials <= most + 1
