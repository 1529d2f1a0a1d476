"""Linear and bilinear maps, with weights that are learned."""

from __future__ import annotations

import math
from typing import Any

from ..._operators import empty
from ..._tensor.tensor import Tensor
from .. import functional, init
from ..parameter import Parameter, UninitializedParameter
from .lazy import LazyModuleMixin
from .module import Module

__all__ = ["Bilinear", "Identity", "LazyLinear", "Linear"]


class Identity(Module):
    """Identity: returns its input. Arguments are accepted and not used.

    Example:
        >>> opweave.nn.Identity()(opweave.ones(2, 3)).shape
        opweave.Size([2, 3])
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        """Return the input."""
        return input


class Linear(Module):
    """Linear layer, `x @ weight.T + bias`, of inputs (*, in_features).

    Args:
        in_features (int): the last size of inputs.
        out_features (int): the last size of results.
        bias (bool): whether there is a bias.
        device, dtype: those of the parameters.

    The parameters begin uniform between plus and minus one over the root of `in_features`.

    Example:
        >>> opweave.nn.Linear(3, 2)(opweave.ones(4, 3)).shape
        opweave.Size([4, 2])
    """

    in_features: int
    out_features: int

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.weight = Parameter(empty((out_features, in_features), device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(empty(out_features, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            limit = 1 / math.sqrt(self.in_features) if self.in_features > 0 else 0
            init.uniform_(self.bias, -limit, limit)

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor of shape (*, out_features)."""
        return functional.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


class NonDynamicallyQuantizableLinear(Linear):
    """The same as Linear."""


class Bilinear(Module):
    """Bilinear layer, `x1 @ weight[k] @ x2 + bias[k]`, of inputs (*, in1_features) and (*, in2_features).

    Args:
        in1_features, in2_features (int): the last sizes of inputs.
        out_features (int): the last size of results.
        bias (bool): whether there is a bias.
        device, dtype: those of the parameters.

    Raises:
        ValueError: `in1_features` is not positive.

    Example:
        >>> opweave.nn.Bilinear(3, 4, 2)(opweave.ones(5, 3), opweave.ones(5, 4)).shape
        opweave.Size([5, 2])
    """

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if in1_features <= 0:
            raise ValueError(f"in1_features must be > 0, but got {in1_features}")
        self.in1_features, self.in2_features, self.out_features = in1_features, in2_features, out_features
        self.weight = Parameter(empty((out_features, in1_features, in2_features), device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(empty(out_features, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        limit = 1 / math.sqrt(self.weight.size(1))
        init.uniform_(self.weight, -limit, limit)
        if self.bias is not None:
            init.uniform_(self.bias, -limit, limit)

    def forward(self, input1: Tensor, input2: Tensor) -> Tensor:
        """Return a tensor of shape (*, out_features)."""
        result: Tensor = functional.bilinear(input1, input2, self.weight, self.bias)
        return result

    def extra_repr(self) -> str:
        return (
            f"in1_features={self.in1_features}, in2_features={self.in2_features}, out_features={self.out_features}, "
            f"bias={self.bias is not None}"
        )


class LazyLinear(LazyModuleMixin, Linear):
    """Linear whose `in_features` is the last size of its first input.

    Args:
        out_features (int): the last size of results.
        bias (bool): whether there is a bias.
        device, dtype: those of the parameters.

    Example:
        >>> opweave.nn.LazyLinear(2)(opweave.ones(4, 3)).shape
        opweave.Size([4, 2])
    """

    cls_to_become = Linear
    weight: Any
    bias: Any

    def __init__(self, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None) -> None:
        super().__init__(0, 0, False)
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.out_features = out_features
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        """Draw the parameters anew, once they are there."""
        if not self.has_uninitialized_params() and self.in_features:
            super().reset_parameters()

    def initialize_parameters(self, input: Any) -> None:
        """Give the parameters their shape, by an input."""
        if self.has_uninitialized_params():
            self.in_features = input.shape[-1]
            self.weight.materialize((self.out_features, self.in_features))
            if self.bias is not None:
                self.bias.materialize((self.out_features,))
            self.reset_parameters()
        if self.in_features == 0:
            self.in_features = self.weight.shape[-1]
