"""Gradients of convolutions of each channel. Of those by the image, lines of one remainder of the stride are computed
several at a time; those by the weights are long sums for short lines, so lanes run along the sums."""

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


@pytest.mark.parametrize("stride", [(1, 1), (2, 2), (3, 2), (1, 4)])
@pytest.mark.parametrize("dilation", [(1, 1), (2, 3)])
@pytest.mark.parametrize("padding", [(0, 0), (1, 2), (4, 6)])
@pytest.mark.parametrize("size", [(40, 40), (13, 11), (9, 100), (30, 15)])
@pytest.mark.parametrize("results", [1, 3, 5])
def test_weights_of_each_channel(stride, dilation, padding, size, results) -> None:
    dtype = ow.float64 if results == 3 else ow.float32
    image, kernel = ow.randn(3, 5, *size, dtype=dtype), (2, 3)
    weight = ow.randn(5 * results, 1, *kernel, dtype=dtype, requires_grad=True)
    result = ow.conv2d(image, weight, None, stride, padding, dilation, 5)
    grad = ow.randn(*result.shape, dtype=dtype)
    result.backward(grad)
    whole = np.pad(image.double().numpy(), [(0, 0), (0, 0), (padding[0],) * 2, (padding[1],) * 2])
    whole = whole.repeat(results, 1)
    rows, columns = result.shape[2:]
    expected = np.zeros(weight.shape)
    for i, j in np.ndindex(kernel):
        y, x = i * dilation[0], j * dilation[1]
        ends = y + (rows - 1) * stride[0] + 1, x + (columns - 1) * stride[1] + 1
        windows = whole[:, :, y : ends[0] : stride[0], x : ends[1] : stride[1]]
        expected[:, 0, i, j] = (grad.double().numpy() * windows).sum((0, 2, 3))
    np.testing.assert_allclose(weight.grad.numpy(), expected, rtol=2e-5, atol=2e-4)


@pytest.mark.parametrize("taps", [3, 9, 30])
def test_weights_of_signals(taps) -> None:
    signal, weight = ow.randn(2, 4, 200), ow.randn(4, 1, taps, requires_grad=True)
    result = ow.conv1d(signal, weight, groups=4)
    grad = ow.randn(*result.shape)
    result.backward(grad)
    windows = np.lib.stride_tricks.sliding_window_view(signal.double().numpy(), result.size(-1), 2)
    expected = np.einsum("nckx,ncx->ck", windows, grad.double().numpy())
    np.testing.assert_allclose(weight.grad.numpy()[:, 0], expected, rtol=2e-5, atol=1e-4)


def test_infinity_behind_lines_is_no_term() -> None:
    """Vectors at the ends of lines reach into the next ones."""
    image, weight = ow.ones(1, 1, 12, 16), ow.ones(1, 1, 3, 3, requires_grad=True)
    image[..., 13:] = float("inf")
    grad = ow.ones(1, 1, 10, 14)
    grad[..., 11:] = 0
    ow.conv2d(image[..., :13], weight).backward(grad[..., :11])
    assert (weight.grad == 110).all()
    by_zero = ow.autograd.grad(ow.conv2d(image, weight), weight, grad)[0]
    assert by_zero.isnan().all()


def test_results_do_not_depend_on_threads() -> None:
    grad, image = ow.randn(3, 8, 37, 41), ow.randn(3, 8, 76, 84)
    weight = ow.randn(8, 1, 5, 5, requires_grad=True)
    threads = ow.get_num_threads()
    found = []
    for count in (1, 2, 3):
        ow.set_num_threads(count)
        by_weight = ow.autograd.grad(ow.conv2d(image, weight, stride=2, padding=1, groups=8), weight, grad)
        found.append((ow.conv_transpose2d(grad, weight, stride=2, padding=1, groups=8), *by_weight))
    ow.set_num_threads(threads)
    assert all(ow.equal(*pair) for each in found for pair in zip(each, found[0], strict=True))
