"""Convolutions and their gradients as products of matrices, beside sums of all terms in double precision."""

from __future__ import annotations

from typing import Any

import numpy as np
import opweave
import pytest

F = opweave.nn.functional
inf, nan = float("inf"), float("nan")

CASES = [
    # images, channels, results, kernel, size of the images, stride, padding, dilation, groups
    (1, 16, 8, 3, 7, 1, 1, 1, 1),
    (2, 16, 9, 3, 4, 1, 1, 1, 1),  # 16 columns of each image
    (3, 13, 7, 3, 5, 1, 0, 1, 1),  # 9 columns: those of all images are one matrix
    (1, 17, 65, 1, 7, 1, 0, 1, 1),
    (2, 30, 33, 3, 17, 1, 1, 1, 1),  # sums of 270 terms, more than one panel has rows
    (2, 8, 24, 3, 9, 2, 1, 1, 2),
    (2, 8, 8, 3, 12, 1, 3, 2, 1),
    (1, 4, 130, 2, 16, 1, 0, 1, 1),
    (5, 64, 64, 3, 2, 1, 1, 1, 1),
    (9, 16, 32, 1, 4, 2, 0, 1, 1),
    (2, 16, 16, 5, 1, 1, 2, 1, 1),  # images smaller than the margins
    (1, 4, 4, 3, 3, 1, 40, 1, 1),  # more margin than image
]


def _numbers(seed: int, dtype: str, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    random = np.random.default_rng(seed)
    numbers = random.standard_normal(shape)
    return (numbers + 1j * random.standard_normal(shape) if dtype.startswith("complex") else numbers).astype(dtype)


def _windows(x: np.ndarray[Any, Any], kernel: int, stride: int, padding: int, dilation: int) -> np.ndarray[Any, Any]:
    padded = np.pad(x, [(0, 0), (0, 0), (padding, padding), (padding, padding)])
    extent = (kernel - 1) * dilation + 1
    all_windows = np.lib.stride_tricks.sliding_window_view(padded, (extent, extent), (2, 3))
    return all_windows[:, :, ::stride, ::stride, ::dilation, ::dilation]


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
@pytest.mark.parametrize("order", [opweave.contiguous_format, opweave.channels_last])
def test_values_and_gradients(dtype: str, order: Any) -> None:
    for case in CASES:
        images, channels, results, kernel, size, stride, padding, dilation, groups = case
        x = _numbers(1, dtype, (images, channels, size, size))
        w, b = _numbers(2, dtype, (results, channels // groups, kernel, kernel)), _numbers(3, dtype, (results,))
        given = opweave.tensor(x).to(memory_format=order).requires_grad_()
        weight, bias = (opweave.tensor(each).requires_grad_() for each in (w, b))
        y = F.conv2d(given, weight, bias, stride, padding, dilation, groups)
        g = _numbers(4, dtype, y.shape)
        y.backward(opweave.tensor(g).to(memory_format=order))

        wide = "complex128" if dtype.startswith("complex") else "float64"
        windows = np.split(_windows(x.astype(wide), kernel, stride, padding, dilation), groups, 1)
        weights, gradients = np.split(w.astype(wide), groups), np.split(g.astype(wide), groups, 1)
        pairs = list(zip(windows, weights, strict=True))
        expected = np.concatenate([np.einsum("ncyxij,ocij->noyx", *each) for each in pairs], 1) + b[:, None, None]
        of_weights = np.concatenate(
            [np.einsum("ncyxij,noyx->ocij", a.conj(), o) for a, o in zip(windows, gradients, strict=True)]
        )
        spread = np.zeros((images, channels, size + 2 * padding, size + 2 * padding), wide)
        parts = [np.einsum("ocij,noyx->ncyxij", a.conj(), o) for a, o in zip(weights, gradients, strict=True)]
        of_windows = np.concatenate(parts, 1)
        rows, lines = y.shape[2:]
        for i in range(kernel):
            for j in range(kernel):
                at = np.s_[:, :, i * dilation :, j * dilation :]
                spread[at][:, :, : (rows - 1) * stride + 1 : stride, : (lines - 1) * stride + 1 : stride] += of_windows[
                    ..., i, j
                ]
        of_images = spread[:, :, padding : padding + size, padding : padding + size]
        for found, right in ((y, expected), (given.grad, of_images), (weight.grad, of_weights)):
            error = np.abs(found.detach().numpy() - right).max() / max(1, np.abs(right).max())
            assert error < (1e-13 if dtype == "float64" else 1e-5), case


def test_results_do_not_depend_on_threads() -> None:
    before = opweave.get_num_threads()
    try:
        for case in CASES:
            images, channels, results, kernel, size, stride, padding, dilation, groups = case
            found = []
            for threads in (1, 2, 3):
                opweave.set_num_threads(threads)
                x = opweave.tensor(_numbers(1, "float32", (images, channels, size, size))).requires_grad_()
                w = opweave.tensor(
                    _numbers(2, "float32", (results, channels // groups, kernel, kernel))
                ).requires_grad_()
                y = F.conv2d(x, w, None, stride, padding, dilation, groups)
                y.backward(y.detach())
                found.append((y, x.grad, w.grad))
            for other in found[1:]:
                assert all(opweave.equal(one, two) for one, two in zip(found[0], other, strict=True)), case
    finally:
        opweave.set_num_threads(before)


def test_infinity_in_weights_beside_padding() -> None:
    """What is outside of an image is left out, whatever it would be multiplied by."""
    x = opweave.ones(1, 16, 4, 4).requires_grad_()
    w = opweave.ones(16, 16, 3, 3)
    w[:, :, 0, 0] = inf
    y = F.conv2d(x, w, padding=1)
    expected = [[4, 6, 6, 4], [6, inf, inf, inf], [6, inf, inf, inf], [4, inf, inf, inf]]
    assert y[0, 0].tolist() == [[each * 16 for each in row] for row in expected]
    y.backward(opweave.ones_like(y))
    expected = [[inf, inf, inf, 4], [inf, inf, inf, 6], [inf, inf, inf, 6], [4, 6, 6, 4]]
    assert x.grad[0, 0].tolist() == [[each * 16 for each in row] for row in expected]


def _terms(x: Any, w: Any, g: Any, stride: int, padding: int, groups: int) -> list[np.ndarray[Any, Any]]:
    """The convolution and its gradients by the image and the weights, of the terms inside of the image alone."""
    (count, _, *sizes), (results, each, kernel, _) = x.shape, w.shape
    x, g = x.reshape(count, groups, each, *sizes), g.reshape(count, groups, results // groups, *g.shape[2:])
    w = w.reshape(groups, results // groups, each, kernel, kernel)
    found = [np.zeros_like(each) for each in (g, x, w)]
    for p, q, i, j in np.ndindex(*g.shape[3:], kernel, kernel):
        row, column = p * stride + i - padding, q * stride + j - padding
        if 0 <= row < sizes[0] and 0 <= column < sizes[1]:
            found[0][..., p, q] += np.einsum("ngc,goc->ngo", x[..., row, column], w[..., i, j])
            found[1][..., row, column] += np.einsum("ngo,goc->ngc", g[..., p, q], w[..., i, j])
            found[2][..., i, j] += np.einsum("ngo,ngc->goc", g[..., p, q], x[..., row, column])
    return [each.reshape(count, -1, *each.shape[3:]) for each in found[:2]] + [
        found[2].reshape(results, -1, kernel, kernel)
    ]


@pytest.mark.parametrize("order", [opweave.contiguous_format, opweave.channels_last])
@pytest.mark.parametrize("where", ["image", "weights", "gradient", "transposed"])
def test_infinity_is_multiplied_by_no_padding(where: str, order: Any) -> None:
    for channels, results, kernel, size, stride, padding, groups in (
        (16, 16, 3, 4, 1, 1, 1),
        (16, 16, 3, 9, 2, 1, 1),
        (3, 2, 3, 5, 1, 2, 1),
        (16, 16, 3, 6, 1, 1, 16),
        (16, 16, 5, 8, 2, 2, 16),
        (8, 12, 3, 17, 1, 1, 4),
    ):
        after = (size + 2 * padding - kernel) // stride + 1
        shapes = (2, channels, size, size), (results, channels // groups, kernel, kernel), (2, results, after, after)
        x, w, g = (_numbers(place, "float64", shape) for place, shape in enumerate(shapes))
        {"image": x, "gradient": g}.get(where, w)[0, 0, 0, -1] = inf
        expected = _terms(x, w, g, stride, padding, groups)
        given, weight = (opweave.tensor(each).to(memory_format=order).requires_grad_() for each in (x, w))
        if where == "transposed":
            over = (size + 2 * padding - kernel) % stride
            y = F.conv_transpose2d(
                opweave.tensor(g).to(memory_format=order), weight, None, stride, padding, over, groups
            )
            pairs = [(y, expected[1])]
        else:
            y = F.conv2d(given, weight, None, stride, padding, 1, groups)
            y.backward(opweave.tensor(g).to(memory_format=order))
            pairs = list(zip((y, given.grad, weight.grad), expected, strict=True))
        for found, right in pairs:
            np.testing.assert_allclose(found.detach().numpy(), right, rtol=1e-10, atol=1e-10)


def test_nan_stays_in_its_windows() -> None:
    x = opweave.ones(2, 16, 9, 9)
    x[1, 3, 4, 4] = nan
    y = F.conv2d(x, opweave.ones(16, 16, 3, 3), padding=1)
    assert not y[0].isnan().any()
    assert y[1].isnan().sum() == 16 * 9
