"""autograd.graph: what hooks make of the tensors that the graph saves."""

from __future__ import annotations

import threading
from typing import Any

import opweave
import pytest
from derivatives import check_outcome
from opweave.autograd.graph import Node, disable_saved_tensors_hooks, save_on_cpu, saved_tensors_hooks


def numbers(library: Any) -> Any:
    return library.tensor([0.5, 1.25, 2.0], dtype=library.float64).requires_grad_()


@pytest.mark.parametrize(
    ("call", "shapes"),
    [
        (lambda x: x + 1, []),
        (lambda x: x.relu(), [(3, 5)]),  # the result, which what comes next saves as well
        (lambda x: x.max(1), [(3,)]),  # positions
        (lambda x: x.median(1), [(3,)]),
        (lambda x: x.max(), [(), (3, 5)]),
        (lambda x: x.sum(1), []),
        (lambda x: x * 2.0, []),
        (lambda x: x * opweave.ones(5), [(5,)]),
        (lambda x: x.mm(opweave.ones(5, 2)), [(5, 2)]),
    ],
)
def test_what_is_saved(call: Any, shapes: list[tuple[int, ...]]) -> None:
    results = []
    with saved_tensors_hooks(lambda tensor: results.append(tuple(tensor.shape)), lambda nothing: nothing):
        call(opweave.rand(3, 5).requires_grad_())
    assert sorted(results) == sorted(shapes)


class Double:
    """An operation of the user's with an input and an output among what it saves."""

    def __new__(cls, library: Any) -> Any:
        class Function(library.autograd.Function):
            @staticmethod
            def forward(ctx: Any, x: Any) -> Any:
                result = x.exp()
                ctx.save_for_backward(x, result)
                return result

            @staticmethod
            def backward(ctx: Any, grad: Any) -> Any:
                x, result = ctx.saved_tensors
                return grad * result + 0 * x

        return Function.apply


FUNCTIONS: dict[str, Any] = {
    "an input": lambda lib, x: x.sin(),
    "a result": lambda lib, x: x.exp(),
    "two inputs": lambda lib, x: x * x.cos(),
    "a number": lambda lib, x: (x * 2).pow(3),
    "several": lambda lib, x: x.sin().exp().tanh() * x,
    "in place": lambda lib, x: (x * 2).mul_(x),
    "in place, of itself": lambda lib, x: (x * 2).sin_(),
    "a matrix": lambda lib, x: x.unsqueeze(1) @ x.unsqueeze(0),
    "a user's function": lambda lib, x: Double(lib)(x),
    "nothing": lambda lib, x: x + 1,
}


def test_hooks_see_each_saved_tensor() -> None:
    x = numbers(opweave)
    packed: list[Any] = []

    def pack(tensor: Any) -> int:
        assert not opweave.is_grad_enabled()
        packed.append(tensor)
        return len(packed) - 1

    with saved_tensors_hooks(pack, lambda key: packed[key]):
        y = x.sin().exp()
    assert [opweave.equal(tensor, kept) for tensor, kept in zip(packed, (x, y), strict=True)] == [True, True]
    y.sum().backward()
    assert x.grad is not None
    assert opweave.allclose(x.grad, (x.cos() * x.sin().exp()).detach())


def test_gradients_are_computed_from_what_hooks_return() -> None:
    x = numbers(opweave)
    with saved_tensors_hooks(lambda tensor: tensor, lambda tensor: tensor + 1):
        y = x * x
    y.sum().backward()
    assert x.grad is not None
    assert opweave.allclose(x.grad, 2 * (x.detach() + 1))


def test_innermost_hooks_count() -> None:
    seen = []

    def noted(name: str) -> saved_tensors_hooks:
        return saved_tensors_hooks(lambda tensor: (seen.append(name), tensor)[1], lambda tensor: tensor)

    x = numbers(opweave)
    with noted("outer"):
        x.sin()
        with noted("inner"):
            x.sin()
        x.sin()
    x.sin()
    assert seen == ["outer", "inner", "outer"]


def test_hooks_are_those_of_their_thread() -> None:
    seen = []
    x = numbers(opweave)
    with saved_tensors_hooks(lambda tensor: (seen.append(1), tensor)[1], lambda tensor: tensor):
        thread = threading.Thread(target=lambda: x.sin())
        thread.start()
        thread.join()
    assert not seen


@pytest.mark.parametrize("name", FUNCTIONS)
def test_copies_do_not_change_gradients(name: str) -> None:
    x = numbers(opweave)
    with save_on_cpu():
        y = FUNCTIONS[name](opweave, x)
    (first,) = opweave.autograd.grad(y.sum(), x, create_graph=True)
    (expected,) = opweave.autograd.grad(FUNCTIONS[name](opweave, x).sum(), x, create_graph=True)
    assert opweave.allclose(first, expected)
    if expected.requires_grad:
        second, wanted = (opweave.autograd.grad(each.sum(), x)[0] for each in (first, expected))
        assert opweave.allclose(second, wanted)


def test_what_was_saved_is_released() -> None:
    x = numbers(opweave)
    with save_on_cpu():
        y = (x * x).sum()
    y.backward()
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        y.backward()


def test_hooks_can_be_refused() -> None:
    with disable_saved_tensors_hooks("not here"), pytest.raises(RuntimeError, match="not here"), save_on_cpu():
        pass
    with save_on_cpu(), pytest.raises(RuntimeError, match="not here"), disable_saved_tensors_hooks("not here"):
        pass
    with save_on_cpu():
        pass


@pytest.mark.parametrize("hooks", [(3, lambda tensor: tensor), (lambda tensor: tensor, 3)])
def test_hooks_must_be_callable(hooks: Any) -> None:
    with pytest.raises(TypeError, match="must be callable, not int"):
        saved_tensors_hooks(*hooks)


def test_nodes_are_instances() -> None:
    assert isinstance(numbers(opweave).sin().grad_fn, Node)


def hooked(library: Any, function: Any, pack: Any, unpack: Any) -> Any:
    x = numbers(library)
    with library.autograd.graph.saved_tensors_hooks(pack, unpack):
        y = function(library, x)
    y.sum().backward()
    return x.grad


HOOKS: dict[str, Any] = {
    "identity": (lambda tensor: tensor, lambda tensor: tensor),
    "twice": (lambda tensor: tensor * 2, lambda tensor: tensor),
    "as lists": (
        lambda tensor: (tensor.tolist(), tensor),
        lambda packed: packed[1].new_tensor(packed[0]),
    ),
    "to a number": (lambda tensor: tensor, lambda tensor: 3),
    "in place": (lambda tensor: tensor.detach().mul_(2), lambda tensor: tensor),
    "failing": (lambda tensor: tensor, lambda tensor: 1 // 0),
}


@pytest.mark.oracle
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("hooks", HOOKS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_as_torch(name: str, hooks: str) -> None:
    check_outcome(lambda lib: hooked(lib, FUNCTIONS[name], *HOOKS[hooks]))
