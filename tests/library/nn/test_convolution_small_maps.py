"""Gradients of the weights of convolutions whose results have few positions: products of several images at once."""

from __future__ import annotations

import numpy as np
import opweave
import pytest

F = opweave.nn.functional

CASES = [
    # images, channels, results, kernel, size of the images, stride, groups
    (8, 16, 24, 3, 2, 1, 1),
    (70, 16, 24, 3, 2, 1, 1),  # more images than one product sums, and a rest
    (150, 8, 16, 3, 1, 1, 1),
    (9, 16, 32, 1, 4, 2, 1),
    (5, 16, 24, 3, 5, 2, 2),
    (1, 64, 64, 3, 2, 1, 1),
    (3, 32, 32, 2, 13, 1, 1),  # images too large to be joined
]


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
def test_gradients_of_weights_are_sums_over_all_images(dtype: str) -> None:
    """Compared with NumPy's product of all windows, in double precision."""
    for images, channels, results, kernel, size, stride, groups in CASES:
        for memory_format in (opweave.contiguous_format, opweave.channels_last):
            random = np.random.default_rng(size)
            margin = kernel // 2
            x = _numbers(random, dtype, (images, channels, size, size))
            w = opweave.tensor(
                _numbers(random, dtype, (results, channels // groups, kernel, kernel)), requires_grad=True
            )
            y = F.conv2d(
                opweave.tensor(x).to(memory_format=memory_format), w, stride=stride, padding=margin, groups=groups
            )
            g = _numbers(random, dtype, y.shape)
            y.backward(opweave.tensor(g))
            padded = np.pad(x.conj(), [(0, 0), (0, 0), (margin, margin), (margin, margin)])
            windows = np.lib.stride_tricks.sliding_window_view(padded, (kernel, kernel), (2, 3))[
                :, :, ::stride, ::stride
            ]
            parts = [
                np.einsum("noyx,ncyxij->ocij", of_g, of_windows, dtype="complex128", optimize=True)
                for of_g, of_windows in zip(np.split(g, groups, 1), np.split(windows, groups, 1), strict=True)
            ]
            expected = np.concatenate(parts)
            case = (images, channels, results, kernel, size, stride, groups, memory_format)
            error = np.abs(w.grad.numpy() - expected).max() / np.abs(expected).max()
            assert error < (1e-13 if dtype == "float64" else 1e-5), case


def _numbers(random: np.random.Generator, dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    numbers = random.standard_normal(shape)
    return (numbers + 1j * random.standard_normal(shape) if dtype.startswith("complex") else numbers).astype(dtype)
