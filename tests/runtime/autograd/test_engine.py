"""The backward pass: what arrives at leaves, in which order, how often, and what is refused."""

from __future__ import annotations

import copy
import gc
import pickle
import warnings
import weakref
from typing import Any

import opweave as ow
import pytest
from opweave._C import lib


def leaf(*values: float) -> Any:
    return ow.tensor(values, dtype=ow.float64, requires_grad=True)


# ---- graphs -------------------------------------------------------------------------------------------------


def test_a_chain() -> None:
    x = leaf(1.0, 2.0, 3.0)
    y = (x * x + 1).log().sum()
    y.backward()
    assert ow.allclose(x.grad, 2 * x.detach() / (x.detach() ** 2 + 1))
    assert y.grad_fn.name() == "SumBackward0"
    assert y.grad_fn.next_functions[0][0].name() == "LogBackward0"


def test_gradients_add_up() -> None:
    x = leaf(2.0)
    for _ in range(3):
        (x * x).sum().backward()
    assert x.grad.tolist() == [12.0]


def test_a_tensor_that_is_used_twice() -> None:
    x = leaf(3.0)
    y = x * 2
    (y * y + y).sum().backward()
    assert x.grad.tolist() == [2 * (2 * 6 + 1)]


def test_broadcast_inputs_get_gradients_of_their_shape() -> None:
    a = ow.ones(2, 3, requires_grad=True)
    b = ow.ones(3, requires_grad=True)
    c = ow.tensor(2.0, requires_grad=True)
    (a * b * c).sum().backward()
    assert a.grad.shape == (2, 3)
    assert b.grad.tolist() == [4.0] * 3
    assert c.grad.item() == 6.0


def test_inputs_of_another_dtype_get_gradients_of_their_dtype() -> None:
    a = ow.ones(3, dtype=ow.float32, requires_grad=True)
    (a * ow.ones(3, dtype=ow.float64)).sum().backward()
    assert a.grad.dtype is ow.float32


def test_leaves_do_not_share_gradients() -> None:
    a, b = leaf(1.0), leaf(1.0)
    (a + b).sum().backward()
    a.grad.zero_()
    assert b.grad.tolist() == [1.0]


def test_a_given_gradient_is_not_kept() -> None:
    a, given = leaf(1.0), ow.ones(1, dtype=ow.float64)
    (a + 0).backward(given)
    given.zero_()
    assert a.grad.tolist() == [1.0]


def test_higher_derivatives() -> None:
    x = leaf(1.5)
    (y,) = (x**4,)
    for factor in (4 * 1.5**3, 12 * 1.5**2, 24 * 1.5, 24.0):
        (y,) = ow.autograd.grad(y.sum(), x, create_graph=True)
        assert y.item() == pytest.approx(factor)


def test_a_long_chain_overflows_no_stack() -> None:
    x = leaf(1.0)
    y = x
    for _ in range(100_000):
        y = y + 0
    y.backward()
    assert x.grad.tolist() == [1.0]
    del y


def test_a_long_chain_is_deleted_without_backward() -> None:
    x = leaf(1.0)
    y = x
    for _ in range(100_000):
        y = y * 1.0
    freed = weakref.ref(y.grad_fn)
    del y
    assert freed() is None


def test_graphs_are_freed_without_the_collector() -> None:
    gc.collect()
    gc.disable()
    try:
        x = leaf(1.0, 2.0)
        y = x.exp().sigmoid().sum()
        node, middle = weakref.ref(y.grad_fn), weakref.ref(y.grad_fn.next_functions[0][0])
        del y
        assert node() is None
        assert middle() is None
    finally:
        gc.enable()


def test_cycles_are_collected() -> None:
    def make() -> weakref.ref[Any]:
        y = leaf(1.0) * 2
        y.register_hook(lambda grad: grad * y.detach())
        return weakref.ref(y.grad_fn)

    node = make()
    gc.collect()
    assert node() is None


def test_a_thousand_steps_leak_nothing() -> None:
    x, w = ow.ones(8, 8), ow.ones(8, 8, requires_grad=True)

    def step() -> None:
        (x @ w).relu().sum().backward()
        with ow.no_grad():
            w.sub_(w.grad, alpha=1e-6)
        w.grad = None

    for _ in range(10):
        step()
    gc.collect()
    before = ow.cpu.memory_stats()["allocated_bytes.all.current"]
    for _ in range(1000):
        step()
    gc.collect()
    assert ow.cpu.memory_stats()["allocated_bytes.all.current"] == before


# ---- what is asked for --------------------------------------------------------------------------------------


def test_grad_touches_no_leaf() -> None:
    x, y = leaf(2.0), leaf(3.0)
    results = ow.autograd.grad((x * y).sum(), [x, y])
    assert [each.item() for each in results] == [3.0, 2.0]
    assert x.grad is None
    assert y.grad is None


def test_unused_inputs() -> None:
    x, y = leaf(2.0), leaf(3.0)
    with pytest.raises(RuntimeError, match="at index 1 appears to not have been used in the graph"):
        ow.autograd.grad((x * 2).sum(), [x, y])
    assert ow.autograd.grad((x * 2).sum(), [x, y], allow_unused=True)[1] is None
    assert ow.autograd.grad((x * 2).sum(), [x, y], materialize_grads=True)[1].tolist() == [0.0]


def test_inputs_limit_what_accumulates() -> None:
    x, y = leaf(2.0), leaf(3.0)
    (x * y).sum().backward(inputs=[x])
    assert x.grad.item() == 3.0
    assert y.grad is None


def test_batched_gradients_are_rows_of_the_jacobian() -> None:
    x = leaf(1.0, 2.0)
    y = x**2
    (rows,) = ow.autograd.grad(y, x, ow.eye(2, dtype=ow.float64), is_grads_batched=True)
    assert rows.tolist() == [[2.0, 0.0], [0.0, 4.0]]


def test_gradients_of_what_is_no_leaf() -> None:
    x = leaf(1.0, 2.0)
    y = x * 3
    y.retain_grad()
    (y * y).sum().backward()
    assert y.grad.tolist() == [6.0, 12.0]
    assert y.retains_grad
    assert not y.is_leaf
    with pytest.warns(UserWarning, match="not a leaf Tensor is being accessed"):
        assert (x * 1).grad is None


# ---- modes --------------------------------------------------------------------------------------------------


def test_modes_nest_and_decorate() -> None:
    x = leaf(1.0)
    with ow.no_grad():
        assert not (x * 2).requires_grad
        with ow.enable_grad():
            assert (x * 2).requires_grad
        assert not ow.is_grad_enabled()
    assert ow.is_grad_enabled()

    @ow.no_grad()
    def without() -> bool:
        return (x * 2).requires_grad

    @ow.no_grad
    def bare() -> bool:
        return (x * 2).requires_grad

    assert not without()
    assert not bare()
    assert ow.is_grad_enabled()
    before = ow.is_grad_enabled()
    ow.set_grad_enabled(False)
    assert not ow.is_grad_enabled()
    ow.set_grad_enabled(before)


def test_modes_of_generators_hold_only_inside() -> None:
    @ow.no_grad()
    def steps() -> Any:
        yield ow.is_grad_enabled()
        yield ow.is_grad_enabled()

    results = []
    for inside in steps():
        results += [inside, ow.is_grad_enabled()]
    assert results == [False, True, False, True]


def test_an_error_leaves_the_mode() -> None:
    with pytest.raises(ZeroDivisionError), ow.no_grad():
        raise ZeroDivisionError
    assert ow.is_grad_enabled()


# ---- hooks --------------------------------------------------------------------------------------------------


def test_hooks_see_and_change_gradients() -> None:
    x = leaf(1.0)
    seen: list[Any] = []
    y = x * 2
    handle = y.register_hook(lambda grad: seen.append(grad.item()))
    y.register_hook(lambda grad: grad * 10)
    y.sum().backward(retain_graph=True)
    assert seen == [1.0]
    assert x.grad.item() == 20.0
    handle.remove()
    y.sum().backward()
    assert seen == [1.0]


def test_a_hook_of_a_leaf_sees_the_sum() -> None:
    x = leaf(1.0)
    seen: list[Any] = []
    x.register_hook(lambda grad: seen.append(grad.item()))
    (x * 2 + x * 3).sum().backward()
    assert seen == [5.0]


def test_a_hook_after_accumulation() -> None:
    x = leaf(1.0)
    seen: list[Any] = []
    x.register_post_accumulate_grad_hook(lambda each: seen.append((each is x, each.grad.item())))
    (x * 2).sum().backward()
    assert seen == [(True, 2.0)]


def test_hooks_of_nodes() -> None:
    x = leaf(1.0)
    y = x * 2
    y.grad_fn.register_prehook(lambda grads: (grads[0] * 3,))
    y.grad_fn.register_hook(lambda inputs, outputs: (inputs[0] + outputs[0], *inputs[1:]))
    y.sum().backward()
    assert x.grad.item() == 2 * 3 + 3


def test_a_hook_of_a_node_that_returns_too_little() -> None:
    y = leaf(1.0) * 2
    y.grad_fn.register_hook(lambda inputs, outputs: (inputs[0],))
    with pytest.raises(RuntimeError, match="has returned an incorrect number of values"):
        y.sum().backward()


def test_hooks_that_are_refused() -> None:
    x = leaf(1.0)
    with pytest.raises(RuntimeError, match="doesn't require gradient"):
        x.detach().register_hook(print)
    x.register_hook(lambda grad: grad.reshape(1, 1))
    with pytest.raises(RuntimeError, match="changed the size"):
        (x * 1).sum().backward()


# ---- mistakes -----------------------------------------------------------------------------------------------


def test_backward_of_many_values_without_a_gradient() -> None:
    with pytest.raises(RuntimeError, match="grad can be implicitly created only for scalar outputs"):
        (leaf(1.0, 2.0) * 2).backward()


def test_backward_twice() -> None:
    x = leaf(1.0)
    y = x.exp().sum()
    y.backward()
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        y.backward()
    z = x.exp().sum()
    z.backward(retain_graph=True)
    z.backward()


def test_backward_without_a_history() -> None:
    with pytest.raises(RuntimeError, match="element 0 of tensors does not require grad and does not have a grad_fn"):
        ow.ones(1).backward()


def test_backward_of_what_is_no_tensor() -> None:
    with pytest.raises(TypeError, match="element 1 of tensors must be a Tensor or GradientEdge, but got str"):
        ow.autograd.backward([leaf(1.0), "x"])
    with pytest.raises(TypeError, match="expected a Tensor or a sequence of Tensors, but got int"):
        ow.autograd.grad(3, leaf(1.0))


def test_a_gradient_of_another_shape() -> None:
    with pytest.raises(RuntimeError, match="Mismatch in shape: grad_output\\[0\\] has a shape of"):
        (leaf(1.0, 2.0) * 2).backward(ow.ones(3, dtype=ow.float64))


def test_gradients_of_integers() -> None:
    with pytest.raises(RuntimeError, match="Only Tensors of floating point and complex dtype can require gradients"):
        ow.ones(2, dtype=ow.int64).requires_grad_()
    with pytest.raises(RuntimeError, match="Only Tensors of floating point"):
        ow.zeros(2, dtype=ow.int32, requires_grad=True)


def test_the_flag_of_what_is_no_leaf() -> None:
    with pytest.raises(RuntimeError, match="you can only change requires_grad flags of leaf variables"):
        (leaf(1.0) * 2).requires_grad_(False)


def test_results_in_out() -> None:
    x = leaf(1.0)
    with pytest.raises(RuntimeError, match="don't support automatic differentiation"):
        ow.exp(x, out=ow.empty(1, dtype=ow.float64))


def test_results_without_gradients_in_out() -> None:
    x, truth, place = leaf(1.0, 2.0), ow.empty(2, dtype=ow.bool), ow.empty((), dtype=ow.int64)
    assert ow.gt(x, 1, out=truth) is truth
    assert ow.argmax(x, out=place) is place
    assert truth.tolist() == [False, True]
    assert place.item() == 1
    assert not truth.requires_grad
    assert not place.requires_grad


def test_arrays_of_what_requires_a_gradient() -> None:
    x = leaf(1.0)
    with pytest.raises(RuntimeError, match="Can't call numpy\\(\\) on Tensor that requires grad"):
        x.numpy()
    assert x.detach().numpy().tolist() == [1.0] == x.numpy(force=True).tolist()


def test_gradients_that_are_assigned() -> None:
    x = leaf(1.0, 2.0)
    x.grad = ow.ones(2, dtype=ow.float64)
    with pytest.raises(RuntimeError, match="different size"):
        x.grad = ow.ones(3, dtype=ow.float64)
    with pytest.raises(TypeError, match="expected to be a Tensor or None"):
        x.grad = 1.0  # type: ignore[assignment]
    del x.grad
    assert x.grad is None


def test_what_was_computed_is_not_copied_deeply() -> None:
    x = ow.ones(2, requires_grad=True)
    (x * 3).sum().backward()
    for copied in (copy.deepcopy(x), copy.copy(x), pickle.loads(pickle.dumps(x))):
        assert copied.requires_grad
        assert copied.is_leaf
    assert copy.deepcopy(x).grad.tolist() == [3.0, 3.0]
    assert not copy.deepcopy(x.detach()).requires_grad
    with pytest.raises(RuntimeError, match="graph leaves"):
        copy.deepcopy(x * 2)


def test_nothing_to_differentiate_by() -> None:
    with pytest.raises(RuntimeError, match="cannot be empty"):
        ow.autograd.grad(ow.ones((), requires_grad=True) * 2, [])
    with pytest.raises(RuntimeError, match=r"only for real scalar outputs but got opweave\.complex64"):
        (ow.ones((), dtype=ow.complex64, requires_grad=True) * 2).backward()


def test_what_a_kernel_of_a_derivative_refuses_is_forgotten() -> None:
    """The formula is computed by operators then, and no later call is told of the kernel's error."""
    other = ow.tensor([1.0, 2.0], requires_grad=True)
    node = ow.addcdiv(ow.zeros(2), ow.ones(2), other).grad_fn
    assert node is not None
    with ow.no_grad(), pytest.raises(RuntimeError, match="must match the size"):
        node(ow.ones(3))
    assert not lib.error_pending()


def test_gradients_with_a_history_are_no_views() -> None:
    layer = ow.nn.Linear(2, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the cycle
        layer(ow.ones(4, 2)).pow(2).sum().backward(create_graph=True)
    for parameter in layer.parameters():
        assert parameter.grad is not None
        assert not parameter.grad._is_view()
        assert parameter.grad.grad_fn is not None
    layer.zero_grad()


def test_gradients_that_nobody_sees_are_not_copied() -> None:
    """A leaf keeps the memory that the last node wrote, also behind views, but none that a user has."""
    for step in (lambda x: x.sin(), lambda x: x.view(-1).sin(), lambda x: x.view(4, 3).t().sin()):
        x = ow.ones(3, 4, requires_grad=True)
        y = step(x)
        with ow.autograd.profiler.profile() as profile:
            y.backward(ow.ones_like(y))
        names = {each.name for each in profile.function_events}
        assert names.isdisjoint({"aten::clone", "aten::copy_"})
        assert x.grad._base is None


def test_gradients_that_somebody_sees_are_copied() -> None:
    seen: list[Any] = []

    class Passing(ow.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x.clone()

        @staticmethod
        def backward(ctx: Any, slope: Any) -> Any:
            seen.append(slope)
            return slope.view(slope.shape)

    slope = ow.ones(3, 4)
    for step in (
        lambda x: x.view(4, 3).view(3, 4),
        lambda x: x.t().t(),
        lambda x: Passing.apply(x) * 1,
        lambda x: x + 0,
    ):
        x = ow.zeros(3, 4, requires_grad=True)
        step(x).backward(slope)
        x.grad.zero_()
        assert slope.sum() == 12
        assert all(each.sum() == 12 for each in seen)
