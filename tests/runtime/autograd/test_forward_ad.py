"""Dual tensors: levels, views and writes, derivatives of derivatives, vmap, and the functions of opweave.func."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import opweave as ow
import opweave.autograd.forward_ad as fwd
import pytest
from opweave import func, nn

X, V = ow.tensor([1.0, 2.0, 3.0]), ow.tensor([1.0, 0.5, -1.0])


def tangent(function: Callable[[Any], Any], x: Any = X, v: Any = V) -> Any:
    with fwd.dual_level():
        return fwd.unpack_dual(function(fwd.make_dual(x, v.clone()))).tangent


# ---- levels -------------------------------------------------------------------------------------------------


def test_a_level() -> None:
    with fwd.dual_level() as level:
        dual = fwd.make_dual(X, V)
        assert level == 0
        assert fwd.unpack_dual(dual) == (fwd.unpack_dual(dual).primal, fwd.unpack_dual(dual).tangent)
        assert fwd.unpack_dual(dual).tangent.tolist() == V.tolist()
        product = dual * dual
        assert product.tolist() == [1.0, 4.0, 9.0]
        assert fwd.unpack_dual(product).tangent.tolist() == [2.0, 2.0, -6.0]
        assert fwd.unpack_dual(X).tangent is None
        assert fwd.unpack_dual(dual > 1).tangent is None
        assert fwd.unpack_dual(dual.detach()).tangent is None
    assert fwd.unpack_dual(dual).tangent is None
    assert (dual + 1).tolist() == [2.0, 3.0, 4.0]


def test_a_dual_tensor_shares_the_memory_of_its_primal_and_tangent() -> None:
    x, v = X.clone(), V.clone()
    with fwd.dual_level():
        dual = fwd.make_dual(x, v)
        dual.mul_(2)
        assert x.tolist() == [2.0, 4.0, 6.0]
        assert fwd.unpack_dual(dual).tangent.tolist() == v.tolist() == [2.0, 1.0, -2.0]


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: fwd.make_dual(X, V), RuntimeError, "no level exists, make sure to enter_dual_level"),
        (lambda: fwd.exit_dual_level(), RuntimeError, "no level is active"),
        (lambda: within(lambda: fwd.enter_dual_level()), RuntimeError, "Nested forward mode AD is not supported"),
        (lambda: within(lambda: fwd.make_dual(X, V[:2])), RuntimeError, "a different size than that of the original"),
        (
            lambda: within(lambda: fwd.make_dual(X, V.double())),
            RuntimeError,
            "a different dtype than that of the original",
        ),
        (
            lambda: within(lambda: fwd.make_dual(X.long(), V)),
            ValueError,
            "Expected primal to be floating point or comp",
        ),
        (
            lambda: within(lambda: fwd.make_dual(X, V.long())),
            ValueError,
            "Expected tangent to be floating point or com",
        ),
        (lambda: within(lambda: fwd.make_dual(X, 1.0)), TypeError, "argument 'tangent' must be Tensor, not float"),
        (lambda: tangent(lambda x: ow.add(x, x, out=ow.empty(3))), NotImplementedError, "because it is an out= func"),
        (lambda: func.jvp(lambda x: x, (X,), (V[:2],)), RuntimeError, "a different size than that of the original"),
        (lambda: func.jvp(lambda x: x.clone().resize_(2), (X,), (V,)), RuntimeError, "changes the memory of a tensor"),
        (lambda: func.jvp(lambda x: None, (X,), (V,)), RuntimeError, "non-empty output"),
        (lambda: func.jvp(lambda x: 1, (X,), (V,)), RuntimeError, "expected f\\(\\*primals\\) to return only tensors"),
    ],
)
def test_refusals(make: Callable[[], Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        make()
    assert fwd.unpack_dual(X).tangent is None


def within(function: Callable[[], Any]) -> Any:
    with fwd.dual_level():
        return function()


def test_tangents_may_be_off() -> None:
    with fwd.dual_level():
        dual = fwd.make_dual(X, V)
        with fwd.set_fwd_grad_enabled(False):
            assert (dual * 2).tolist() == [2.0, 4.0, 6.0]
        assert fwd.unpack_dual(dual * 2).tangent.tolist() == [2.0, 1.0, -2.0]


# ---- views and writes ---------------------------------------------------------------------------------------


def test_views_share_tangents() -> None:
    def function(x: Any) -> Any:
        y = x.clone()
        y[1:].mul_(y[:1].clone())
        y.view(3, 1)[0, 0] = y[2].clone()
        return y

    assert tangent(function).tolist() == func.jacrev(function)(X).matmul(V).tolist()


def test_a_tensor_that_a_dual_one_is_written_to_becomes_dual() -> None:
    def function(x: Any) -> Any:
        total = ow.zeros(2, 3)
        total[1] = x
        total.t()[0].add_(x[:2] * x[1])
        return total.sum(0) * x

    expected = func.jacrev(function)(X).matmul(V)
    assert ow.allclose(tangent(function), expected)
    assert ow.allclose(func.jvp(function, (X,), (V,))[1], expected)


def test_what_was_written_to_is_a_tensor_again() -> None:
    outside = ow.zeros(3)
    _, product = func.jvp(lambda x: outside.add_(x) * x, (X,), (V,))
    assert product.tolist() == [2.0, 2.0, -6.0]
    assert outside.tolist() == X.tolist()
    assert outside.numpy().tolist() == X.tolist()
    assert fwd.unpack_dual(outside).tangent is None


@pytest.mark.parametrize("expanded", [False, True])
def test_primals_with_any_strides(expanded: bool) -> None:
    x = ow.tensor([[1.0, 2.0]]).expand(3, 2) if expanded else ow.arange(6.0).view(2, 3).t()
    v = ow.arange(6.0).view(3, 2)
    assert tangent(lambda x: x[1:].square(), x, v).tolist() == (2 * x * v)[1:].tolist()


# ---- derivatives of derivatives -----------------------------------------------------------------------------


def cube(x: Any) -> Any:
    return (x**3).sum()


def test_levels_are_nested() -> None:
    first = func.jvp(lambda x: func.jvp(cube, (x,), (V,))[1], (X,), (V,))[1]
    assert first.item() == pytest.approx((6 * X * V * V).sum().item())
    inner = func.jvp(lambda x: x * func.jvp(lambda y: x * y, (ow.ones(()),), (ow.ones(()),))[1], (X[1],), (V[1],))[1]
    assert inner.item() == 2.0  # the derivative of x * x: the inner level knows nothing of the outer one's tangent


def test_forward_and_backward() -> None:
    expected = (6 * X * V).tolist()
    assert func.jvp(func.grad(cube), (X,), (V,))[1].tolist() == expected
    assert func.grad(lambda x: func.jvp(cube, (x,), (V,))[1])(X).tolist() == expected
    x = X.clone().requires_grad_()
    with fwd.dual_level():
        product = fwd.unpack_dual(cube(fwd.make_dual(x, V))).tangent
    product.backward()
    assert x.grad is not None
    assert x.grad.tolist() == expected


@pytest.mark.parametrize("function", [ow.exp, ow.tanh, ow.sqrt, lambda x: x**x, lambda x: ow.logaddexp(x, x * x)])
def test_tangents_have_gradients_where_formulas_use_results(function: Callable[[Any], Any]) -> None:
    """Also by tensors that are no argument."""
    weight = (X.abs() + 1).requires_grad_()
    product = func.jvp(lambda x: function(weight * x).sum(), (X.square() + 1,), (V,))[1]
    product.backward()
    by_weight = func.grad(lambda weight, x: function(weight * x).sum())
    expected = func.jvp(lambda x: by_weight(weight.detach(), x), (X.square() + 1,), (V,))[1]
    ow.testing.assert_close(weight.grad, expected)


def test_tangents_have_no_graph_unless_something_has() -> None:
    assert not func.jvp(ow.sin, (X,), (V,))[1].requires_grad
    assert func.jvp(ow.sin, (X,), (V.clone().requires_grad_(),))[1].requires_grad
    with ow.no_grad():
        assert not func.jvp(ow.sin, (X.clone().requires_grad_(),), (V,))[1].requires_grad


def test_batches() -> None:
    directions = ow.eye(3)
    columns = func.vmap(lambda v: func.jvp(ow.sin, (X,), (v,))[1])(directions)
    assert ow.allclose(columns, X.cos().diag())
    rows = func.vmap(lambda x: func.jvp(cube, (x,), (V,))[1])(ow.stack([X, 2 * X]))
    assert ow.allclose(rows, ow.stack([(3 * X * X * V).sum(), (12 * X * X * V).sum()]))
    mapped = func.jvp(lambda x: func.vmap(lambda each: each * x.sum())(x), (X,), (V,))[1]
    assert ow.allclose(mapped, V * X.sum() + X * V.sum())


def test_hessians() -> None:
    assert ow.allclose(func.hessian(cube)(X), (6 * X).diag())
    norm = nn.LayerNorm(3)
    both = [func.jacrev(func.jacrev(norm)), func.hessian(norm)]
    assert ow.allclose(both[0](X), both[1](X), atol=1e-5)


def test_jacobians_of_several_arguments() -> None:
    def function(x: Any, y: Any) -> Any:
        return {"a": x * y.sum(), "b": (x.sum() * y,)}

    got, aux = func.jacfwd(lambda x, y: (function(x, y), x + 1), argnums=(0, 1), has_aux=True)(X, V[:2])
    want = func.jacrev(function, argnums=(0, 1))(X, V[:2])
    for mine, theirs in ((got["a"], want["a"]), (got["b"][0], want["b"][0])):
        assert all(ow.allclose(*pair) for pair in zip(mine, theirs, strict=True))
    assert aux.tolist() == [2.0, 3.0, 4.0]


def test_modules() -> None:
    ow.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8, 3), nn.Softmax(-1)).double()
    parameters = {name: each.detach() for name, each in model.named_parameters()}
    tangents = {name: ow.randn_like(each) for name, each in parameters.items()}
    x = ow.randn(2, 1, 4, 4, dtype=ow.float64)

    def call(parameters: Any) -> Any:
        return func.functional_call(model, parameters, (x,))

    step = 1e-6
    ahead, behind = (
        call({name: each + sign * step * tangents[name] for name, each in parameters.items()}) for sign in (1, -1)
    )
    _, product = func.jvp(call, (parameters,), (tangents,))
    assert ow.allclose(product, (ahead - behind) / (2 * step), atol=1e-6)
