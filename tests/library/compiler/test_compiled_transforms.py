"""Transforms of functions within compiled functions, and of these: their calls are recorded, and have the same bits."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import opweave
import pytest
from compiled_calls import check, facts
from opweave import nn
from opweave.func import grad, hessian, jacfwd, jacrev, jvp, vjp, vmap

X = opweave.linspace(-2, 2, 20).view(4, 5)
WEIGHT = opweave.linspace(-1, 1, 30).view(5, 6)
LINEAR = nn.Linear(5, 3)


def chain(x: Any) -> Any:
    return opweave.tanh(x) * opweave.sin(x) * 2


def total(x: Any) -> Any:
    return (chain(x) + x.exp()).sum()


def score(x: Any) -> Any:
    return (x @ WEIGHT).softmax(-1).square().sum()


FUNCTIONS: list[Callable[[Any], Any]] = [
    lambda x: grad(total)(x) * 2 + 1,
    lambda x: grad(lambda y: ((y @ WEIGHT).relu() ** 2).mean())(x) + x,
    lambda x: grad(lambda y: grad(lambda z: (z**3 * y).sum())(y).sin().sum())(x),
    lambda x: grad(lambda y: (y.bfloat16().sin() * 2).float().sum())(x),
    lambda x: vmap(chain)(x) * 3 + 1,
    lambda x: vmap(lambda row: row.max(0).values)(x),
    lambda x: vmap(lambda row: (row @ WEIGHT).softmax(-1))(x),
    lambda x: vmap(grad(total))(x) * 2 + 1,
    lambda x: vmap(grad(score))(x),
    lambda x: vmap(grad(lambda weight, row: (row @ weight).tanh().sum()), in_dims=(None, 0))(WEIGHT, x),
    lambda x: vmap(grad(lambda row: LINEAR(row).sum()))(x),
    lambda x: jvp(chain, (x,), (x * 2 + 1,)),
    lambda x: vjp(chain, x)[1](x),
    lambda x: jacrev(chain)(x[0]),
    lambda x: jacfwd(chain)(x[0]),
]


@pytest.mark.parametrize("place", range(len(FUNCTIONS)))
def test_within(place: int) -> None:
    check(FUNCTIONS[place], X)
    with opweave.no_grad():
        check(FUNCTIONS[place], X)


@pytest.mark.parametrize("place", [0, 2, 4, 7, 11])
def test_gradients_outside(place: int) -> None:
    function = FUNCTIONS[place]
    compiled: Any = opweave.compile(function)

    def outer(of: Callable[[Any], Any]) -> Any:
        x = X.clone().requires_grad_()
        results = of(x)
        results = results if isinstance(results, tuple) else (results,)
        return (*results, *opweave.autograd.grad([each.sin().sum() for each in results], x))

    want = outer(function)
    for _ in range(2):
        for found, each in zip(outer(compiled), want, strict=True):
            assert opweave.allclose(found, each, 1e-5, 1e-6)


@pytest.mark.parametrize("use", [vmap, lambda f: f])
def test_gradients_by_weights(use: Any) -> None:
    def outer(decorate: Callable[..., Any]) -> Any:
        LINEAR.zero_grad()
        compiled = decorate(use(lambda row: LINEAR(row).tanh() * row.sum()))
        for _ in range(3):
            compiled(X).square().sum().backward()
        return LINEAR.weight.grad.clone()

    assert opweave.allclose(outer(opweave.compile), outer(lambda f: f), 1e-5, 1e-6)


def test_kernels() -> None:
    """A gradient is a kernel with what follows, and samples are computed together."""
    for function in (lambda x: grad(total)(x) * 2 + 1, lambda x: vmap(chain)(x) + 1):
        text = opweave.compiler.explain(function, X)
        assert text.startswith("program 1")
        assert "not recorded" not in text


def test_reason() -> None:
    """What is not recorded runs as it is, and `explain` says why."""
    known = check(lambda x: hessian(total)(x[0]), X, is_recorded=False)
    assert known.entries or known.refusals
    known = check(lambda x: grad(lambda y: y.clone().sin_().mul_(2).sum())(x), X, is_recorded=False)
    assert known.entries or "has part" in known.refusals[0]


@pytest.mark.parametrize(
    "transform", [grad, vmap, jacrev, jacfwd, hessian, lambda f: vmap(grad(f)), lambda f: lambda x: jvp(f, (x,), (x,))]
)
def test_of_compiled(transform: Any) -> None:
    function = (lambda x: chain(x) + x) if transform in (jacrev, jacfwd) else total
    compiled = opweave.compile(function)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        x = X[0] if transform in (jacrev, jacfwd, hessian) else X
        compiled(x)
        want = facts(transform(function)(x))
        for _ in range(3):
            assert facts(transform(compiled)(x)) == want


@pytest.mark.parametrize("transform", [grad, vmap, jacrev, lambda f: vmap(grad(f))])
def test_compiled_transforms(transform: Any) -> None:
    check(transform(total), X)


def test_effects_are_refused() -> None:
    """Functions that change tensors of their callers do so in each call."""

    def ask(x: Any) -> Any:
        x.requires_grad_()
        return x * 2 + 1

    def differentiate(x: Any, y: Any) -> Any:
        (x * y + y).sum().backward()
        return x + 1

    def freeze(x: Any) -> Any:
        LINEAR.requires_grad_(True)
        return LINEAR(x)

    check(ask, X, is_recorded=False)
    assert opweave.compile(freeze)(X).requires_grad
    compiled = opweave.compile(differentiate)
    y = X.clone().requires_grad_()
    for _ in range(3):
        compiled(X, y)
    assert y.grad.equal((X + 1) * 3)
    for function in (ask, freeze):
        assert "not recorded" in opweave.compiler.explain(function, X.clone())
