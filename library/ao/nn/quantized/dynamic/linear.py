"""A linear map with a quantized weight, of float tensors that are quantized by their own range."""

from __future__ import annotations

from typing import Any

from ....._base.dtypes import dtype as dtype_class
from ....._base.dtypes import qint8
from ....._representations.quantized import products
from .....nn.modules.linear import Linear as FloatLinear
from .....nn.modules.module import Module
from .. import linear as static

__all__ = ["Linear"]


class Linear(static.Linear):
    """A linear map of float tensors with a quantized weight.

    Args:
        in_features, out_features (int): sizes of a sample before and after.
        bias_ (bool): with a bias.
    """

    _version = 4

    def __init__(self, in_features: int, out_features: int, bias_: bool = True, dtype: dtype_class = qint8) -> None:
        super().__init__(in_features, out_features, bias_, dtype)
        self.version = 4

    def forward(self, x: Any) -> Any:
        """Return the linear map of a float tensor (*, in_features), as a tensor (*, out_features) of its dtype; inputs
        are quantized by the range of their elements."""
        return products.linear_dynamic(x, self.weight(), self.bias()).to(x.dtype)

    def extra_repr(self) -> str:
        """Return the sizes, the dtype and the scheme of the weight."""
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, dtype={self._packed_params.dtype}, "
            f"qscheme={self.weight().qscheme()}"
        )

    def _get_name(self) -> str:
        return "DynamicQuantizedLinear"

    @classmethod
    def from_float(cls, mod: Module, use_precomputed_fake_quant: bool = False) -> Linear:
        """The counterpart of a float module with a `qconfig`."""
        if type(mod) is not FloatLinear:
            raise AssertionError(f"nn.quantized.dynamic.Linear.from_float only works for Linear, got {type(mod)}")
        if not hasattr(mod, "qconfig"):
            raise AssertionError("Input float module must have qconfig defined")
        from ....quantization.qconfig import default_dynamic_qconfig

        config: Any = mod.qconfig or default_dynamic_qconfig
        observer = (config.weight or default_dynamic_qconfig.weight)()
        if observer.dtype is not qint8:
            raise AssertionError(
                f"The only supported dtype for dynamic quantized linear is opweave.qint8, got: {observer.dtype}"
            )
        observer(mod.weight)
        made = cls(mod.in_features, mod.out_features)
        made.set_weight_bias(static.quantized_weight(mod.weight.detach().float(), observer), mod.bias)
        return made
