"""The cross entropy of a linear map, as a module that has the map."""

from __future__ import annotations

from math import prod
from typing import Any

from ..._tensor.tensor import Tensor
from .. import functional
from .linear import Linear
from .linear_cross_entropy_options import LinearCrossEntropyOptions
from .module import Module

__all__ = ["LinearCrossEntropyLoss", "LinearCrossEntropyOptions"]


class LinearCrossEntropyLoss(Module):
    """Cross entropy of a linear layer of the input, which is the part `linear`.

    Args:
        in_features (int): the last size of inputs.
        num_classes (int): the number of classes.
        out_features (tuple of int): the dimensions of the loss, besides that of the batch.
        bias (bool): whether the map has a bias.
        device, dtype: those of the map.
        reduction, weight, ignore_index, label_smoothing, options: as of `linear_cross_entropy`.

    Raises:
        RuntimeError: there are not as many weights as classes, or the smoothing is not between 0 and 1.

    Example:
        >>> opweave.nn.LinearCrossEntropyLoss(8, 5)(opweave.ones(3, 8), opweave.tensor([0, 2, 4])).shape
        opweave.Size([])
    """

    def __init__(
        self,
        in_features: int,
        num_classes: int,
        *,
        out_features: tuple[int, ...] = (),
        bias: bool = False,
        device: Any = None,
        dtype: Any = None,
        reduction: str = "mean",
        weight: Any = None,
        ignore_index: int | None = None,
        label_smoothing: float = 0.0,
        options: LinearCrossEntropyOptions | None = None,
    ) -> None:
        if weight is not None and tuple(weight.shape) != (num_classes,):
            raise RuntimeError(f"expected weight shape to be {(num_classes,)}, got {tuple(weight.shape)}")
        if not 0 <= label_smoothing <= 1:
            raise RuntimeError(f"expected label_smoothing to be in range [0, 1], got {label_smoothing}")
        super().__init__()
        self.register_buffer("weight", weight)
        self.num_classes, self.out_features = num_classes, out_features
        self.reduction, self.ignore_index, self.label_smoothing = reduction, ignore_index, label_smoothing
        self.linear = Linear(in_features, prod(out_features, start=num_classes), bias=bias, device=device, dtype=dtype)
        self.options = options

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss."""
        outputs, bias = (self.num_classes, *self.out_features), self.linear.bias
        result: Tensor = functional.linear_cross_entropy(
            input,
            self.linear.weight.reshape((*outputs, self.linear.in_features)),
            target,
            linear_bias=None if bias is None else bias.reshape(outputs),
            weight=self.weight,
            reduction=self.reduction,
            ignore_index=self.ignore_index,
            label_smoothing=self.label_smoothing,
            options=self.options,
        )
        return result

    def extra_repr(self) -> str:
        shown: dict[str, Any] = {"in_features": self.linear.in_features, "num_classes": self.num_classes}
        shown |= {"out_features": self.out_features, "bias": self.linear.bias is not None}
        shown |= {name: getattr(self, name) for name in ("reduction", "ignore_index", "label_smoothing", "options")}
        return ", ".join(f"{name}={value}" for name, value in shown.items())
