"""Connectionist temporal classification: the losses of all alignments of labels with steps, for `ctc_loss`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .._base.dtypes import EXPORTS
from .._base.tensor_class import Tensor
from .._dispatch.ops import ops

__all__ = ["alignment_losses", "are_lengths", "length_count"]


def are_lengths(given: Any) -> bool:
    """Return True for integers, of a list or of a tensor."""
    if not isinstance(given, Tensor):
        return True
    dtype = given.dtype
    return not (dtype.is_floating_point or dtype.is_complex or dtype is EXPORTS["bool"])


def length_count(given: Any) -> int:
    """Return the number of lengths in a list, a tensor or a number."""
    return given.numel() if isinstance(given, Tensor) else 1 if isinstance(given, int) else len(given)


def alignment_losses(
    log_probs: Any, targets: Any, input_lengths: Any, target_lengths: Any, blank: int
) -> tuple[Any, list[int]]:
    """Return the losses of a batch, shape (N) for `log_probs` (T, N, C), and the lengths of the targets.

    Raises RuntimeError where lengths do not fit.
    """
    steps = log_probs.size(0)
    inputs, labels = _lengths(input_lengths), _lengths(target_lengths)
    longest = targets.size(1) if targets.dim() == 2 else targets.numel()
    _check_lengths("input_lengths", inputs, steps)
    _check_lengths("target_lengths", labels, longest)
    if targets.dim() == 1 and sum(labels) > longest:
        raise RuntimeError(f"target_lengths {labels} are more than the {longest} elements of targets together")
    return _losses(log_probs, _padded(targets, labels, blank), inputs, labels, blank), labels


def _check_lengths(name: str, lengths: Sequence[int], most: int) -> None:
    for each in lengths:
        if not 0 <= each <= most:
            bound = "least 0" if each < 0 else f"most {most}"
            raise RuntimeError(
                f"Expected {name} to have value at {bound}, but got value {each} (while checking arguments for "
                "ctc_loss)"
            )


def _lengths(given: Any) -> list[int]:
    if isinstance(given, Tensor):
        return list(given.reshape(-1).tolist())
    return [given] if isinstance(given, int) else list(given)


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


def _losses(log_probs: Any, labels: Any, inputs: list[int], lengths: list[int], blank: int) -> Any:
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
