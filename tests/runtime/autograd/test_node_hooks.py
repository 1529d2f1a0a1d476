"""Hooks of nodes, and hooks that wait for several gradients."""

from __future__ import annotations

from typing import Any

import opweave as ow
import pytest
from opweave.autograd.graph import register_multi_grad_hook


def ones(count: int) -> list[ow.Tensor]:
    return [ow.ones(1, requires_grad=True) for _ in range(count)]


def test_hooks_of_the_node_that_collects() -> None:
    seen: list[Any] = []
    x = ow.ones(2, requires_grad=True)
    y = x * 2
    node = y.grad_fn.next_functions[0][0]
    node.register_prehook(lambda grads: seen.append("before"))
    node.register_hook(lambda inputs, outputs: seen.append((inputs, outputs[0].tolist(), x.grad.tolist())))
    y.sum().backward()
    assert seen == ["before", ((), [2.0, 2.0], [2.0, 2.0])]


def test_hooks_of_a_node_that_a_gradient_is_asked_of() -> None:
    seen: list[Any] = []
    x = ow.ones(2, requires_grad=True)
    y = x * 2
    y.grad_fn.register_prehook(lambda grads: seen.append(grads[0].tolist()))
    (y * 3).sum().backward(inputs=[y])
    assert seen == [[3.0, 3.0]]
    assert y.grad.tolist() == [3.0, 3.0]


def test_gradients_that_nobody_asks_for_are_not_shown() -> None:
    seen: list[Any] = []
    x, w = (ow.ones(2, requires_grad=True) for _ in range(2))
    y = x * w
    y.grad_fn.register_hook(lambda inputs, outputs: seen.append([each is None for each in inputs]))
    y.sum().backward(inputs=[w])
    assert seen == [[True, False]]


def test_a_hook_for_all_gradients() -> None:
    a, b, c = ones(3)
    seen: list[Any] = []
    note = lambda grads: seen.append([None if each is None else each.item() for each in grads])  # noqa: E731
    handle = register_multi_grad_hook([a, b, c], note)
    (a * 2 + b * 3).backward()
    (a * b * c).backward()
    ow.autograd.grad((a * b * c), [b])
    with handle:
        pass
    (a * b * c).backward()
    assert seen == [[2.0, 3.0, None], [1.0, 1.0, 1.0], [None, 1.0, None]]


def test_a_hook_for_any_gradient() -> None:
    a, b, c = ones(3)
    seen: list[float] = []
    handle = register_multi_grad_hook([a, b, c, ow.ones(1)], lambda grad: seen.append(grad.item()), mode="any")
    (a * 2 + b * 3).backward()
    (a * b * c).backward()
    handle.remove()
    (a * b * c).backward()
    assert seen in ([2.0, 1.0], [3.0, 1.0])


def test_a_hook_for_gradients_of_computed_tensors() -> None:
    a, b = ones(2)
    x, y = a * 2, b * 3
    seen: list[Any] = []
    register_multi_grad_hook([x, y], lambda grads: seen.append([each.item() for each in grads]))
    (x * y).backward()
    assert seen == [[3.0, 2.0]]
    with pytest.raises(ValueError, match="Expects mode to be one of"):
        register_multi_grad_hook([x], print, mode="some")  # type: ignore[arg-type]
