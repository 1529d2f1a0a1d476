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
    """Replaces elements that do not exceed `threshold` by `value`. Shape and dtype stay."""

    threshold: float
    value: float
    inplace: bool = False


class ReLU(Call, call="relu"):
    """Replaces negative elements by zero. Shape and dtype stay."""

    inplace: bool = False


class RReLU(Call, call="rrelu", trains=True):
    """Multiplies negative elements by random slopes between `lower` and `upper` in training, else by their mean."""

    lower: float = 1.0 / 8
    upper: float = 1.0 / 3
    inplace: bool = False


class Hardtanh(Call, call="hardtanh"):
    """Limits elements to the range from `min_val` to `max_val`. Raises ValueError unless the first is smaller."""

    min_val: float = -1.0
    max_val: float = 1.0
    inplace: bool = False

    def _ow_begin(self, options: dict[str, Any]) -> None:
        super()._ow_begin(options)
        if self.max_val <= self.min_val:
            raise ValueError(f"max_val must be larger than min_val, but got {self.max_val} and {self.min_val}")


class ReLU6(Hardtanh):
    """Limits elements to the range from 0 to 6."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""


class Sigmoid(Call, call="sigmoid"):
    """The logistic function, `1 / (1 + exp(-x))`."""


class Hardsigmoid(Call, call="hardsigmoid", shown=""):
    """A piecewise linear version of the logistic function."""

    inplace: bool = False


class Tanh(Call, call="tanh"):
    """The hyperbolic tangent."""


class SiLU(Call, call="silu"):
    """Multiplies elements by their logistic function."""

    inplace: bool = False


class Mish(Call, call="mish"):
    """Multiplies elements by `tanh(log(1 + exp(x)))`."""

    inplace: bool = False


class Hardswish(Call, call="hardswish", shown=""):
    """Multiplies elements by their hardsigmoid."""

    inplace: bool = False


class ELU(Call, call="elu"):
    """Replaces negative elements by `alpha * (exp(x) - 1)`."""

    alpha: float = 1.0
    inplace: bool = False


class CELU(Call, call="celu"):
    """Replaces negative elements by `alpha * (exp(x / alpha) - 1)`."""

    alpha: float = 1.0
    inplace: bool = False


class SELU(Call, call="selu"):
    """Elu with the constants that keep mean and variance of normally distributed elements."""

    inplace: bool = False


class GLU(Call, call="glu"):
    """One half of the positions along `dim` times the logistic function of the other half."""

    dim: int = -1


class GELU(Call, call="gelu", shown="approximate={approximate!r}"):
    """Multiplies elements by the normal distribution's cumulative function, or with `tanh` by an approximation."""

    approximate: str = "none"


class Hardshrink(Call, call="hardshrink", shown="{lambd}"):
    """Replaces elements between `-lambd` and `lambd` by zero."""

    lambd: float = 0.5


class LeakyReLU(Call, call="leaky_relu"):
    """Multiplies negative elements by `negative_slope`."""

    negative_slope: float = 0.01
    inplace: bool = False


class LogSigmoid(Call, call="logsigmoid"):
    """The logarithm of the logistic function."""


class Softplus(Call, call="softplus"):
    """`log(1 + exp(beta * x)) / beta`; the identity where `beta * x` exceeds `threshold`."""

    beta: float = 1.0
    threshold: float = 20.0


class Softshrink(Call, call="softshrink", shown="{lambd}"):
    """Moves elements towards zero by `lambd`, at most up to zero."""

    lambd: float = 0.5


class Softsign(Call, call="softsign"):
    """`x / (1 + abs(x))`."""


class Tanhshrink(Call, call="tanhshrink"):
    """`x - tanh(x)`."""


class Softmin(Call, call="softmin"):
    """Softmax of the elements with the opposite sign, along `dim`."""

    dim: int | None = None


class Softmax(Call, call="softmax"):
    """Exponentials, scaled to sum to one along `dim`."""

    dim: int | None = None


class LogSoftmax(Call, call="log_softmax"):
    """Logarithms of softmax, without overflow."""

    dim: int | None = None


class Softmax2d(Module):
    """Softmax over channels: inputs are of shape (N, C, H, W) or (C, H, W). Raises ValueError for others."""

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor of the same shape."""
        if input.dim() not in (3, 4):
            raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.dim()}D instead")
        return functional.softmax(input, -3)


class PReLU(Module):
    """Multiplies negative elements by slopes that are learned.

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
