"""`retain_grad()` and `grad` of what is no leaf, also where it is overwritten afterwards."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import opweave as ow
import pytest


def leaf() -> ow.Tensor:
    return ow.ones(3, requires_grad=True)


def test_a_kept_gradient_is_that_of_the_overwritten_tensor() -> None:
    x = leaf()
    h = x * 2
    h.retain_grad()
    h += 1
    assert h.retains_grad
    (h * h).sum().backward()
    assert h.grad.tolist() == [6.0, 6.0, 6.0]
    assert x.grad.tolist() == [12.0, 12.0, 12.0]


WRITES: dict[str, tuple[Callable[[Any], Any], list[float]]] = {
    "twice": (lambda h: h.mul_(3).mul_(2), [1.0, 2.0, 3.0]),
    "a part": (lambda h: h[0].mul_(3), [1.0, 2.0, 3.0]),
    "an index": (lambda h: h.__setitem__([0, 1], 4.0), [1.0, 2.0, 3.0]),
    "a composite": (lambda h: h.polygamma_(1), [1.0, 2.0, 3.0]),
    "a copy": (lambda h: h.copy_(ow.ones(3)), [1.0, 2.0, 3.0]),
}


@pytest.mark.parametrize("case", WRITES)
def test_however_it_is_overwritten(case: str) -> None:
    write, expected = WRITES[case]
    h = leaf() * 2
    h.retain_grad()
    write(h)
    (h * ow.tensor([1.0, 2.0, 3.0])).sum().backward()
    assert h.grad.tolist() == expected


def test_a_view_in_place_takes_it_along() -> None:
    h = ow.ones(2, 3, requires_grad=True) * 2
    h.retain_grad()
    h.t_()
    (h * 3).sum().backward()
    assert h.grad.tolist() == [[3.0, 3.0]] * 3


def test_a_view_whose_base_is_overwritten() -> None:
    h = leaf() * 2
    part = h[1:]
    part.retain_grad()
    h.mul_(3)
    assert part.retains_grad
    (part * 5).sum().backward()
    assert part.grad.tolist() == [5.0, 5.0]


def test_a_hook_stays_where_it_was_registered() -> None:
    before, after = [], []
    h = leaf() * 2
    h.register_hook(lambda grad: before.append(grad.tolist()))
    h.mul_(3)
    h.register_hook(lambda grad: after.append(grad.tolist()))
    h.sum().backward()
    assert before == [[3.0, 3.0, 3.0]]
    assert after == [[1.0, 1.0, 1.0]]


def test_a_gradient_that_was_assigned_stays() -> None:
    h = leaf() * 2
    h.grad = ow.full((3,), 7.0)
    assert not h.retains_grad
    h.mul_(2)
    assert h.grad.tolist() == [7.0, 7.0, 7.0]
    h.sum().backward()
    assert h.grad.tolist() == [7.0, 7.0, 7.0]
    plain = ow.ones(3)
    plain.grad = ow.full((3,), 5.0)
    plain.mul_(leaf())
    assert plain.grad.tolist() == [5.0, 5.0, 5.0]


def test_backward_with_inputs_keeps_their_gradients() -> None:
    x = leaf()
    h = x * 2
    (h * 3).sum().backward(inputs=[h])
    assert h.retains_grad
    assert h.grad.tolist() == [3.0, 3.0, 3.0]
    assert x.grad is None


LAYOUTS: dict[str, Callable[[], Any]] = {
    "transposed": lambda: ow.ones(3, 2).t(),
    "channels last": lambda: ow.ones(1, 2, 3, 4).to(memory_format=ow.channels_last),
    "in C order": lambda: ow.ones(2, 3),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("create_graph", [False, True])
def test_a_gradient_lies_as_its_leaf(layout: str, create_graph: bool) -> None:
    w = LAYOUTS[layout]().requires_grad_()
    factor = ow.arange(float(w.numel())).reshape(w.shape)
    (w * factor).sum().backward(create_graph=create_graph)
    assert w.grad.stride() == w.stride()
    assert w.grad.tolist() == factor.tolist()


def test_a_gradient_of_a_leaf_with_gaps_is_contiguous() -> None:
    w = ow.ones(6)[::2].requires_grad_()
    (w * w).sum().backward()
    assert w.grad.stride() == (1,)
