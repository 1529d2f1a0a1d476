"""Derivatives of Fourier transforms: each is linear, and the gradient goes through its adjoint, which is the transform
in the other direction, divided by the same number. A transform of real numbers gives half of their spectrum:
frequencies inside of it stand for two.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..._dispatch.ops import ops

__all__ = ["complex_transform_backward", "hermitian_transform_backward", "real_transform_backward"]


def complex_transform_backward(grad: Any, dims: Sequence[int], normalization: int, forward: bool) -> Any:
    """Return the gradient of a complex transform: the transform in the other direction."""
    return ops.fft_c2c(grad, dims, normalization, not forward)


def real_transform_backward(
    grad: Any, shape: Sequence[int], dims: Sequence[int], normalization: int, onesided: bool
) -> Any:
    """Gradient of the real input of `fft_r2c`."""
    if not onesided:
        return ops.fft_c2c(grad, dims, normalization, False).real
    size = shape[dims[-1]]
    return ops.fft_c2r(_inside_times(grad, dims[-1], size, 0.5), dims, normalization, size)


def hermitian_transform_backward(grad: Any, dims: Sequence[int], normalization: int, size: int) -> Any:
    """Gradient of the complex input of `fft_c2r`, whose result has `size` elements along the last
    dimension.
    """
    return _inside_times(ops.fft_r2c(grad, dims, normalization, True), dims[-1], size, 2)


def _inside_times(spectrum: Any, dim: int, size: int, factor: float) -> Any:
    """Multiply by `factor` the frequencies of a half spectrum of `size` real numbers that have a mirror image."""
    weights = spectrum.new_ones(spectrum.size(dim), dtype=spectrum.dtype.to_real())
    weights.narrow(0, 1, (size - 1) // 2).fill_(factor)
    return spectrum * weights.reshape([-1 if position == dim else 1 for position in range(spectrum.ndim)])
