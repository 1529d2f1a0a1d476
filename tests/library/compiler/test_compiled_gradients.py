"""Gradients of compiled functions are those of the functions, bit for bit where a tensor has few uses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import opweave
import pytest
from compiled_calls import facts
from opweave import nn
from opweave._base.pytree import flatten
from test_compiled_programs import FUNCTIONS, X, Y, gelu


def _tracked(value: Any) -> Any:
    leaves, structure = flatten(value)
    return structure.unflatten(
        each.clone().requires_grad_(each.is_floating_point()) if isinstance(each, opweave.Tensor) else each
        for each in leaves
    )


def _gradients(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """The results, and the gradients of a weighted sum of them by the arguments."""
    given = _tracked(args)
    results = [each for each in flatten(function(*given, **kwargs))[0] if isinstance(each, opweave.Tensor)]
    total = sum(
        (each * opweave.arange(each.numel()).reshape(each.shape)).double().sum()
        for each in results
        if each.requires_grad
    )
    if isinstance(total, opweave.Tensor):
        total.backward()
    grads = [each.grad for each in flatten(given)[0] if isinstance(each, opweave.Tensor)]
    return [each.detach() for each in results], [each.requires_grad for each in results], grads


@pytest.mark.parametrize("place", range(len(FUNCTIONS)))
def test_bits(place: int) -> None:
    function, args = FUNCTIONS[place]
    kwargs = {"scale": 1.5} if isinstance(args[0], dict) else {}
    compiled = opweave.compile(function)
    want = _gradients(function, args, kwargs)
    for _ in range(3):
        results, tracked, grads = _gradients(compiled, args, kwargs)
        assert facts((results, tracked)) == facts(want[:2])
        for grad, expected in zip(grads, want[2], strict=True):
            assert (grad is None) == (expected is None)
            assert grad is None or opweave.allclose(grad, expected, 1e-5, 1e-6, equal_nan=True)


def test_one_node() -> None:
    compiled: Any = opweave.compile(gelu)
    for _ in range(2):
        x = X.clone().requires_grad_()
        y = compiled(x)
        y.sum().backward()
    assert y.grad_fn.name() == "CompiledBackward"
    want = X.clone().requires_grad_()
    gelu(want).sum().backward()
    assert want.grad.equal(x.grad)
    (step,) = compiled.compiled.entries[0].program.steps
    assert len(step.backward.steps) == 1


def test_gradients_of_gradients() -> None:
    def second(function: Callable[..., Any]) -> Any:
        x, y = X.clone().requires_grad_(), Y.clone().requires_grad_()
        (first,) = opweave.autograd.grad(function(x, y).sum(), x, create_graph=True)
        return opweave.autograd.grad((first * first).sum(), (x, y))

    def function(x: Any, y: Any) -> Any:
        return (x * y).tanh() * opweave.exp(-x * x) + y

    compiled = opweave.compile(function)
    for _ in range(3):
        assert all(a.allclose(b) for a, b in zip(second(compiled), second(function), strict=True))


def test_some_of_the_results() -> None:
    compiled: Any = opweave.compile(lambda x: (x.sqrt() * 2, x.exp() + 1, x > 0))
    for _ in range(3):
        x = opweave.zeros(3, requires_grad=True)
        _, exponential, positive = compiled(x)
        exponential.sum().backward()
        assert x.grad.tolist() == [1.0, 1.0, 1.0]
        assert not positive.requires_grad


def test_inputs_that_are_overwritten() -> None:
    added: Any = opweave.compile(lambda x: (x + 1) * 2 - 3)
    squared: Any = opweave.compile(lambda x: x * x + 1)
    for _ in range(2):
        leaf = X.clone().requires_grad_()
        x = leaf * 1
        y = added(x)
        x.mul_(2)
        y.sum().backward()
        assert leaf.grad.eq(2).all()
        x = leaf * 1
        y = squared(x)
        x.mul_(2)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.sum().backward()


def test_training() -> None:
    def losses(compiles: bool) -> list[float]:
        opweave.manual_seed(0)
        model = nn.Sequential(
            nn.Linear(30, 16), nn.GELU(), nn.LayerNorm(16), nn.Dropout(0.1), nn.Linear(16, 1), nn.Tanh()
        )
        optimizer = opweave.optim.AdamW(model.parameters(), lr=0.01)
        if compiles:
            model.compile(fullgraph=True)
        found = []
        for _ in range(6):
            optimizer.zero_grad()
            loss = (model(X) - Y[:20, None]).pow(2).mean()
            loss.backward()
            optimizer.step()
            found.append(loss.item())
        return found

    assert losses(True) == pytest.approx(losses(False), rel=1e-5)
