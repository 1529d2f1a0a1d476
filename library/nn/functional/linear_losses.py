"""The cross entropy of a linear map."""

from __future__ import annotations

import warnings
from math import prod
from typing import Any

from ... import _nn_functional, _operators
from ..._base.dtypes import EXPORTS
from ...utils.checkpoint import checkpoint

__all__ = ["linear_cross_entropy"]

linear: Any = _nn_functional.linear
cross_entropy: Any = _nn_functional.cross_entropy


def linear_cross_entropy(
    input: Any,
    linear_weight: Any,
    target: Any,
    *,
    linear_bias: Any = None,
    weight: Any = None,
    reduction: str = "mean",
    ignore_index: int | None = None,
    label_smoothing: float = 0.0,
    options: Any = None,
) -> Any:
    """Return the cross entropy of `linear(input, linear_weight, linear_bias)`.

    Args:
        input (Tensor): of shape (N, F) or (F).
        linear_weight (Tensor): of shape (C, F), or (C, *, F) for a loss of several dimensions.
        target (Tensor): classes, of shape (N, *), or probabilities, of shape (N, C, *).
        linear_bias (Tensor): of shape (C, *).
        weight (Tensor): a factor for each class.
        reduction (str): `none`, `mean` or `sum`.
        ignore_index (int): the class that does not count; -100 unless given.
        label_smoothing (float): the share of the target that is spread over all classes.
        options (LinearCrossEntropyOptions): computes parts of the batch one after the other, and again in the backward
            pass, so that there are never scores of all of it. Classes alone, without smoothing.

    Raises:
        RuntimeError: the shapes do not fit.
    """
    classes, features, scores = _shapes(input, linear_weight, linear_bias)
    is_probable = tuple(target.shape) == scores
    if is_probable and ignore_index is not None:
        raise RuntimeError("ignore_index cannot be specified when target contains probabilities")
    ignored = -100 if ignore_index is None else ignore_index
    flat = linear_weight.reshape(prod(linear_weight.shape[:-1]), features)
    bias = None if linear_bias is None else linear_bias.reshape(-1)

    def loss(rows: Any, kept: Any, word: str) -> Any:
        result = linear(rows, flat, bias).reshape((*rows.shape[:-1], *scores[input.dim() - 1 :]))
        return cross_entropy(
            result, kept, weight=weight, reduction=word, ignore_index=ignored, label_smoothing=label_smoothing
        )

    if options is None:
        return loss(input, target, reduction)
    if linear_weight.dim() > 2 or label_smoothing or target.dtype is not EXPORTS["int64"]:
        warnings.warn(
            "linear_cross_entropy: `options` ignored; parts of the batch need classes as the target, no label "
            f"smoothing, and a weight of two dimensions. Got label_smoothing={label_smoothing}, "
            f"target.dtype={target.dtype}, and a weight of shape {tuple(linear_weight.shape)}.",
            stacklevel=2,
        )
        return loss(input, target, reduction)
    if input.dim() == 1:
        return loss(input, target, reduction)
    size = options.rows_of_chunk(input.size(0), features, classes)
    chunks = zip(input.split(size), target.split(size), strict=True)
    word = "none" if reduction == "none" else "sum"
    parts = [checkpoint(loss, rows, kept, word, use_reentrant=False) for rows, kept in chunks]
    if reduction == "none":
        return _operators.cat(parts)
    total = _operators.stack(parts).sum()
    return total if reduction == "sum" else total / _weight_of(target, weight, ignored, total)


def _shapes(input: Any, weight: Any, bias: Any) -> tuple[int, int, tuple[int, ...]]:
    """The numbers of classes and of features, and the shape of the scores."""
    if input.dim() not in (1, 2):
        raise RuntimeError(f"expected input with dimensionality 1 or 2, got {input.dim()}")
    if weight.dim() < 2:
        raise RuntimeError(f"expected linear_weight with dimensionality at least 2, got {weight.dim()}")
    if input.shape[-1] != weight.shape[-1]:
        raise RuntimeError(
            "expected equal input and linear_weight last dimensions (in_features), got "
            f"{input.shape[-1]} and {weight.shape[-1]}, respectively"
        )
    outputs = tuple(weight.shape[:-1])
    if bias is not None and tuple(bias.shape) != outputs:
        raise RuntimeError(f"expected linear_bias shape {outputs}, got {tuple(bias.shape)}")
    if len(outputs) > 1 and input.dim() == 1:
        raise RuntimeError(
            f"K-dimensional loss defined by linear_weight shape {tuple(weight.shape)} requires batched input, "
            f"(N, {input.shape[-1]}), got unbatched input with shape {tuple(input.shape)}"
        )
    return outputs[0], input.shape[-1], (*input.shape[:-1], *outputs)


def _weight_of(target: Any, weight: Any, ignored: int, total: Any) -> Any:
    """Return the total weight of the losses of all rows."""
    kept = target != ignored
    if weight is None:
        return kept.sum().to(total.dtype)
    return _operators.where(kept, weight[target.where(kept, 0)], 0).sum()
