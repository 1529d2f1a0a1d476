"""Linear maps with a quantized weight."""

from __future__ import annotations

from typing import Any

from ...._base.dtypes import EXPORTS, qint8
from ...._base.dtypes import dtype as dtype_class
from ...._base.types import per_tensor_affine, per_tensor_symmetric
from ...._dispatch.ops import ops
from ...._representations.quantized import products
from ...._representations.quantized.creation import (
    _empty_affine_quantized,
    quantize_per_channel,
    quantize_per_tensor,
)
from ....nn.modules.module import Module
from .scaled import Scaled

__all__ = ["Linear", "quantized_weight"]


def quantized_weight(weight: Any, observer: Any) -> Any:
    """A float weight by the scales that an observer of it has found."""
    scale, zero_point = observer.calculate_qparams()
    if observer.qscheme in (per_tensor_symmetric, per_tensor_affine):
        return quantize_per_tensor(weight.detach(), float(scale), int(zero_point), qint8)
    scale, zero_point = scale.to(EXPORTS["float64"]), zero_point.to(EXPORTS["int64"])
    return quantize_per_channel(weight.detach(), scale, zero_point, observer.ch_axis, qint8)


class _Parameters(Module):
    """Weight and bias, which a state has as one pair."""

    _version = 3

    def __init__(self, weight: Any, bias: Any) -> None:
        super().__init__()
        self.dtype = weight.dtype
        self.weight, self.bias = weight, bias

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        destination[prefix + "dtype"] = self.dtype
        destination[prefix + "_packed_params"] = self.weight, self.bias

    def _load_from_state_dict(self, state_dict: Any, prefix: str, metadata: Any, strict: bool, *rest: Any) -> None:
        self.dtype = state_dict.pop(prefix + "dtype")
        self.weight, self.bias = state_dict.pop(prefix + "_packed_params")
        super()._load_from_state_dict(state_dict, prefix, metadata, False, *rest)


class Linear(Scaled):
    """A linear map of a quantized tensor with a quantized weight.

    Args:
        in_features, out_features (int): sizes of a sample before and after.
        bias_ (bool): with a bias.
    """

    _version = 3

    def __init__(self, in_features: int, out_features: int, bias_: bool = True, dtype: dtype_class = qint8) -> None:
        super().__init__()
        if dtype is not qint8:
            raise RuntimeError(f"Unsupported dtype specified for quantized Linear: {dtype}; expected opweave.qint8")
        self.in_features, self.out_features = in_features, out_features
        weight = _empty_affine_quantized((out_features, in_features), scale=1.0, zero_point=0, dtype=qint8)
        self._packed_params = _Parameters(weight.fill_(0.0), ops.zeros((out_features,)) if bias_ else None)

    def weight(self) -> Any:
        """Return the quantized weight."""
        return self._packed_params.weight

    def bias(self) -> Any:
        """Return the bias, or None."""
        return self._packed_params.bias

    def set_weight_bias(self, w: Any, b: Any) -> None:
        """Set a quantized weight, and a bias or None."""
        self._packed_params = _Parameters(w, None if b is None else b.detach())

    def forward(self, x: Any) -> Any:
        """Return the linear map of a quantized tensor (*, in_features): a tensor (*, out_features) with the module's
        scale and zero point."""
        return products.linear(x, self.weight(), self.bias(), self.scale, self.zero_point)

    def extra_repr(self) -> str:
        """Return the sizes, scale and zero point, and the scheme of the weight."""
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, scale={self.scale}, "
            f"zero_point={self.zero_point}, qscheme={self.weight().qscheme()}"
        )

    def __repr__(self) -> str:
        return f"{self._get_name()}({self.extra_repr()})"

    def _get_name(self) -> str:
        return "QuantizedLinear"
