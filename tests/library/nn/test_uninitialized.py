"""Parameters without a shape: what may be done with them, as in torch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import opweave as ow
import pytest
from opweave import nn

REFUSED: dict[str, Callable[[Any], Any]] = {
    "operator": lambda p: p + 1,
    "in place": lambda p: p.normal_(),
    "numel": lambda p: p.numel(),
    "dim": lambda p: p.dim(),
    "len": len,
    "stride": lambda p: p.stride(),
    "is_contiguous": lambda p: p.is_contiguous(),
    "tolist": lambda p: p.tolist(),
    "numpy": lambda p: p.numpy(),
    "data_ptr": lambda p: p.data_ptr(),
    "storage": lambda p: p.storage(),
    "requires_grad_": lambda p: p.requires_grad_(False),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_needs_a_shape_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="Attempted to use an uninitialized parameter in"):
        REFUSED[name](nn.LazyLinear(3).weight)


def test_data_is_a_tensor_without_elements() -> None:
    weight = nn.LazyLinear(3).weight
    data = weight.data.normal_()
    assert (type(data), data.shape, data.requires_grad) == (ow.Tensor, (0,), False)
    with pytest.raises(RuntimeError, match="Can't access the shape of an uninitialized parameter"):
        weight.shape  # noqa: B018
    assert (weight.dtype, weight.grad, weight.is_leaf, repr(weight.cpu())) == (
        ow.float32,
        None,
        True,
        "<UninitializedParameter>",
    )


def test_shapes_come_with_the_first_input() -> None:
    layer: Any = nn.LazyLinear(3).double()
    layer(ow.ones(4, 2, dtype=ow.float64)).sum().backward()
    assert (type(layer.weight), layer.weight.shape, layer.weight.grad.dtype) == (nn.Parameter, (3, 2), ow.float64)
    assert layer.weight.numel() == 6
