"""Attention, images of other sizes, pooling and tables are operators made of others, which rules and modes see."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import opweave
import pytest
from opweave.func import grad, jvp, vmap
from opweave.nn import functional as F  # noqa: N812
from opweave.overrides import TorchFunctionMode
from opweave.utils._python_dispatch import TorchDispatchMode

CONSTANT = opweave.linspace(-1, 1, 2 * 4 * 6, dtype=opweave.float64).reshape(2, 4, 6)
SEEN = CONSTANT[0, :, :4] < 0.5
INDICES = opweave.tensor([0, 1, 1, 3])

LAYERS: dict[str, Callable[[Any], Any]] = {
    "attention": lambda x: F.scaled_dot_product_attention(x, x.cos(), x.sin()),
    "causal attention": lambda x: F.scaled_dot_product_attention(x, x.cos(), x.sin(), is_causal=True),
    "attention of constant keys": lambda x: F.scaled_dot_product_attention(x, CONSTANT, CONSTANT, SEEN),
    "attention with a mask": lambda x: F.scaled_dot_product_attention(CONSTANT, CONSTANT, x, x[0, :, :4]),
    "interpolate": lambda x: F.interpolate(x, 9, mode="linear"),
    "nearest": lambda x: F.interpolate(x, scale_factor=1.5),
    "antialias": lambda x: F.interpolate(x.unsqueeze(0), (3, 4), mode="bicubic", antialias=True),
    "grid_sample": lambda x: F.grid_sample(x.unsqueeze(0), x[:, :2, :2].unsqueeze(0).tanh(), align_corners=True),
    "affine_grid": lambda x: F.affine_grid(x[:, :2, :3], (2, 1, 3, 4), align_corners=False),
    "pixel_shuffle": lambda x: F.pixel_shuffle(x.reshape(4, 3, 4), 2),
    "channel_shuffle": lambda x: F.channel_shuffle(x, 2),
    "max_pool1d": lambda x: F.max_pool1d(x, 2),
    "max_unpool1d": lambda x: F.max_unpool1d(*F.max_pool1d(x, 2, return_indices=True), 2),
    "lp_pool1d": lambda x: F.lp_pool1d(x, 2, 3),
    "instance_norm": F.instance_norm,
    "local_response_norm": lambda x: F.local_response_norm(x, 3),
    "bilinear": lambda x: F.bilinear(x, x.cos(), opweave.ones(2, 6, 6, dtype=x.dtype)),
    "embedding_bag": lambda x: F.embedding_bag(INDICES, x[0], opweave.tensor([0, 2])),
    "largest of bags": lambda x: F.embedding_bag(INDICES, x[0], opweave.tensor([0, 2]), mode="max"),
}
layers = pytest.mark.parametrize("name", LAYERS)


def values(count: int) -> Any:
    opweave.manual_seed(0)
    return opweave.randn(count, 2, 4, 6, dtype=opweave.float64)


def of_squares(name: str) -> Callable[[Any], Any]:
    return lambda x: LAYERS[name](x).square().sum()


@layers
def test_samples(name: str) -> None:
    x = values(3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # as where an operator is called for each sample
        opweave.testing.assert_close(vmap(LAYERS[name])(x), opweave.stack(list(map(LAYERS[name], x))))
        slopes = opweave.stack(list(map(grad(of_squares(name)), x)))
        opweave.testing.assert_close(vmap(grad(of_squares(name)))(x), slopes)


@layers
def test_tangents(name: str) -> None:
    x, direction = values(2)
    _, change = jvp(of_squares(name), (x,), (direction,))
    opweave.testing.assert_close(change, (grad(of_squares(name))(x) * direction).sum())


class Seen(TorchFunctionMode):
    """The functions that are called."""

    def __init__(self) -> None:
        super().__init__()
        self.functions: list[Any] = []

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.functions.append(func)
        return func(*args, **(kwargs or {}))


class Operators(TorchDispatchMode):
    """The names of the operators that run."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.names.append(func.overloadpacket.__name__)
        return func(*args, **(kwargs or {}))


def test_modes_see_one_function_and_the_operators_that_it_is_made_of() -> None:
    x = values(1)[0]
    with Seen() as seen:
        F.interpolate(x, 3)
    assert seen.functions == [F.interpolate]
    with Operators() as operators:
        F.interpolate(x, 3)
        F.scaled_dot_product_attention(x, x, x)
    assert {"index_select", "blockwise_attention"} <= {*operators.names}
    assert not {"interpolate", "scaled_dot_product_attention"} & {*operators.names}
