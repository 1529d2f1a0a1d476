"""Convolutions of quantized tensors are the rounded ones of the numbers that these stand for."""

from __future__ import annotations

from typing import Any

import opweave as ow
import pytest
from opweave.ao.nn.quantized import functional as Q  # noqa: N812 (as F)

CASES: list[tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]] = [
    ((2, 33, 40), (5, 33, 3), {"padding": 1}),
    ((3, 16, 9, 12), (40, 16, 3, 3), {"padding": 1, "stride": (2, 1)}),
    ((1, 70, 8, 8), (33, 70, 2, 3), {"dilation": (1, 2), "padding": (0, 1)}),
    ((2, 64, 7, 7), (32, 64, 1, 1), {}),
    ((1, 12, 5, 6, 7), (8, 12, 3, 2, 3), {"padding": 1}),
    ((2, 12, 9, 9), (8, 6, 3, 3), {"groups": 2}),
]


@pytest.mark.parametrize(("image", "kernel", "options"), CASES)
@pytest.mark.parametrize("by_channel", [False, True])
@pytest.mark.parametrize("dtype", [ow.quint8, ow.qint8])
def test_values(image: tuple[int, ...], kernel: tuple[int, ...], options: Any, by_channel: bool, dtype: Any) -> None:
    """Values are within a step of those of float64, whatever the zero points; channels are last in memory."""
    dims = len(image) - 2
    x = ow.quantize_per_tensor(ow.randn(image), 0.05, 37 if dtype is ow.quint8 else -5, dtype)
    w, bias = 0.3 * ow.randn(kernel), ow.randn(kernel[0])
    if by_channel:
        scales, zeros = ow.linspace(0.005, 0.02, kernel[0]), ow.arange(kernel[0]) % 3
        weight = ow.quantize_per_channel(w, scales.double(), zeros, 0, ow.qint8)
    else:
        weight = ow.quantize_per_tensor(w, 0.01, 3, ow.qint8)
    found = getattr(Q, f"conv{dims}d")(x, weight, bias, scale=0.1, zero_point=90, **options)
    convolve = getattr(ow.nn.functional, f"conv{dims}d")
    exact = convolve(x.dequantize().double(), weight.dequantize().double(), bias.double(), **options)
    expected = (exact / 0.1).round().add(90).clamp(*((0, 255) if dtype is ow.quint8 else (-128, 127)))
    assert (found.q_scale(), found.q_zero_point(), found.dtype) == (0.1, 90, dtype)
    assert found.shape == exact.shape
    assert (found.int_repr().double() - expected).abs().max() <= 1
    if "groups" not in options:
        assert found.stride(1) == 1


def test_errors() -> None:
    """Mistakes are told as those of convolutions of numbers."""
    x = ow.quantize_per_tensor(ow.ones(1, 3, 4, 4), 0.1, 0, ow.quint8)
    weight = ow.quantize_per_tensor(ow.ones(2, 4, 3, 3), 0.1, 0, ow.qint8)
    with pytest.raises(RuntimeError, match="expected input"):
        Q.conv2d(x, weight, None)
    with pytest.raises(RuntimeError, match="Kernel size can't be greater"):
        Q.conv2d(x, ow.quantize_per_tensor(ow.ones(2, 3, 5, 5), 0.1, 0, ow.qint8), None)
