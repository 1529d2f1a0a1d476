"""Losses over classes besides those that are operators: margins, several labels, and sequences without alignment."""

from __future__ import annotations

import math
from typing import Any

from ..._base.dtypes import EXPORTS
from ..._dispatch.autocast import autocasts
from ..._dispatch.ops import ops
from ..._ops.losses import reduced_loss, reduction_word

__all__ = ["ctc_loss", "multi_margin_loss", "multilabel_margin_loss", "multilabel_soft_margin_loss"]


@autocasts("float32")
def multi_margin_loss(
    input: Any,
    target: Any,
    p: int = 1,
    margin: float = 1.0,
    weight: Any = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """Return the multi-class margin loss: the sum over other classes `j` of `max(0, margin - x[target] + x[j]) ** p`,
    divided by the number of classes.

    Args:
        input (Tensor): scores, of shape (N, C) or (C).
        target (Tensor): classes, of shape (N) or ().
        p (int): 1 or 2.
        margin (float): the margin.
        weight (Tensor): a factor for the losses of each target class, of shape (C).
        size_average, reduce, reduction: as of all losses.

    Raises:
        ValueError: `p` is another number.
        RuntimeError: the shapes do not fit, or a target is no class.
    """
    word = reduction_word(reduction, size_average, reduce)
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    if weight is not None and weight.dim() != 1:
        raise ValueError("weight must be one-dimensional")
    rows = input.reshape(1, -1) if input.dim() < 2 else input
    if input.dim() > 2 or not rows.size(1):
        raise RuntimeError(
            f"Expected non-empty vector or matrix with optional 0-dim batch size, but got: {list(input.shape)}"
        )
    places = target.reshape(-1)
    if target.dim() > 1 or places.numel() != rows.size(0):
        raise RuntimeError(f"inconsistent target size, expected {rows.size(0)} but got {list(target.shape)}")
    if weight is not None and weight.numel() != rows.size(1):
        raise RuntimeError(f"inconsistent weight size, expected {rows.size(1)} but got {list(weight.shape)}")
    ops.assert_values(ops.is_between(places, 0, rows.size(1)), "RuntimeError", "target out of range")
    columns = places.unsqueeze(1)
    lacking = (margin - rows.gather(1, columns) + rows).clamp(min=0)
    if p == 2:
        lacking = lacking.square()
    if weight is not None:
        lacking = lacking * weight.index_select(0, places).unsqueeze(1)
    losses = lacking.scatter(1, columns, 0.0).sum(1) / rows.size(1)
    return reduced_loss(losses.reshape(()) if input.dim() < 2 else losses, word)


@autocasts("float32")
def multilabel_margin_loss(
    input: Any, target: Any, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean"
) -> Any:
    """Return the multi-label margin loss: the sum over labels `y` and other classes `j` of `max(0, 1 - x[y] + x[j])`,
    divided by the number of classes.

    Args:
        input (Tensor): scores, of shape (N, C) or (C).
        target (Tensor): labels, of the same shape; those after the first -1 do not count.
        size_average, reduce, reduction: as of all losses.

    Raises:
        RuntimeError: the shapes do not fit, or a label is no class.
    """
    word = reduction_word(reduction, size_average, reduce)
    if input.dim() > 2 or 0 in input.shape[-1:]:
        raise RuntimeError(
            f"Expected non-empty vector or matrix with optional 0-dim batch size, but got: {list(input.shape)}"
        )
    if target.shape != input.shape and not (input.dim() < 2 and target.numel() == input.numel()):
        raise RuntimeError(f"inconsistent target size: {list(target.shape)} for input of size: {list(input.shape)}")
    rows, labels = (each.reshape(1, -1) if each.dim() < 2 else each for each in (input, target))
    count = rows.size(1)
    ops.assert_values(ops.is_between(labels, -1, count), "RuntimeError", "target out of range")
    counts = (labels < 0).cumsum(1) == 0
    places = labels.clamp(min=0)
    is_label = ops.zeros_like(places).scatter_add_(1, places, counts.to(places.dtype)) > 0
    lacking = (1 - rows.gather(1, places).unsqueeze(2) + rows.unsqueeze(1)).clamp(min=0)
    lacking = lacking.masked_fill(~counts.unsqueeze(2) | is_label.unsqueeze(1), 0)
    losses = lacking.sum((1, 2)) / count
    return reduced_loss(losses.reshape(()) if input.dim() < 2 else losses, word)


def multilabel_soft_margin_loss(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """Return the mean over classes, the last dimension, of the binary cross entropy of each label.

    Args:
        input (Tensor): scores, of shape (*, C).
        target (Tensor): of the same shape, 1 for labels and 0 for other classes.
        weight (Tensor): a factor for each class.
        size_average, reduce, reduction: as of all losses.
    """
    word = reduction_word(reduction, size_average, reduce)
    losses = -(target * ops.logsigmoid(input) + (1 - target) * ops.logsigmoid(-input))
    if weight is not None:
        losses = losses * weight
    return reduced_loss(losses.sum(-1) / input.size(-1), word)


@autocasts("float32")
def ctc_loss(
    log_probs: Any,
    targets: Any,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Any:
    """Return the connectionist temporal classification loss: the negative log likelihood of a sequence of labels, over
    all alignments with a sequence of distributions (Graves and others, Connectionist Temporal Classification, 2006).

    Args:
        log_probs (Tensor): logarithms of probabilities, of shape (T, N, C) or (T, C).
        targets (Tensor): labels, of shape (N, S), or all one after the other.
        input_lengths, target_lengths (Tensor or list of int): how many of each sequence count, of shape (N) or ().
        blank (int): the class between labels.
        reduction (str): `none`; `mean`, of losses divided by the lengths of their targets; or `sum`.
        zero_infinity (bool): whether infinite losses, of sequences too short, are zero, as their gradients.

    Raises:
        RuntimeError: lengths or labels are out of range.
    """
    word = reduction_word(reduction)
    single = log_probs.dim() == 2
    if single:
        log_probs, targets = log_probs.unsqueeze(1), targets.unsqueeze(0) if targets.dim() == 1 else targets
    steps, batch, classes = log_probs.shape
    inputs, labels = (_lengths(each) for each in (input_lengths, target_lengths))
    if not 0 <= blank < classes:
        raise RuntimeError("blank must be in label range")
    for name, lengths in (("input_lengths", inputs), ("target_lengths", labels)):
        if len(lengths) != batch:
            raise RuntimeError(f"{name} must be of size batch_size")
    longest = targets.size(1) if targets.dim() == 2 else targets.numel()
    for name, lengths, most in (("input_lengths", inputs, steps), ("target_lengths", labels, longest)):
        for each in lengths:
            if not 0 <= each <= most:
                bound = "least 0" if each < 0 else f"most {most}"
                raise RuntimeError(
                    f"Expected {name} to have value at {bound}, but got value {each} (while checking arguments for "
                    "ctc_loss)"
                )
    if targets.dim() == 1 and sum(labels) > longest:
        raise RuntimeError(f"target_lengths {labels} are more than the {longest} elements of targets together")
    losses = _alignments(log_probs, _padded(targets, labels, blank), inputs, labels, blank)
    if zero_infinity:
        losses = ops.where(losses == float("inf"), ops.zeros_like(losses.detach()), losses)
    if word == "mean":
        return (losses / losses.new_tensor(labels).clamp(min=1)).mean()
    if word == "sum":
        return losses.sum()
    return losses.squeeze(0) if single else losses


def _lengths(given: Any) -> list[int]:
    if hasattr(given, "tolist"):
        given = given.reshape(-1).tolist()
    return [int(given)] if isinstance(given, int) else [int(each) for each in given]


def _padded(targets: Any, lengths: list[int], blank: int) -> Any:
    """The labels as rows, filled up with blanks."""
    if targets.dim() == 2:
        return targets
    parts, first = [], 0
    longest = max([*lengths, 0])
    for length in lengths:
        parts.append(ops.pad(targets.narrow(0, first, length), [0, longest - length], value=blank))
        first += length
    return ops.stack(parts)


def _alignments(log_probs: Any, labels: Any, inputs: list[int], lengths: list[int], blank: int) -> Any:
    """Minus the logarithms of the sums over all alignments, by the recursion over time: for each place in the sequence
    of labels with blanks between them, how probable it is to be there.
    """
    steps, batch, _ = log_probs.shape
    longest = labels.size(1)
    labels = labels.to(EXPORTS["int64"])
    places = labels.new_full((batch, 2 * longest + 1), blank)
    places[:, 1::2] = labels
    never = log_probs.new_full((), float("-inf"))
    # A blank between two labels may be left out if they differ.
    skips = ops.zeros_like(places, dtype=EXPORTS["bool"])
    skips[:, 2:] = (places[:, 2:] != blank) & (places[:, 2:] != places[:, :-2])
    reached = log_probs.gather(2, places.unsqueeze(0).expand(steps, -1, -1))
    beginning = log_probs.new_zeros(places.shape, dtype=skips.dtype)
    beginning[:, :2] = True
    current = ops.where(beginning, reached[0], never)
    along = [current]
    for step in range(1, steps):
        one = ops.pad(current[:, :-1], [1, 0], value=float("-inf"))
        two = ops.where(skips, ops.pad(current, [2, 0], value=float("-inf"))[:, : places.size(1)], never)
        current = _log_sum(current, one, two) + reached[step]
        along.append(current)
    last = [max(each - 1, 0) for each in inputs]
    final = ops.stack([along[step][row] for row, step in enumerate(last)])
    results = []
    for row, length in enumerate(lengths):
        tails = final[row, max(2 * length - 1, 0) : 2 * length + 1]
        results.append(-_log_sum(*tails.unbind()) if inputs[row] else _constant(tails[0], math.inf if length else -0.0))
    return ops.stack(results)


def _constant(like: Any, value: float) -> Any:
    """A number whose gradient is zero."""
    return like.masked_fill(like.new_ones((), dtype=EXPORTS["bool"]), value)


def _log_sum(*values: Any) -> Any:
    """The logarithm of the sum of exponentials, whose gradient is zero where all are zero."""
    stacked = ops.stack(values)
    top = stacked.detach().amax(0)
    shift = ops.where(top == float("-inf"), ops.zeros_like(top), top)
    total = (stacked - shift).exp().sum(0)
    nothing = total.detach() == 0
    return ops.where(nothing, top, ops.where(nothing, ops.ones_like(top), total).log() + shift)
