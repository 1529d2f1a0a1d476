"""Modules at the ends of a quantized part of a model."""

from __future__ import annotations

from typing import Any

from ...._base.dtypes import dtype as dtype_class
from ...._representations.quantized.creation import quantize_per_tensor
from ...._tensor.construct import tensor
from ....nn import Module

__all__ = ["DeQuantize", "Quantize"]


class Quantize(Module):
    """Quantizes a float tensor.

    Args:
        scale (float), zero_point (int): of the result.
        dtype: of the result.
    """

    def __init__(self, scale: float, zero_point: int, dtype: dtype_class, factory_kwargs: Any = None) -> None:
        super().__init__()
        self.register_buffer("scale", tensor([scale], **(factory_kwargs or {})))
        self.register_buffer("zero_point", tensor([zero_point], **(factory_kwargs or {})))
        self.dtype = dtype

    def forward(self, X: Any) -> Any:  # noqa: N803 (torch's name)
        """Return the quantized tensor of a float tensor, of the same shape."""
        return quantize_per_tensor(X, float(self.scale), int(self.zero_point), self.dtype)

    @staticmethod
    def from_float(mod: Any, use_precomputed_fake_quant: bool = False) -> Quantize:
        """The counterpart of a QuantStub whose tensors were observed."""
        observer = mod.activation_post_process
        scale, zero_point = observer.calculate_qparams()
        return Quantize(scale.item(), int(zero_point), observer.dtype)

    def extra_repr(self) -> str:
        """Return scale, zero point and dtype."""
        return f"scale={self.scale}, zero_point={self.zero_point}, dtype={self.dtype}"


class DeQuantize(Module):
    """Dequantizes a quantized tensor."""

    def forward(self, Xq: Any) -> Any:  # noqa: N803 (torch's name)
        """Return the float32 tensor that a quantized tensor stands for, of the same shape."""
        return Xq.dequantize()

    @staticmethod
    def from_float(mod: Any, use_precomputed_fake_quant: bool = False) -> DeQuantize:
        """The counterpart of a DeQuantStub."""
        return DeQuantize()
