"""Pooling, unfold and fold: values, first and second gradients, options and errors, beside torch's."""

from __future__ import annotations

import pytest
from harness.programs import check

GRADIENTS = """
F.avg_pool1d(a[0], 3, 2, 1)
F.avg_pool2d(a, 2)
F.avg_pool2d(a, 3, 2, 1, ceil_mode=True)
F.avg_pool2d(a, (3, 2), 2, 1, count_include_pad=False)
F.avg_pool2d(a, 2, 3, ceil_mode=True, count_include_pad=False)
F.avg_pool2d(a, 2, divisor_override=3)
F.avg_pool3d(a, 2, 1)
F.max_pool1d(a[0], 3, 2, 1)
F.max_pool2d(a, 2)
F.max_pool2d(a, 3, 1, 1)
F.max_pool2d(a, 2, 2, 1, dilation=2, ceil_mode=True)
F.max_pool3d(a, 2, 1)
F.adaptive_avg_pool1d(a[0], 3)
F.adaptive_avg_pool2d(a, 1)
F.adaptive_avg_pool2d(a, (5, None))
F.adaptive_avg_pool2d(a, (7, 4))
F.adaptive_avg_pool3d(a, 2)
F.adaptive_max_pool1d(a[0], 3)
F.adaptive_max_pool2d(a, (5, 4))
F.adaptive_max_pool3d(a, 2)
F.lp_pool2d(a, 2, 3, 2)
F.lp_pool1d(a[0] + 2, 3.0, 2)
F.lp_pool3d(a, 2, 2)
F.unfold(a, (3, 2), dilation=2, padding=1, stride=(1, 2))
F.fold(a.reshape(2, 12, 15), (4, 6), 2)
F.fold(a.reshape(2, 12, 15), (5, 3), (2, 1))
"""


@pytest.mark.parametrize("call", GRADIENTS.strip().splitlines())
def test_values_and_gradients(call: str) -> None:
    check(
        f"""
a = g(2, 3, 6, 10, dtype='float64')
y = {call}
first, = L.autograd.grad((y * y * x(*y.shape, dtype='float64', step=0.3)).sum(), a, create_graph=True)
second, = L.autograd.grad((first * x(2, 3, 6, 10, dtype='float64', step=0.5)).sum(), a)
y, first, second
"""
    )


CALLS = """
F.max_pool1d(x(3, 9), 3, 2, 1, return_indices=True)
F.max_pool2d(x(3, 9, 35), 3, 2, 1, return_indices=True)
F.max_pool2d(x(3, 9, 35), 2, return_indices=True, ceil_mode=True)
F.max_pool3d(x(3, 4, 5, 6), 2, 1, return_indices=True)
F.max_pool2d(L.tensor([[[1.0, float('nan')], [3.0, float('-inf')]]]), 2, return_indices=True)
F.max_pool2d(L.full((1, 3, 3), float('-inf')), 2, return_indices=True)
F.max_pool2d(i(9, 1, 4, 4), 2)
F.adaptive_max_pool2d(x(3, 9, 7), (4, 3), return_indices=True)
F.adaptive_max_pool1d(x(3, 9), 4, return_indices=True)
F.adaptive_max_pool3d(x(3, 4, 5, 6), 3, return_indices=True)
F.avg_pool2d(x(2, 3, 40, 70).bfloat16(), 3, 2, 1)
F.avg_pool2d(x(3, 40, 70).transpose(1, 2), 2)
F.adaptive_avg_pool2d(x(1, 4, 5, 5), 0)
F.avg_pool2d(x(0, 4, 5, 5), 2)
L.max_pool2d(x(1, 2, 4, 4), 2)
L.max_pool1d(x(2, 9), 2, None)
L.max_pool1d_with_indices(x(2, 9), 2, None, 1)
L.max_pool2d(x(1, 2, 4, 4), 2, None)
L.max_pool3d(x(1, 2, 4, 4, 4), 3, None, ceil_mode=True)
L.avg_pool1d(x(2, 9), 2, None)
L.avg_pool1d(x(2, 9), 2, 1, None)
L.avg_pool1d(x(2, 9), None)
F.avg_pool2d(x(1, 4, 5, 5), 2, None, 1)
F.avg_pool2d(x(1, 4, 5, 5), 2, stride=[])
F.avg_pool3d(x(1, 4, 5, 5, 5), 2, stride=None)
x(3, 4).amax(None), x(3, 4).amin(dim=None)
L.adaptive_max_pool1d(x(2, 9), 4)
L.avg_pool1d(x(2, 9), 2)
F.avg_pool2d(x(1, 4, 5, 5), 2, 0)
F.avg_pool2d(x(1, 4, 5, 5), 3, 1, 2)
F.avg_pool2d(x(1, 4, 5, 5), 7)
F.avg_pool2d(x(1, 4, 5, 5), (2, 2, 2))
F.avg_pool2d(x(1, 4, 5, 5), 2, divisor_override=0)
F.avg_pool2d(x(1, 4, 5, 5), 2, padding=-1)
F.avg_pool2d(x(1, 0, 5, 5), 2)
F.max_pool2d(x(1, 4, 5, 5), 3, 1, 2)
F.max_pool2d(x(1, 4, 5, 5), 7)
F.max_pool1d(x(4, 9), 3, 1, 2)
F.max_pool1d(x(4, 9), 3, 1, 2, 2)
F.max_pool1d(x(4, 9), 3, 1, -1)
F.max_pool1d(x(4, 9), 3, 0)
F.max_pool1d(x(4, 3), 2, 2, 0, 3)
F.max_pool1d(x(4, 9), 3, 1, 2, 2, return_indices=True)
F.max_pool2d(x(1, 4, 9, 9), 3, 1, 2, 2)
F.max_pool2d(x(1, 4, 9, 9), (3, 2), 1, (1, 2), (1, 3))
F.max_pool3d(x(1, 4, 9, 9, 9), (3, 2, 2), 1, (1, 1, 2), 3)
F.max_pool2d(x(1, 4, 5, 5), 2, padding=-1)
F.adaptive_avg_pool2d(x(5, 5), 2)
F.adaptive_avg_pool2d(x(1, 4, 5, 5), -1)
F.adaptive_avg_pool2d(x(1, 2, 0, 3), 2)
F.max_pool1d_with_indices(x(3, 9), 3)
F.max_pool2d_with_indices(x(3, 9, 9), 3)
F.max_pool3d_with_indices(x(1, 3, 9, 9), (1, 2, 3))
F.adaptive_max_pool1d_with_indices(x(3, 9), 2)
F.adaptive_max_pool2d_with_indices(x(3, 9, 7), 2)
F.adaptive_max_pool3d_with_indices(x(1, 3, 9, 7), 2)
L.max_pool1d_with_indices(x(3, 9), 2)
F.fold(x(1, 13, 9), (4, 4), 2)
F.fold(x(1, 12, 8), (4, 4), 2)
F.unfold(x(1, 4, 5, 5), 7)
"""


@pytest.mark.parametrize("call", CALLS.strip().splitlines())
def test_calls(call: str) -> None:
    check(call)
