"""Normalized groups, whose weights stay the same along pieces of rows: pieces beside the sizes that kernels take at a
time, rows in one part and in several, side by side and where they lie.
"""

from __future__ import annotations

from typing import Any

import opweave
import pytest
from opweave.nn import functional

SHAPES = [
    ((9, 4, 8), 2),  # rows side by side
    ((9, 4, 9), 2),
    ((2, 6, 17), 3),
    ((9, 6, 7, 7), 2),
    ((2, 6, 65), 1),
    ((3, 8, 1000), 2),  # rows of several parts, which pieces cross
    ((1, 3, 70001), 1),  # a row that threads share
    ((5, 12), 3),
    ((2, 4, 3, 1), 2),
    ((2, 4, 0), 2),
]


def _numbers(*shape: int, dtype: Any) -> Any:
    return opweave.linspace(-3, 5, int(opweave.ones(shape).numel()), dtype=dtype).mul(37).sin().reshape(shape)


def _formula(input: Any, groups: int, weight: Any, bias: Any) -> Any:
    rows = input.double().reshape(input.size(0), groups, -1)
    centred = rows - rows.mean(-1, keepdim=True)
    normalized = centred / (centred.square().mean(-1, keepdim=True) + 1e-5).sqrt()
    by_channel = [each.double().reshape(-1, *(1,) * (input.ndim - 2)) for each in (weight, bias)]
    return normalized.reshape(input.shape) * by_channel[0] + by_channel[1]


@pytest.mark.parametrize(("shape", "groups"), SHAPES)
def test_groups(shape: tuple[int, ...], groups: int) -> None:
    tensors = [_numbers(*size, dtype=opweave.float32) for size in (shape, shape[1:2], shape[1:2])]
    found = functional.group_norm(tensors[0], groups, *tensors[1:])
    expected = _formula(tensors[0], groups, *tensors[1:])
    opweave.testing.assert_close(found.double(), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("shape", "groups"), SHAPES)
def test_gradients(shape: tuple[int, ...], groups: int) -> None:
    tensors = [_numbers(*size, dtype=opweave.float64).requires_grad_() for size in (shape, shape[1:2], shape[1:2])]
    slope = _numbers(*shape, dtype=opweave.float64).cos()
    found = opweave.autograd.grad(functional.group_norm(tensors[0], groups, *tensors[1:]), tensors, slope)
    expected = opweave.autograd.grad(_formula(tensors[0], groups, *tensors[1:]), tensors, slope)
    opweave.testing.assert_close(found, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(("shape", "groups"), SHAPES[:6])
def test_weights_of_another_dtype(shape: tuple[int, ...], groups: int) -> None:
    input = _numbers(*shape, dtype=opweave.float32)
    weight, bias = (_numbers(shape[1], dtype=opweave.float16) + offset for offset in (2, 0))
    found = functional.group_norm(input, groups, weight, bias)
    opweave.testing.assert_close(found.double(), _formula(input, groups, weight, bias), rtol=1e-5, atol=1e-5)


def test_threads_give_the_same_bits() -> None:
    input, weight, bias = (_numbers(*size, dtype=opweave.float32) for size in ((2, 6, 70001), (6,), (6,)))
    threads, found = opweave.get_num_threads(), []
    for count in (1, 2):
        opweave.set_num_threads(count)
        found.append(functional.group_norm(input, 2, weight, bias))
    opweave.set_num_threads(threads)
    assert found[0].equal(found[1])


def test_dimensions_between_pieces() -> None:
    """Weights that follow several dimensions of a row, which are not one in memory."""
    rows = _numbers(3, 4, 5, 16, dtype=opweave.float32)
    weight, bias = (_numbers(4, 5, dtype=opweave.float32).T.contiguous().T.unsqueeze(-1) + offset for offset in (2, 0))
    found, centre, *_ = opweave._dispatch.ops.ops.normalized_groups(rows, weight, bias, [1, 2, 3], True, 1e-5)
    normalized = (rows - centre) / (rows.var([1, 2, 3], correction=0, keepdim=True) + 1e-5).sqrt()
    opweave.testing.assert_close(found, normalized * weight + bias)
