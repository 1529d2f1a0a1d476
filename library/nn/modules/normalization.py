"""Normalization of rows and of groups of channels; that of batches is in batchnorm.py."""

from __future__ import annotations

from numbers import Integral
from typing import Any

from ..._operators import empty
from ..._tensor.tensor import Tensor
from .. import functional, init
from ..parameter import Parameter
from ._declared import Call
from .module import Module

__all__ = ["CrossMapLRN2d", "GroupNorm", "LayerNorm", "LocalResponseNorm", "RMSNorm"]


class _Affine(Module):
    """Base of modules with a weight of ones and a bias of zeros, each of which may be missing."""

    def _ow_set_parameters(self, shape: Any, weight: bool, bias: bool, device: Any, dtype: Any) -> None:
        for name, wanted in (("weight", weight), ("bias", bias)):
            value = Parameter(empty(shape, device=device, dtype=dtype)) if wanted else None
            self.register_parameter(name, value)

    def reset_parameters(self) -> None:
        """Set the weight to ones and the bias to zeros."""
        for name, fill in (("weight", init.ones_), ("bias", init.zeros_)):
            if getattr(self, name, None) is not None:
                fill(getattr(self, name))


def _shape(normalized_shape: Any) -> tuple[int, ...]:
    return (int(normalized_shape),) if isinstance(normalized_shape, Integral) else tuple(normalized_shape)


class LayerNorm(_Affine):
    """Layer normalization: the last dimensions get mean zero and variance one, then a weight and a bias.

    Args:
        normalized_shape (int or list of int): the last sizes of inputs.
        eps (float): is added to the variance.
        elementwise_affine (bool): is there a weight,
        bias (bool): whether there is a bias as well.
        device, dtype: those of the parameters.

    Example:
        >>> opweave.nn.LayerNorm(4)(opweave.tensor([1.0, 2.0, 3.0, 6.0])).detach()
        tensor([-1.0690, -0.5345,  0.0000,  1.6036])
    """

    def __init__(
        self,
        normalized_shape: Any,
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.normalized_shape, self.eps = _shape(normalized_shape), eps
        self.elementwise_affine = elementwise_affine
        self._ow_set_parameters(self.normalized_shape, elementwise_affine, elementwise_affine and bias, device, dtype)
        self.reset_parameters()

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor of the same shape."""
        return functional.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}, "
            f"bias={self.bias is not None}"
        )


class RMSNorm(_Affine):
    """Root mean square normalization: the last dimensions are divided by the root of the mean of their squares, and
    multiplied by a weight.

    Args:
        normalized_shape (int or list of int): the last sizes of inputs.
        eps (float): is added to the mean; None: the distance from 1 to the next number of the dtype.
        elementwise_affine (bool): whether there is a weight.
        device, dtype: those of the weight.

    Example:
        >>> opweave.nn.RMSNorm(4)(opweave.tensor([1.0, 2.0, 3.0, 6.0])).detach()
        tensor([0.2828, 0.5657, 0.8485, 1.6971])
    """

    def __init__(
        self,
        normalized_shape: Any,
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.normalized_shape, self.eps = _shape(normalized_shape), eps
        self.elementwise_affine = elementwise_affine
        weight = Parameter(empty(self.normalized_shape, device=device, dtype=dtype)) if elementwise_affine else None
        self.register_parameter("weight", weight)
        self.reset_parameters()

    def forward(self, x: Tensor) -> Tensor:
        """Return a tensor of the same shape."""
        return functional.rms_norm(x, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


class GroupNorm(_Affine):
    """Group normalization: groups of channels get mean zero and variance one, then channels a weight and a bias.

    Args:
        num_groups (int): divides the number of channels.
        num_channels (int): the second size of inputs.
        eps (float): is added to the variance.
        affine (bool): is there a weight,
        device, dtype: those of the parameters.
        bias (bool): whether there is a bias as well.

    Raises:
        ValueError: the groups do not divide the channels.

    Example:
        >>> opweave.nn.GroupNorm(2, 4)(opweave.ones(2, 4, 8, 8)).shape
        opweave.Size([2, 4, 8, 8])
    """

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        if num_channels % num_groups:
            raise ValueError(f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})")
        self.num_groups, self.num_channels, self.eps, self.affine = num_groups, num_channels, eps, affine
        self._ow_set_parameters(num_channels, affine, affine and bias, device, dtype)
        self.reset_parameters()

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor of the same shape."""
        return functional.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, "
            f"bias={self.bias is not None}"
        )


class LocalResponseNorm(Call, call="local_response_norm", shown="{size}, alpha={alpha}, beta={beta}, k={k}"):
    """Local response normalization: division by a power of the mean of squares over `size` neighbouring channels.

    Example:
        >>> opweave.nn.LocalResponseNorm(3)(opweave.ones(2, 4, 8, 8)).shape
        opweave.Size([2, 4, 8, 8])
    """

    size: int
    alpha: float = 1e-4
    beta: float = 0.75
    k: float = 1.0


class CrossMapLRN2d(Call, call="local_response_norm", shown="{size}, alpha={alpha}, beta={beta}, k={k}"):
    """The same as LocalResponseNorm.

    Example:
        >>> opweave.nn.CrossMapLRN2d(3)(opweave.ones(2, 4, 8, 8)).shape
        opweave.Size([2, 4, 8, 8])
    """

    size: int
    alpha: float = 1e-4
    beta: float = 0.75
    k: float = 1
