"""Results that are the argument itself in torch, a view of it, or a copy."""

from __future__ import annotations

import opweave as ow


def test_broadcast_tensors() -> None:
    weight = ow.nn.Parameter(ow.ones(2, 3))
    same, wider = ow.broadcast_tensors(weight, ow.ones(3))
    assert same is weight
    assert wider.shape == (2, 3)
    assert ow.broadcast_tensors(weight)[0] is weight


def test_einsum_of_one_operand() -> None:
    weight = ow.nn.Parameter(ow.ones(2, 3))
    view = ow.einsum("ij->ij", weight)
    assert (type(view), view.data_ptr(), view._base is weight) == (ow.Tensor, weight.data_ptr(), True)


def test_chain_matmul_of_one_matrix() -> None:
    weight = ow.nn.Parameter(ow.ones(2, 3))
    copied = ow.chain_matmul(weight)
    assert type(copied) is ow.Tensor
    assert copied.data_ptr() != weight.data_ptr()
