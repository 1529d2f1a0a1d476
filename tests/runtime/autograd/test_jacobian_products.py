"""`func.jvp`, `linearize` and `jacfwd`: Jacobians times vectors, alone, nested, and over and within gradients."""

from __future__ import annotations

from typing import Any

import opweave as ow
import pytest
from opweave import func

X = ow.tensor([[0.5, -1.0, 2.0], [0.25, 1.5, -0.5]], dtype=ow.float64)
V = ow.tensor([[1.0, 0.0, -2.0], [0.5, 3.0, 1.0]], dtype=ow.float64)
W = ow.tensor([[1.0, 2.0], [-1.0, 0.5], [0.0, 1.0]], dtype=ow.float64)


def model(x: ow.Tensor) -> ow.Tensor:
    return (x @ W).tanh()


def slope(x: ow.Tensor) -> ow.Tensor:
    return 1 - model(x).square()


def test_jvp() -> None:
    value, tangent = func.jvp(model, (X,), (V,))
    ow.testing.assert_close(value, model(X))
    ow.testing.assert_close(tangent, slope(X) * (V @ W))
    assert not value.requires_grad
    assert not tangent.requires_grad


def test_nested_arguments_and_results() -> None:
    def function(x: ow.Tensor, rest: dict[str, ow.Tensor]) -> Any:
        return {"product": x * rest["y"], "sum": rest["y"].sum()}, "aux"

    value, tangent, aux = func.jvp(
        lambda x, rest: (function(x, rest)[0], x), (X, {"y": X + 1}), (V, {"y": 2 * V}), has_aux=True
    )
    ow.testing.assert_close(value["product"], X * (X + 1))
    ow.testing.assert_close(tangent["product"], V * (X + 1) + 2 * V * X)
    ow.testing.assert_close(tangent["sum"], 2 * V.sum())
    assert aux.equal(X)


def test_nested_and_with_gradients() -> None:
    second = func.jvp(lambda x: func.jvp(lambda y: y**3, (x,), (V,))[1], (X,), (V,))[1]
    ow.testing.assert_close(second, 6 * X * V * V)
    over = func.grad(lambda x: func.jvp(lambda y: y**3, (x,), (V,))[1].sum())(X)
    ow.testing.assert_close(over, 6 * X * V)
    within = func.jvp(func.grad(lambda x: (x**3).sum()), (X,), (V,))[1]
    ow.testing.assert_close(within, 6 * X * V)
    scale = ow.tensor(2.0, dtype=ow.float64, requires_grad=True)
    func.jvp(lambda x: scale * x, (X,), (V,))[1].sum().backward()
    assert scale.grad is not None
    ow.testing.assert_close(scale.grad, V.sum())


def test_batches() -> None:
    got = ow.vmap(lambda x, v: func.jvp(lambda y: y * y.sum(), (x,), (v,))[1])(X, V)
    ow.testing.assert_close(got, V * X.sum(1, keepdim=True) + X * V.sum(1, keepdim=True))


def test_linearize() -> None:
    calls = []

    def function(x: ow.Tensor) -> ow.Tensor:
        calls.append(x)
        return model(x)

    value, product = func.linearize(function, X)
    ow.testing.assert_close(value, model(X))
    for vector in (V, 2 * V):
        ow.testing.assert_close(product(vector), slope(X) * (vector @ W))
    assert len(calls) == 1


@pytest.mark.parametrize("chunk_size", [None, 1, 4])
def test_jacfwd(chunk_size: int | None) -> None:
    got = func.jacfwd(model, chunk_size=chunk_size)(X)
    want = ow.zeros(2, 2, 2, 3, dtype=ow.float64)
    for row in range(2):
        want[row, :, row] = slope(X)[row].unsqueeze(1) * W.t()
    ow.testing.assert_close(got, want)
    ow.testing.assert_close(func.jacrev(model, chunk_size=chunk_size)(X), want)
    first, second = func.jacfwd(lambda x, y: (x * y).sum(), argnums=(0, 1))(X, V)
    ow.testing.assert_close((first, second), (V, X))
    ow.testing.assert_close(func.jacfwd(func.jacrev(lambda x: (x**3).sum()))(X).view(6, 6), ow.diag(6 * X.flatten()))


def test_outputs_that_do_not_depend() -> None:
    def constant(x: ow.Tensor) -> ow.Tensor:
        return ow.ones(2)

    assert func.jvp(constant, (X,), (V,))[1].tolist() == [0.0, 0.0]
    assert func.jacfwd(constant)(X).equal(ow.zeros(2, 2, 3))
    with pytest.raises(RuntimeError, match="independent of the inputs"):
        func.jvp(constant, (X,), (V,), strict=True)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: func.jvp(model, X, (V,)), "Expected primals to be a tuple"),  # type: ignore[arg-type]
        (lambda: func.jvp(model, (X,), V), "Expected primals and tangents to have the same python structure"),  # type: ignore[arg-type]
        (lambda: func.jvp(model, (), ()), "Expected primals to contain at least one Tensor"),
        (lambda: func.jvp(model, (3.0,), (V,)), "Expected primals to only contain Tensors, got <class 'float'>"),
        (lambda: func.jvp(model, (X,), (3.0,)), "Expected tangents to only contain Tensors, got <class 'float'>"),
        (lambda: func.jvp(lambda x: 3, (X,), (V,)), "expected f.* to return only tensors, got unsupported type"),
        (lambda: func.linearize(model, X)[1](V[:1]), "tangent:0 with shape .* doesn't match the shape"),
        (lambda: func.linearize(model, X)[1](V, V), "do not match the arguments"),
        (lambda: func.jacfwd(model)(X.to(ow.complex128)), "jacfwd: Expected all inputs to be real"),
    ],
)
def test_refusals(call: Any, text: str) -> None:
    with pytest.raises(RuntimeError, match=text):
        call()
