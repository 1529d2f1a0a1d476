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
    """Threshold: elements that do not exceed `threshold` become `value`. Shape and dtype stay.

    Example:
        >>> opweave.nn.Threshold(threshold=0.1, value=20.0)(opweave.tensor([-2.0, 0.5, 3.0]))
        tensor([20.0000,  0.5000,  3.0000])
    """

    threshold: float
    value: float
    inplace: bool = False


class ReLU(Call, call="relu"):
    """Rectified linear unit, `max(0, x)`. Shape and dtype stay.

    Example:
        >>> opweave.nn.ReLU()(opweave.tensor([-2.0, 0.5, 3.0]))
        tensor([0.0000, 0.5000, 3.0000])
    """

    inplace: bool = False


class RReLU(Call, call="rrelu", trains=True):
    """Randomized leaky ReLU: negative elements times random slopes between `lower` and `upper` in training, else times
    their mean.

    Example:
        >>> opweave.nn.RReLU().eval()(opweave.tensor([-2.0, 0.5, 3.0]))
        tensor([-0.4583,  0.5000,  3.0000])
    """

    lower: float = 1.0 / 8
    upper: float = 1.0 / 3
    inplace: bool = False


class Hardtanh(Call, call="hardtanh"):
    """Hard tanh: elements limited to the range from `min_val` to `max_val`. Raises ValueError unless the first is
    smaller.

    Example:
        >>> opweave.nn.Hardtanh(-1.0, 1.0)(opweave.tensor([-2.0, 0.5, 3.0]))
        tensor([-1.0000,  0.5000,  1.0000])
    """

    min_val: float = -1.0
    max_val: float = 1.0
    inplace: bool = False

    def _ow_begin(self, options: dict[str, Any]) -> None:
        super()._ow_begin(options)
        if self.max_val <= self.min_val:
            raise ValueError(f"max_val must be larger than min_val, but got {self.max_val} and {self.min_val}")


class ReLU6(Hardtanh):
    """ReLU limited to 6: `min(max(0, x), 6)`.

    Example:
        >>> opweave.nn.ReLU6()(opweave.tensor([-2.0, 0.5, 3.0]))
        tensor([0.0000, 0.5000, 3.0000])
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""


class Sigmoid(Call, call="sigmoid"):
    """Logistic sigmoid, `1 / (1 + exp(-x))`.

    Example:
        >>> opweave.nn.Sigmoid()(opweave.tensor([-2.0, 0.5, 3.0]))
        tensor([0.1192, 0.6225, 0.9526])
    """


class Hardsigmoid(Call, call="hardsigmoid", shown=""):
    """Hard sigmoid, a piecewise linear approximation: `min(max(0, x / 6 + 1 / 2), 1)`.

    Example:
        >>> opweave.nn.Hardsigmoid()(opweave.tensor([-2.0, 0.5, 3.0]))
        tensor([0.1667, 0.5833, 1.0000])
    """

    inplace: bool = False


class Tanh(Call, call="tanh"):
    """Hyperbolic tangent.

    Example:
        >>> opweave.nn.Tanh()(opweave.tensor([-2.0, 0.5, 3.0]))
        tensor([-0.9640,  0.4621,  0.9951])
    """


class SiLU(Call, call="silu"):
    """Sigmoid linear unit (swish), `x * sigmoid(x)`.

    Example:
        >>> opweave.nn.SiLU()(opweave.tensor([-2.0, 0.5, 3.0]))
        tensor([-0.2384,  0.3112,  2.8577])
    """

    inplace: bool = False


class Mish(Call, call="mish"):
    """Mish, `x * tanh(softplus(x))`.

    Example:
        >>> opweave.nn.Mish()(opweave.tensor([-2.0, 0.5, 3.0]))
        tensor([-0.2525,  0.3752,  2.9865])
    """

    inplace: bool = False


class Hardswish(Call, call="hardswish", shown=""):
    """Hard swish, `x * hardsigmoid(x)`.

    Example:
        >>> opweave.nn.Hardswish()(opweave.tensor([-2.0, 0.5, 3.0]))
        tensor([-0.3333,  0.2917,  3.0000])
    """

    inplace: bool = False


class ELU(Call, call="elu"):
    """Exponential linear unit: negative elements become `alpha * (exp(x) - 1)`.

    Example:
        >>> opweave.nn.ELU(alpha=1.0)(opweave.tensor([-2.0, 0.5, 3.0]))
        tensor([-0.8647,  0.5000,  3.0000])
    """

    alpha: float = 1.0
    inplace: bool = False


class CELU(Call, call="celu"):
    """Continuously differentiable ELU: negative elements become `alpha * (exp(x / alpha) - 1)`.

    Example:
        >>> opweave.nn.CELU()(opweave.tensor([-2.0, 0.5, 3.0]))
        tensor([-0.8647,  0.5000,  3.0000])
    """

    alpha: float = 1.0
    inplace: bool = False


class SELU(Call, call="selu"):
    """Scaled ELU, with the constants that keep mean and variance of normally distributed elements.

    Example:
        >>> opweave.nn.SELU()(opweave.tensor([-2.0, 0.5, 3.0]))
        tensor([-1.5202,  0.5254,  3.1521])
    """

    inplace: bool = False


class GLU(Call, call="glu"):
    """Gated linear unit: one half of the positions along `dim` times the sigmoid of the other half.

    Example:
        >>> opweave.nn.GLU(dim=-1)(opweave.tensor([1.0, 2.0, 0.0, 3.0]))
        tensor([0.5000, 1.9051])
    """

    dim: int = -1


class GELU(Call, call="gelu", shown="approximate={approximate!r}"):
    """Gaussian error linear unit, `x * Phi(x)` with the distribution function of the normal distribution, or with
    `tanh` an approximation of it.

    Example:
        >>> opweave.nn.GELU()(opweave.tensor([-2.0, 0.5, 3.0]))
        tensor([-0.0455,  0.3457,  2.9960])
    """

    approximate: str = "none"


class Hardshrink(Call, call="hardshrink", shown="{lambd}"):
    """Hard shrinkage: elements between `-lambd` and `lambd` become zero.

    Example:
        >>> opweave.nn.Hardshrink(0.5)(opweave.tensor([-2.0, 0.5, 3.0]))
        tensor([-2.,  0.,  3.])
    """

    lambd: float = 0.5


class LeakyReLU(Call, call="leaky_relu"):
    """Leaky ReLU: negative elements times `negative_slope`.

    Example:
        >>> opweave.nn.LeakyReLU(0.01)(opweave.tensor([-2.0, 0.5, 3.0]))
        tensor([-0.0200,  0.5000,  3.0000])
    """

    negative_slope: float = 0.01
    inplace: bool = False


class LogSigmoid(Call, call="logsigmoid"):
    """Logarithm of the sigmoid.

    Example:
        >>> opweave.nn.LogSigmoid()(opweave.tensor([-2.0, 0.5, 3.0]))
        tensor([-2.1269, -0.4741, -0.0486])
    """


class Softplus(Call, call="softplus"):
    """Softplus, `log(1 + exp(beta * x)) / beta`; the identity where `beta * x` exceeds `threshold`.

    Example:
        >>> opweave.nn.Softplus()(opweave.tensor([-2.0, 0.5, 3.0]))
        tensor([0.1269, 0.9741, 3.0486])
    """

    beta: float = 1.0
    threshold: float = 20.0


class Softshrink(Call, call="softshrink", shown="{lambd}"):
    """Soft shrinkage: elements move towards zero by `lambd`, at most up to zero.

    Example:
        >>> opweave.nn.Softshrink(0.5)(opweave.tensor([-2.0, 0.5, 3.0]))
        tensor([-1.5000,  0.0000,  2.5000])
    """

    lambd: float = 0.5


class Softsign(Call, call="softsign"):
    """Softsign, `x / (1 + abs(x))`.

    Example:
        >>> opweave.nn.Softsign()(opweave.tensor([-2.0, 0.5, 3.0]))
        tensor([-0.6667,  0.3333,  0.7500])
    """


class Tanhshrink(Call, call="tanhshrink"):
    """Tanh shrinkage, `x - tanh(x)`.

    Example:
        >>> opweave.nn.Tanhshrink()(opweave.tensor([-2.0, 0.5, 3.0]))
        tensor([-1.0360,  0.0379,  2.0049])
    """


class Softmin(Call, call="softmin"):
    """Softmin: softmax of `-x`, along `dim`.

    Example:
        >>> opweave.nn.Softmin(dim=0)(opweave.tensor([-2.0, 0.5, 3.0]))
        tensor([0.9184, 0.0754, 0.0062])
    """

    dim: int | None = None


class Softmax(Call, call="softmax"):
    """Softmax, `exp(x) / sum(exp(x))`, along `dim`.

    Example:
        >>> opweave.nn.Softmax(dim=0)(opweave.tensor([-2.0, 0.5, 3.0]))
        tensor([0.0062, 0.0754, 0.9184])
    """

    dim: int | None = None


class LogSoftmax(Call, call="log_softmax"):
    """Logarithm of softmax along `dim`, without overflow.

    Example:
        >>> opweave.nn.LogSoftmax(dim=0)(opweave.tensor([-2.0, 0.5, 3.0]))
        tensor([-5.0851, -2.5851, -0.0851])
    """

    dim: int | None = None


class Softmax2d(Module):
    """Softmax over channels: inputs are of shape (N, C, H, W) or (C, H, W). Raises ValueError for others.

    Example:
        >>> opweave.nn.Softmax2d()(opweave.zeros(1, 2, 4, 4)).shape
        opweave.Size([1, 2, 4, 4])
    """

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

    Example:
        >>> opweave.nn.PReLU()(opweave.tensor([-2.0, 0.5, 3.0])).detach()
        tensor([-0.5000,  0.5000,  3.0000])
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
