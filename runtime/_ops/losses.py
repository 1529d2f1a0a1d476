"""Common parts of the losses of torch.nn.functional: checks of targets, weights, and the reduction."""

from __future__ import annotations

from typing import Any

from .._base.warn import warn
from .._dispatch.ops import ops

__all__ = ["check_probabilities", "check_targets", "reduced_loss", "reduction_word", "weighted"]


def check_targets(input: Any, target: Any) -> None:
    """Warn if the shapes differ: most often a dimension of size one is missing."""
    if input.shape != target.shape:
        warn(
            f"Using a target size ({target.shape}) that is different to the input size ({input.shape}). This will "
            "likely lead to incorrect results due to broadcasting. Please ensure they have the same size.",
        )


def reduction_word(reduction: str, size_average: bool | None = None, reduce: bool | None = None) -> str:
    """Return the reduction, `none`, `mean` or `sum`, which the older arguments may give as well."""
    if size_average is not None or reduce is not None:
        reduction = "none" if reduce is False else "sum" if size_average is False else "mean"
        warn(
            f"size_average and reduce args will be deprecated, please use reduction='{reduction}' instead.",
        )
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return reduction


def weighted(losses: Any, input: Any, weight: Any) -> Any:
    """Return the losses times their weights, which have the shape of `input`."""
    if weight is None:
        return losses
    if weight.shape != input.shape:
        raise ValueError("Weights and input must have the same size.")
    return losses * weight


def reduced_loss(losses: Any, reduction: str, weight: Any = None) -> Any:
    """Return the losses, their sum or their mean; the mean of weighted losses is divided by the sum of weights."""
    if reduction == "none":
        return losses
    if reduction == "mean":
        return losses.mean() if weight is None else losses.sum() / weight.sum()
    return losses.sum()


def check_probabilities(input: Any) -> None:
    """Raise RuntimeError unless all elements are between 0 and 1."""
    inside = (input >= 0) & (input <= 1)
    ops.assert_values(inside, "RuntimeError", "all elements of input should be between 0 and 1")
