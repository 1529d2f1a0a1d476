"""autograd.Function: derivatives that users write."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import opweave as ow
import pytest
from opweave.autograd import Function
from opweave.autograd.function import FunctionCtx, InplaceFunction, once_differentiable


def leaf(*values: float) -> Any:
    return ow.tensor(values, dtype=ow.float64, requires_grad=True)


class Cube(Function):
    @staticmethod
    def forward(ctx: Any, x: Any, factor: float) -> Any:
        ctx.save_for_backward(x)
        ctx.factor = factor
        return factor * x**3

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        (x,) = ctx.saved_tensors
        assert ctx.needs_input_grad == (True, False)
        return 3 * ctx.factor * x**2 * grad, None


def test_forward_and_backward() -> None:
    x = leaf(1.0, 2.0)
    y = Cube.apply(x, 2.0)
    assert y.grad_fn.name() == "CubeBackward"
    assert "CubeBackward" in repr(y)
    y.sum().backward()
    assert x.grad.tolist() == [6.0, 24.0]


def test_ctx_takes_attributes_of_any_name() -> None:
    names = ("edges", "hooks", "function", "dirty", "values", "number", "tensors", "results", "metas", "versions")

    class Named(Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            for name in names:
                setattr(ctx, name, name)
            return x * 2

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            assert [getattr(ctx, name) for name in names] == [*names]
            return grad * 2

    x = leaf(1.0)
    y = Named.apply(x)
    y.grad_fn.register_hook(lambda *grads: None)
    assert y.grad_fn.dirty == ()
    y.backward()
    assert x.grad.tolist() == [2.0]


def test_what_forward_sets_on_ctx_is_seen_at_the_node() -> None:
    node = Cube.apply(leaf(1.0), 2.5).grad_fn
    assert node.factor == 2.5
    with pytest.raises(AttributeError, match="'CubeBackward' object has no attribute 'colour'"):
        node.colour  # noqa: B018


def test_a_derivative_of_the_derivative() -> None:
    x = leaf(2.0)
    (first,) = ow.autograd.grad(Cube.apply(x, 1.0).sum(), x, create_graph=True)
    (second,) = ow.autograd.grad(first.sum(), x)
    assert second.item() == 12.0


def test_outputs_are_saved_without_a_cycle() -> None:
    class Exp(Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            result = x.exp()
            ctx.save_for_backward(result)
            return result

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * ctx.saved_tensors[0]

    x = leaf(0.0, 1.0)
    (first,) = ow.autograd.grad(Exp.apply(x).sum(), x, create_graph=True)
    (second,) = ow.autograd.grad(first.sum(), x)
    assert ow.allclose(second, x.detach().exp())


def test_several_outputs() -> None:
    class Both(Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            signs = x > 0
            ctx.mark_non_differentiable(signs)
            return x * 2, x * 3, signs

        @staticmethod
        def backward(ctx: Any, first: Any, second: Any, signs: Any) -> Any:
            return first * 2 + second * 3

    x = leaf(1.0)
    first, second, signs = Both.apply(x)
    assert not signs.requires_grad
    assert first.output_nr == 0
    assert second.output_nr == 1
    second.sum().backward()  # the gradient of the first one is zeros
    assert x.grad.tolist() == [3.0]


def test_undefined_gradients_as_none() -> None:
    class Pair(Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.set_materialize_grads(False)
            return x * 2, x * 3

        @staticmethod
        def backward(ctx: Any, first: Any, second: Any) -> Any:
            assert first is None
            return second * 3

    x = leaf(1.0)
    Pair.apply(x)[1].sum().backward()
    assert x.grad.tolist() == [3.0]


def test_overwritten_inputs() -> None:
    class Double(Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.mark_dirty(x)
            return x.mul_(2)

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * 2

    x = leaf(1.0)
    y = x + 0
    assert Double.apply(y) is y
    y.sum().backward()
    assert x.grad.tolist() == [2.0]


def test_a_context_that_is_set_up_apart() -> None:
    class Square(Function):
        @staticmethod
        def forward(x: Any) -> Any:
            return x * x

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(inputs[0])

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return 2 * ctx.saved_tensors[0] * grad

    x = leaf(3.0)
    Square.apply(x).sum().backward()
    assert x.grad.tolist() == [6.0]


def test_differentiable_once() -> None:
    class Once(Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        @once_differentiable
        def backward(ctx: Any, grad: Any) -> Any:
            return 2 * ctx.saved_tensors[0] * grad

    x = leaf(1.0)
    given = ow.ones(1, dtype=ow.float64, requires_grad=True)
    (first,) = ow.autograd.grad(Once.apply(x), x, given, create_graph=True)
    with pytest.raises(RuntimeError, match="marked with @once_differentiable"):
        first.sum().backward()


def test_mistakes() -> None:
    class Wrong(Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad, grad

    with pytest.raises(RuntimeError, match="returned an incorrect number of gradients"):
        Wrong.apply(leaf(1.0)).sum().backward()
    with pytest.raises(NotImplementedError, match="must implement the forward"):
        Function.apply(leaf(1.0))
    x = leaf(1.0)
    y = Cube.apply(x, 1.0)
    y.sum().backward()
    with pytest.raises(RuntimeError, match="second time"):
        y.sum().backward()


def test_functions_are_not_called_themselves() -> None:
    class Same(ow.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x

    with pytest.raises(RuntimeError, match="use `apply`"):
        Same()(ow.ones(1))


def test_a_gradient_that_is_no_tensor() -> None:
    class Three(ow.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return 3

    with pytest.raises(RuntimeError, match="expected Variable or None"):
        Three.apply(ow.ones(1, requires_grad=True)).sum().backward()


def test_outputs_that_are_no_tensors_have_no_gradients() -> None:
    seen: list[Any] = []

    class Several(ow.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 1, 5, None, ow.tensor([1, 2])

        @staticmethod
        def backward(ctx: Any, *grads: Any) -> Any:
            seen.extend(grads)
            return grads[0]

    Several.apply(ow.ones(2, requires_grad=True))[0].sum().backward()
    assert seen[1:3] == [None, None]
    assert [seen[0].tolist(), seen[3].tolist()] == [[1, 1], [0, 0]]


@pytest.mark.parametrize("is_view", [False, True])
def test_saved_inputs_that_were_overwritten_make_no_cycle(is_view: bool) -> None:
    class Increment(ow.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, witness: Any) -> Any:
            x.add_(1)
            ctx.mark_dirty(x)
            ctx.save_for_backward(x)
            ctx.witness = witness
            return x

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * ctx.saved_tensors[0], None

    class Witness:
        pass

    gc.disable()
    try:
        witness = Witness()
        alive = weakref.ref(witness)
        leaf = ow.ones(2, requires_grad=True)
        product = leaf * 1
        result = Increment.apply(product[:] if is_view else product, witness)
        result.sum().backward()
        assert leaf.grad.tolist() == [2, 2]
        del witness, product, result
        assert alive() is None
    finally:
        gc.enable()


class Doubled(InplaceFunction):
    @staticmethod
    def forward(ctx: Any, x: Any, inplace: bool = False) -> Any:
        assert isinstance(ctx, FunctionCtx)
        ctx.save_for_forward(x, None)
        assert ctx.saved_for_forward == (x, None)
        with pytest.raises(AssertionError, match="you should save non-tensors as attributes"):
            ctx.save_for_forward(3)
        if not inplace:
            return x * 2
        ctx.mark_dirty(x)
        return x.mul_(2)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return grad * 2, None


def test_functions_that_may_work_in_place() -> None:
    assert Doubled(True).inplace
    assert not Doubled().inplace
    x = leaf(1.0, 2.0)
    copy = x.clone()
    (Doubled.apply(x) + Doubled.apply(copy, True)).sum().backward()
    assert copy.tolist() == [2.0, 4.0]
    assert x.grad.tolist() == [4.0, 4.0]
