"""`x.data`: the same memory, whose writes no graph learns of."""

from __future__ import annotations

import opweave as ow
import pytest


def test_writing_through_data_between_forward_and_backward() -> None:
    w = ow.ones(3, requires_grad=True)
    y = (w * w).sum()
    w.data.add_(1)
    y.backward()
    assert w.grad.tolist() == [4.0, 4.0, 4.0]  # of the values that are there now, as in torch
    x = ow.tensor([1.0, 2.0, 0.1], requires_grad=True)
    y = (x * x).sum()
    x.data.clamp_(-0.5, 0.5)
    x.data[0] = 3.0
    y.backward()
    assert x.grad.tolist() == pytest.approx([6.0, 1.0, 0.2])


def test_writes_are_counted_apart() -> None:
    x = ow.ones(3)
    part = x.data[1:]
    part.add_(1)
    part.add_(1)
    assert (x._version, part._version, x.data._version) == (0, 2, 0)
    assert x.tolist() == [1.0, 3.0, 3.0]
    x.detach().add_(1)
    assert x._version == 1


def test_what_is_given_as_data_is_counted_apart() -> None:
    x, other = ow.ones(3), ow.zeros(3)
    x.add_(1)
    for _ in range(3):
        other.add_(1)
    x.data = other
    assert x._version == 1
    other.add_(1)
    assert (x._version, other._version) == (1, 4)
    assert x.tolist() == [4.0, 4.0, 4.0]


def test_a_saved_tensor_is_still_compared_with_itself() -> None:
    w, p = ow.ones(3).data, ow.ones(3, requires_grad=True)
    y = (p * w).sum()
    w.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_the_memory_is_the_same() -> None:
    x = ow.arange(4.0)
    data = x.data
    assert data._base is None
    assert data.data_ptr() == x.data_ptr()
    assert data.is_set_to(x)
    assert data.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
    del x
    assert data.tolist() == [0.0, 1.0, 2.0, 3.0]
    data.resize_(6)
    assert data[:4].tolist() == [0.0, 1.0, 2.0, 3.0]
    assert data.data.data.sum().item() == data.sum().item()


def test_a_gradient_that_is_somebody_s_data_is_not_added_to() -> None:
    kept = ow.ones(2)

    class Given(ow.autograd.Function):
        @staticmethod
        def forward(ctx: object, x: ow.Tensor) -> ow.Tensor:
            return x * 1

        @staticmethod
        def backward(ctx: object, grad: ow.Tensor) -> ow.Tensor:
            return kept.data

    x = ow.ones(2, requires_grad=True)
    Given.apply(x).sum().backward()
    Given.apply(x).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]
    assert kept.tolist() == [1.0, 1.0]


def test_data_has_the_class_of_its_tensor() -> None:
    class Mine(ow.Tensor):
        __slots__ = ()

    assert type(ow.ones(2).as_subclass(Mine).data) is Mine
