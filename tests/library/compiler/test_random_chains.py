"""Chains of operators that are drawn at random give the same bits compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import opweave
from compiled_calls import check
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

SHAPES = ((4, 5), (5,), (1, 5), (4, 1), ())
DTYPES = (opweave.float32, opweave.float64, opweave.int64, opweave.uint8, opweave.bool)
UNARY: tuple[Callable[[Any], Any], ...] = (
    lambda x: x.neg() if x.dtype is not opweave.bool else ~x,
    lambda x: x.sigmoid(),
    lambda x: opweave.tanh(x),
    lambda x: x.abs() if x.dtype is not opweave.bool else x,
    lambda x: x.float().exp().clamp(max=100),
    lambda x: opweave.where(x > 1, x, 0),
    lambda x: x.t() if x.ndim == 2 else x.unsqueeze(0),
    lambda x: x[..., 1:] if x.ndim and x.shape[-1] > 2 else x,
    lambda x: x.sum(-1, keepdim=True),
    lambda x: x.float().softmax(0),
    lambda x: x.clone().mul_(1).t_() if x.ndim == 2 else x,
    lambda x: x.double(),
)
BINARY: tuple[Callable[[Any, Any], Any], ...] = (
    lambda x, y: x + y,
    lambda x, y: x * y,
    lambda x, y: x / (y.abs() + 1),
    lambda x, y: opweave.maximum(x, y),
    lambda x, y: x >= y,
    lambda x, y: opweave.lerp(x.double(), y.double(), 0.25),
    lambda x, y: (x * 2).add_(1) if x.is_floating_point() else x ^ x,
)


def _fits(x: Any, y: Any) -> bool:
    try:
        opweave.broadcast_shapes(x.shape, y.shape)
    except RuntimeError:
        return False
    return x.dtype is not opweave.bool or y.dtype is not opweave.bool


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.lists(st.tuples(st.sampled_from(SHAPES), st.sampled_from(DTYPES)), min_size=1, max_size=4),
    st.lists(st.tuples(st.integers(0, 1), st.integers(0, 100), st.integers(0, 100), st.integers(0, 100)), max_size=12),
)
def test_chains(inputs: list[Any], steps: list[tuple[int, int, int, int]]) -> None:
    tensors = [
        (opweave.arange(20)[: opweave.Size(shape).numel()].reshape(shape) * 7 % 11 - 3).to(dtype)
        for shape, dtype in inputs
    ]

    def chain(*given: Any) -> Any:
        known = [*given]
        for is_binary, which, first, second in steps:
            x, y = known[first % len(known)], known[second % len(known)]
            if is_binary and _fits(x, y):
                known.append(BINARY[which % len(BINARY)](x, y))
            else:
                known.append(UNARY[which % len(UNARY)](x))
        return known[len(given) :: 2]

    check(chain, *tensors, calls=2, is_recorded=False)
