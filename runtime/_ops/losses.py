"""Common parts of the losses of torch.nn.functional: checks of targets, weights, and the reduction."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from .._base.warn import warn
from .._dispatch.ops import ops

__all__ = [
    "are_variances",
    "as_rows",
    "check_probabilities",
    "check_targets",
    "check_triples",
    "divergence_word",
    "log_factorials",
    "numbered_word",
    "reduced_loss",
    "reduction_word",
    "triplet_losses",
    "variances_of",
    "weighted",
]

_WORDS = {1: "mean", 2: "sum"}


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


def numbered_word(reduction: int) -> str:
    """Return the reduction that a number stands for in functions of the package: 1 for the mean, 2 for the sum."""
    return _WORDS.get(reduction, "none")


def divergence_word(reduction: str, size_average: bool | None, reduce: bool | None) -> str:
    """Return the reduction of divergences, which may also be `batchmean`; a `mean` is warned of."""
    if reduction == "batchmean" and size_average is None and reduce is None:
        return reduction
    word = reduction_word(reduction, size_average, reduce)
    if word == "mean":
        warn(
            "reduction: 'mean' divides the total loss by both the batch size and the support size. 'batchmean' divides "
            "only by the batch size, and aligns with the KL div math definition."
        )
    return word


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


def log_factorials(count: Any) -> Any:
    """Return Stirling's approximation of the logarithms of factorials, zero for counts up to 1."""
    stirling = count * count.log() - count + 0.5 * (2 * math.pi * count).log()
    return stirling.masked_fill(count <= 1, 0)


def are_variances(var: Any, input: Any) -> bool:
    """Return True if there is one for each element of `input`, or for each of its rows, or if the shapes broadcast."""
    if var.shape == input.shape or var.shape == input.shape[:-1]:
        return True
    return all(a == b or 1 in (a, b) for a, b in zip(reversed(input.shape), reversed(var.shape), strict=False))


def variances_of(var: Any, input: Any) -> Any:
    """Return the variances as a tensor that broadcasts with `input`."""
    if isinstance(var, float):
        return ops.full_like(input.detach(), var)
    return var.unsqueeze(-1) if var.shape != input.shape and var.shape == input.shape[:-1] else var


def check_triples(anchor: Any, positive: Any, negative: Any) -> None:
    """Raise RuntimeError unless the three have as many dimensions."""
    if not anchor.dim() == positive.dim() == negative.dim():
        raise RuntimeError(
            f"The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: "
            f"anchor {anchor.dim()}D, positive {positive.dim()}D, and negative {negative.dim()}D inputs"
        )


def triplet_losses(
    anchor: Any, positive: Any, negative: Any, distance: Callable[[Any, Any], Any], margin: float, swap: bool
) -> Any:
    """Return the losses of triples by a distance; `swap` counts that from positive to negative where it is smaller."""
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = ops.minimum(far, distance(positive, negative))
    return (margin + near - far).clamp(min=0)


def as_rows(input: Any) -> Any:
    """Return a matrix as it is, and what has fewer dimensions as its only row."""
    return input if input.dim() > 1 else input.reshape(1, -1)
