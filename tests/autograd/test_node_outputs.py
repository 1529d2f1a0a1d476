"""What nodes count as outputs, and what hooks of an output see that no gradient arrives at."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import opweave as ow
import pytest

SPLITS: dict[str, Callable[[Any], Any]] = {
    "UnbindBackward0": lambda x: x.unbind(1),
    "SplitBackward0": lambda x: x.split(2, 1),
    "SplitWithSizesBackward0": lambda x: x.split_with_sizes([1, 0, 2], -1),
}


@pytest.mark.parametrize("name", SPLITS)
def test_parts_are_outputs_of_one_node(name: str) -> None:
    parts = SPLITS[name](ow.ones(2, 3, requires_grad=True))
    assert [part.output_nr for part in parts] == list(range(len(parts)))
    assert {part.grad_fn for part in parts} == {parts[0].grad_fn}
    assert parts[0].grad_fn.name() == name


@pytest.mark.parametrize("name", SPLITS)
def test_gradients_of_some_parts(name: str) -> None:
    x = ow.arange(6.0, dtype=ow.float64).reshape(2, 3).requires_grad_()
    assert ow.autograd.gradcheck(lambda x: SPLITS[name](x)[-1] ** 3, x)
    assert ow.autograd.gradgradcheck(lambda x: SPLITS[name](x)[-1] ** 3, x)
    assert ow.autograd.gradgradcheck(lambda x: tuple(part**3 for part in SPLITS[name](x)), x)


@pytest.mark.parametrize("call", ["max(0)", "sort()", "topk(2)", "kthvalue(1)", "mode(0)", "cummin(0)", "frexp()"])
def test_indices_are_no_outputs(call: str) -> None:
    values, indices = eval(f"x.{call}", {"x": ow.rand(3, 3, requires_grad=True)})
    assert not indices.requires_grad
    seen: list[Any] = []
    values.grad_fn.register_prehook(seen.append)
    values.sum().backward()
    assert [len(grads) for grads in seen] == [1]


def test_hooks_are_called_without_a_gradient() -> None:
    x = ow.ones(4, requires_grad=True)
    first, second = x.split(2)
    seen: list[Any] = []
    second.register_hook(seen.append)
    together: list[Any] = []
    ow.autograd.graph.register_multi_grad_hook([first, second], together.append)
    first.sum().backward()
    assert seen == [None]
    assert [[None if grad is None else grad.tolist() for grad in grads] for grads in together] == [[[1, 1], None]]
    assert x.grad.tolist() == [1, 1, 0, 0]


def test_hooks_make_no_gradient_of_none() -> None:
    first, second = ow.ones(4, requires_grad=True).split(2)
    second.register_hook(lambda grad: ow.ones(2))
    with pytest.raises(RuntimeError, match="can't replace a None gradient with a non-None value"):
        first.sum().backward()


def test_hooks_of_a_leaf_are_called_without_a_gradient() -> None:
    class Nothing(ow.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 1

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return None

    x = ow.ones(2, requires_grad=True)
    seen: list[Any] = []
    x.register_hook(seen.append)
    x.register_post_accumulate_grad_hook(lambda leaf: seen.append(leaf is x and leaf.grad))
    Nothing.apply(x).sum().backward()
    assert seen == [None, None]


def test_gradients_that_were_made_of_nothing_are_differentiable() -> None:
    x, unused = ow.ones(2, requires_grad=True), ow.ones(2, requires_grad=True)
    (zeros,) = ow.autograd.grad((x**2).sum(), unused, create_graph=True, materialize_grads=True)
    (second,) = ow.autograd.grad(zeros.sum(), x, materialize_grads=True)
    assert second.tolist() == [0, 0]
    (plain,) = ow.autograd.grad((x**2).sum(), unused, materialize_grads=True)
    assert not plain.requires_grad


def test_a_new_size_counts_as_a_write() -> None:
    x = ow.ones(4)
    versions = [x.resize_(*size)._version for size in ((4,), (2, 2), (6,), (6,))]
    assert versions == [0, 1, 2, 2]
