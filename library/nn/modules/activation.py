"""Activations: one call of a function each."""

from __future__ import annotations

from typing import Any

from ..._operators import empty
from ..._tensor.tensor import Tensor
from .. import functional, init
from ..parameter import Parameter
from ._declared import Call
from .module import Module

__all__ = [
    "CELU",
    "ELU",
    "GELU",
    "GLU",
    "SELU",
    "Hardshrink",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "LeakyReLU",
    "LogSigmoid",
    "LogSoftmax",
    "Mish",
    "PReLU",
    "RReLU",
    "ReLU",
    "ReLU6",
    "SiLU",
    "Sigmoid",
    "Softmax",
    "Softmax2d",
    "Softmin",
    "Softplus",
    "Softshrink",
    "Softsign",
    "Tanh",
    "Tanhshrink",
    "Threshold",
]


class Threshold(Call, call="threshold"):
    """Threshold: elements that do not exceed `threshold` become `value`. Shape and dtype stay."""

    threshold: float
    value: float
    inplace: bool = False


class ReLU(Call, call="relu"):
    """Rectified linear unit, `max(0, x)`. Shape and dtype stay."""

    inplace: bool = False


class RReLU(Call, call="rrelu", trains=True):
    """Randomized leaky ReLU: negative elements times random slopes between `lower` and `upper` in training, else times
    their mean."""

    lower: float = 1.0 / 8
    upper: float = 1.0 / 3
    inplace: bool = False


class Hardtanh(Call, call="hardtanh"):
    """Hard tanh: elements limited to the range from `min_val` to `max_val`. Raises ValueError unless the first is
    smaller."""

    min_val: float = -1.0
    max_val: float = 1.0
    inplace: bool = False

    def _ow_begin(self, options: dict[str, Any]) -> None:
        super()._ow_begin(options)
        if self.max_val <= self.min_val:
            raise ValueError(f"max_val must be larger than min_val, but got {self.max_val} and {self.min_val}")


class ReLU6(Hardtanh):
    """ReLU limited to 6: `min(max(0, x), 6)`."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""


class Sigmoid(Call, call="sigmoid"):
    """Logistic sigmoid, `1 / (1 + exp(-x))`."""


class Hardsigmoid(Call, call="hardsigmoid", shown=""):
    """Hard sigmoid, a piecewise linear approximation: `min(max(0, x / 6 + 1 / 2), 1)`."""

    inplace: bool = False


class Tanh(Call, call="tanh"):
    """Hyperbolic tangent."""


class SiLU(Call, call="silu"):
    """Sigmoid linear unit (swish), `x * sigmoid(x)`."""

    inplace: bool = False


class Mish(Call, call="mish"):
    """Mish, `x * tanh(softplus(x))`."""

    inplace: bool = False


class Hardswish(Call, call="hardswish", shown=""):
    """Hard swish, `x * hardsigmoid(x)`."""

    inplace: bool = False


class ELU(Call, call="elu"):
    """Exponential linear unit: negative elements become `alpha * (exp(x) - 1)`."""

    alpha: float = 1.0
    inplace: bool = False


class CELU(Call, call="celu"):
    """Continuously differentiable ELU: negative elements become `alpha * (exp(x / alpha) - 1)`."""

    alpha: float = 1.0
    inplace: bool = False


class SELU(Call, call="selu"):
    """Scaled ELU, with the constants that keep mean and variance of normally distributed elements."""

    inplace: bool = False


class GLU(Call, call="glu"):
    """Gated linear unit: one half of the positions along `dim` times the sigmoid of the other half."""

    dim: int = -1


class GELU(Call, call="gelu", shown="approximate={approximate!r}"):
    """Gaussian error linear unit, `x * Phi(x)` with the distribution function of the normal distribution, or with
    `tanh` an approximation of it."""

    approximate: str = "none"


class Hardshrink(Call, call="hardshrink", shown="{lambd}"):
    """Hard shrinkage: elements between `-lambd` and `lambd` become zero."""

    lambd: float = 0.5


class LeakyReLU(Call, call="leaky_relu"):
    """Leaky ReLU: negative elements times `negative_slope`."""

    negative_slope: float = 0.01
    inplace: bool = False


class LogSigmoid(Call, call="logsigmoid"):
    """Logarithm of the sigmoid."""


class Softplus(Call, call="softplus"):
    """Softplus, `log(1 + exp(beta * x)) / beta`; the identity where `beta * x` exceeds `threshold`."""

    beta: float = 1.0
    threshold: float = 20.0


class Softshrink(Call, call="softshrink", shown="{lambd}"):
    """Soft shrinkage: elements move towards zero by `lambd`, at most up to zero."""

    lambd: float = 0.5


class Softsign(Call, call="softsign"):
    """Softsign, `x / (1 + abs(x))`."""


class Tanhshrink(Call, call="tanhshrink"):
    """Tanh shrinkage, `x - tanh(x)`."""


class Softmin(Call, call="softmin"):
    """Softmin: softmax of `-x`, along `dim`."""

    dim: int | None = None


class Softmax(Call, call="softmax"):
    """Softmax, `exp(x) / sum(exp(x))`, along `dim`."""

    dim: int | None = None


class LogSoftmax(Call, call="log_softmax"):
    """Logarithm of softmax along `dim`, without overflow."""

    dim: int | None = None


class Softmax2d(Module):
    """Softmax over channels: inputs are of shape (N, C, H, W) or (C, H, W). Raises ValueError for others."""

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor of the same shape."""
        if input.dim() not in (3, 4):
            raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.dim()}D instead")
        return functional.softmax(input, -3)


class PReLU(Module):
    """Parametric ReLU: negative elements times slopes that are learned.

    Args:
        num_parameters (int): 1, or the number of channels, the second dimension.
        init (float): what the slopes begin with.
        device, dtype: those of the slopes.
    """

    def __init__(self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        self.num_parameters, self.init = num_parameters, init
        self.weight = Parameter(empty(num_parameters, device=device, dtype=dtype))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set the slopes to what they began with."""
        init.constant_(self.weight, self.init)

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor of the same shape."""
        return functional.prelu(input, self.weight)

    def extra_repr(self) -> str:
        return f"num_parameters={self.num_parameters}"
