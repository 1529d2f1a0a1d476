"""Gradients of convolutions by the image: lines of one remainder of the stride are computed several at a time."""

from __future__ import annotations

import numpy as np
import opweave as ow
import pytest


def _gradient(grad: np.ndarray, weight: np.ndarray, stride, padding, dilation, size: tuple[int, int]) -> np.ndarray:
    """Each element of `grad` times the weights of its channel, added where its window lies."""
    batch, channels, rows, columns = grad.shape
    margins = [
        2 * margin + gap * extent for margin, gap, extent in zip(padding, dilation, weight.shape[2:], strict=True)
    ]
    whole = np.zeros((batch, channels, size[0] + margins[0], size[1] + margins[1]))
    for i, j in np.ndindex(*weight.shape[2:]):
        y, x = i * dilation[0], j * dilation[1]
        ends = y + (rows - 1) * stride[0] + 1, x + (columns - 1) * stride[1] + 1
        whole[:, :, y : ends[0] : stride[0], x : ends[1] : stride[1]] += grad * weight[:, 0, i, j].reshape(-1, 1, 1)
    return whole[:, :, padding[0] : padding[0] + size[0], padding[1] : padding[1] + size[1]]


@pytest.mark.parametrize("stride", [(1, 1), (2, 2), (3, 3), (1, 2), (2, 1), (3, 2), (5, 4)])
@pytest.mark.parametrize("dilation", [(1, 1), (2, 3)])
@pytest.mark.parametrize("size", [(40, 40), (13, 9), (64, 17), (7, 300)])
@pytest.mark.parametrize("dtype", [ow.float32, ow.float64])
def test_each_channel_of_its_own(stride, dilation, size, dtype) -> None:
    padding, channels = (1, 2), 6
    image = ow.rand(2, channels, *size, dtype=dtype, requires_grad=True)
    weight = ow.randn(channels, 1, 3, 2, dtype=dtype)
    result = ow.conv2d(image, weight, None, stride, padding, dilation, channels)
    grad = ow.randn(*result.shape, dtype=dtype)
    result.backward(grad)
    expected = _gradient(grad.double().numpy(), weight.double().numpy(), stride, padding, dilation, size)
    np.testing.assert_allclose(image.grad.numpy(), expected, rtol=2e-5, atol=2e-5)


def test_results_do_not_depend_on_threads() -> None:
    grad, weight = ow.randn(3, 8, 37, 41), ow.randn(8, 1, 5, 5)
    threads = ow.get_num_threads()
    found = []
    for count in (1, 2, 3):
        ow.set_num_threads(count)
        found.append(ow.conv_transpose2d(grad, weight, stride=2, padding=1, groups=8))
    ow.set_num_threads(threads)
    assert all(ow.equal(each, found[0]) for each in found)
