"""Losses of values, pairs and triples; those over classes are in class_losses.py.

All take `reduction`: `none`, the loss of each element, `mean` or `sum`; and the older arguments `size_average` and
`reduce`, which mean the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..._base.warn import warn
from ..._dispatch.autocast import autocasts
from ..._dispatch.ops import ops
from ..._ops.losses import reduced_loss, reduction_word
from ..._tensor.tensor import Tensor

__all__ = [
    "cosine_embedding_loss",
    "gaussian_nll_loss",
    "hinge_embedding_loss",
    "kl_div",
    "margin_ranking_loss",
    "poisson_nll_loss",
    "soft_margin_loss",
    "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
]


@autocasts("float32")
def kl_div(
    input: Any,
    target: Any,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Any:
    """Return the Kullback-Leibler divergence, `target * (log(target) - input)`.

    Args:
        input (Tensor): logarithms of probabilities, of any shape.
        target (Tensor): probabilities, or with `log_target` their logarithms.
        size_average, reduce, reduction: as of all losses; also `batchmean`, the sum divided by the first size.

    Returns:
        Shape (), or with `reduction='none'` the one to which the inputs broadcast.

    Raises:
        RuntimeError: an input has elements that are no floating-point numbers.
    """
    if not (input.is_floating_point() and target.is_floating_point()):
        kind = "Complex" if input.is_complex() or target.is_complex() else "Integral"
        raise RuntimeError(f"kl_div: {kind} inputs not supported.")
    batch = reduction == "batchmean" and size_average is None and reduce is None
    if batch:
        word = "sum"
    else:
        word = reduction_word(reduction, size_average, reduce)
        if word == "mean":
            warn(
                "reduction: 'mean' divides the total loss by both the batch size and the support size. 'batchmean' "
                "divides only by the batch size, and aligns with the KL div math definition."
            )
    losses = target.exp() * (target - input) if log_target else ops.xlogy(target, target) - target * input
    reduced = reduced_loss(losses, word)
    return reduced / input.size(0) if batch and input.dim() else reduced


@autocasts("float32")
def poisson_nll_loss(
    input: Any,
    target: Any,
    log_input: bool = True,
    full: bool = False,
    size_average: bool | None = None,
    eps: float = 1e-8,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """Return the negative log likelihood of counts under Poisson distributions.

    Args:
        input (Tensor): the expectations, or with `log_input` their logarithms.
        target (Tensor): the counts.
        full (bool): whether to add Stirling's approximation of the term that does not depend on the input.
        eps (float): is added before the logarithm.
        size_average, reduce, reduction: as of all losses.
    """
    word = reduction_word(reduction, size_average, reduce)
    losses = input.exp() - target * input if log_input else input - target * (input + eps).log()
    if full:
        stirling = target * target.log() - target + 0.5 * (2 * math.pi * target).log()
        losses = losses + stirling.masked_fill(target <= 1, 0)
    return reduced_loss(losses, word)


def gaussian_nll_loss(
    input: Any, target: Any, var: Any, full: bool = False, eps: float = 1e-6, reduction: str = "mean"
) -> Any:
    """Return the negative log likelihood of targets under normal distributions.

    Args:
        input (Tensor): the expectations.
        target (Tensor): what was observed, of a shape to which `input` broadcasts.
        var (Tensor or float): the variances, of the shape of `input`, or one for each row, or one.
        full (bool): whether to add the term that does not depend on the input.
        eps (float): variances are not less than that; no gradient goes through the limit.
        reduction: as of all losses.

    Raises:
        ValueError: a variance is negative, or the shapes do not fit.
    """
    if not isinstance(var, Tensor):
        var = ops.full_like(input.detach(), float(var))
    if var.size() != input.size():
        if input.size()[:-1] == var.size():
            var = var.unsqueeze(-1)
        elif input.size()[:-1] != var.size()[:-1] or var.size(-1) != 1:
            sizes = zip(reversed(input.size()), reversed(var.size()), strict=False)
            if not all(a == b or 1 in (a, b) for a, b in sizes):
                raise ValueError(f"var is of incorrect size: {list(var.size())} for input of {list(input.size())}")
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not valid")
    ops.assert_values(~(var < 0), "ValueError", "var has negative entry/entries")
    var = var + (var.detach().clamp(min=eps) - var.detach())
    losses = 0.5 * (var.log() + (input - target) ** 2 / var)
    if full:
        losses = losses + 0.5 * math.log(2 * math.pi)
    return reduced_loss(losses, reduction)


@autocasts("float32")
def hinge_embedding_loss(
    input: Any,
    target: Any,
    margin: float = 1.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """Return the hinge embedding loss: the distance `x` of similar pairs (target 1), and `max(0, margin - x)` of others
    (target -1).

    Args:
        input (Tensor): the distances, of any shape.
        target (Tensor): 1 or -1.
        size_average, reduce, reduction: as of all losses.
    """
    word = reduction_word(reduction, size_average, reduce)
    zero = ops.zeros_like(input.detach())
    apart = ops.where(target != 1, (margin - input).clamp(min=0), zero)
    return reduced_loss(apart + ops.where(target != -1, input, zero), word)


@autocasts("float32")
def soft_margin_loss(
    input: Any, target: Any, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean"
) -> Any:
    """Return the soft margin loss, `log(1 + exp(-target * input))`, for targets 1 and -1. The shapes broadcast;
    `reduction` is as of all losses."""
    word = reduction_word(reduction, size_average, reduce)
    return reduced_loss(-ops.logsigmoid(target * input), word)


@autocasts("float32")
def margin_ranking_loss(
    input1: Any,
    input2: Any,
    target: Any,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """Return the margin ranking loss, `max(0, margin - target * (input1 - input2))` for targets 1 and -1.

    Raises:
        RuntimeError: the numbers of dimensions differ.
    """
    word = reduction_word(reduction, size_average, reduce)
    if not input1.dim() == input2.dim() == target.dim():
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: "
            f"input1: {input1.size()}, input2: {input2.size()}, target: {target.size()} "
        )
    return reduced_loss((-target * (input1 - input2) + float(margin)).clamp(min=0), word)


@autocasts("float32")
def cosine_embedding_loss(
    input1: Any,
    input2: Any,
    target: Any,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """Return the cosine embedding loss: `1 - cos` of similar pairs (target 1), and `max(0, cos - margin)` of others
    (target -1).

    Args:
        input1, input2 (Tensor): of shape (N, D) or (D).
        target (Tensor): 1 or -1, of shape (N) or ().
        size_average, reduce, reduction: as of all losses.

    Raises:
        RuntimeError: the shapes do not fit.
    """
    word = reduction_word(reduction, size_average, reduce)
    if target.dim() > 1:
        raise RuntimeError(
            f"0D or 1D target tensor expected, multi-target not supported, but got target of {target.dim()} dimensions"
        )
    needed = target.dim() + 1
    if not input1.dim() == input2.dim() == needed:
        raise RuntimeError(
            f"{target.dim()}D target tensor expects {needed}D input tensors, but found inputs with sizes "
            f"{list(input1.size())} and {list(input2.size())}."
        )
    products, left, right = ((a * b).sum(-1) for a, b in ((input1, input2), (input1, input1), (input2, input2)))
    cosines = products / ((left + 1e-12) * (right + 1e-12)).sqrt()
    zero = ops.zeros_like(cosines.detach())
    together = ops.where(target == 1, 1 - cosines, zero)
    return reduced_loss(together + ops.where(target == -1, (cosines - margin).clamp(min=0), zero), word)


@autocasts("float32")
def triplet_margin_loss(
    anchor: Any,
    positive: Any,
    negative: Any,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """Return the triplet margin loss, `max(0, d(anchor, positive) - d(anchor, negative) + margin)`.

    Args:
        anchor, positive, negative (Tensor): of shape (N, D) or (D).
        margin (float): more than 0.
        p, eps (float): of the distance, as in `pairwise_distance`.
        swap (bool): counts the distance from positive to negative if it is smaller (Balntas and others, 2016).
        size_average, reduce, reduction: as of all losses.

    Raises:
        ValueError: the margin is not positive.
        RuntimeError: the numbers of dimensions differ.
    """
    word = reduction_word(reduction, size_average, reduce)
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")

    def distance(one: Any, other: Any) -> Any:
        return ops.pairwise_distance(one, other, p, eps)

    return _of_triples(anchor, positive, negative, distance, margin, swap, word, "triplet_margin_loss")


def triplet_margin_with_distance_loss(
    anchor: Any,
    positive: Any,
    negative: Any,
    *,
    distance_function: Callable[[Any, Any], Any] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Any:
    """Return `triplet_margin_loss` by a distance of your own, `distance_function(x, y)`; None: `pairwise_distance`.

    Raises:
        ValueError: the margin is not positive, or the reduction not known.
    """
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    distance = ops.pairwise_distance if distance_function is None else distance_function
    return _of_triples(
        anchor, positive, negative, distance, margin, swap, reduction, "triplet_margin_with_distance_loss"
    )


def _of_triples(
    anchor: Any, positive: Any, negative: Any, distance: Any, margin: float, swap: bool, word: str, name: str
) -> Any:
    if not anchor.dim() == positive.dim() == negative.dim():
        raise RuntimeError(
            f"The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: "
            f"anchor {anchor.dim()}D, positive {positive.dim()}D, and negative {negative.dim()}D inputs"
        )
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = ops.minimum(far, distance(positive, negative))
    return reduced_loss((margin + near - far).clamp(min=0), word)
