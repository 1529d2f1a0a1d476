"""Line search for a step that satisfies the strong Wolfe conditions.

Nocedal and Wright, Numerical Optimization, 2nd edition, algorithms 3.5 and 3.6, with the safeguards of Schmidt's
minFunc: a trial next to an end of the bracket is moved inwards when the one before it was there as well.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from .._tensor.tensor import Tensor

# How much the loss must fall in proportion to the slope, and the slope itself (c1 and c2).
_SUFFICIENT_DECREASE, _CURVATURE = 1e-4, 0.9


@dataclass(frozen=True)
class Trial:
    """A step along the direction, and what was found there."""

    step: float
    loss: float
    gradient: Tensor
    slope: float
    """The derivative of the loss by the length of the step."""


Evaluate: TypeAlias = Callable[[float], Trial]


def strong_wolfe(
    evaluate: Evaluate, start: Trial, step: float, extent: float, tolerance_change: float, max_trials: int
) -> tuple[Trial, int]:
    """A step that satisfies the conditions, or the best one found, and how many steps were tried.

    Args:
        evaluate: tries a step.
        start: step 0.
        step: the step to try first.
        extent: largest absolute element of the direction.
        tolerance_change: bracket, in units of the parameters, that is not searched further.
        max_trials: how many steps to try after the first.
    """
    bracket, trials = _bracket(evaluate, start, step, max_trials)
    if len(bracket) == 2 and trials < max_trials:
        trials = _zoom(evaluate, start, bracket, extent, tolerance_change, trials, max_trials)
    return bracket[_lower(bracket)], trials + 1


def _bracket(evaluate: Evaluate, start: Trial, step: float, max_trials: int) -> tuple[list[Trial], int]:
    """Two steps with such a step between them, or the step itself; and how many were tried after the first."""
    previous, current = start, evaluate(step)
    for trials in range(max_trials):
        if _too_high(current, start) or (trials > 1 and current.loss >= previous.loss):
            return [previous, current], trials
        if _is_flat(current, start):
            return [current], trials
        if current.slope >= 0:
            return [previous, current], trials
        least = current.step + 0.01 * (current.step - previous.step)
        following = _cubic_minimum(previous, current, least, 10 * current.step)
        previous, current = current, evaluate(following)
    return [start, current], max(max_trials, 0)


def _zoom(
    evaluate: Evaluate,
    start: Trial,
    bracket: list[Trial],
    extent: float,
    tolerance_change: float,
    trials: int,
    max_trials: int,
) -> int:
    """Narrows the bracket until its lower end satisfies the conditions; returns how many steps have been tried."""
    low, was_near_end = _lower(bracket), False
    while trials < max_trials:
        first, last = sorted(trial.step for trial in bracket)
        if (last - first) * extent < tolerance_change:
            break
        step = _cubic_minimum(bracket[0], bracket[1], first, last)
        margin = 0.1 * (last - first)
        near_end = min(last - step, step - first) < margin
        if near_end and (was_near_end or not first < step < last):
            step = last - margin if last - step < step - first else first + margin
            near_end = False
        was_near_end = near_end
        trial = evaluate(step)
        trials += 1
        high = 1 - low
        if _too_high(trial, start) or trial.loss >= bracket[low].loss:
            bracket[high] = trial
            low = _lower(bracket)
            continue
        done = _is_flat(trial, start)
        if not done and trial.slope * (bracket[high].step - bracket[low].step) >= 0:
            bracket[high] = bracket[low]
        bracket[low] = trial
        if done:
            break
    return trials


def _lower(bracket: list[Trial]) -> int:
    """Return the end with the lower loss."""
    return 0 if bracket[0].loss <= bracket[-1].loss else 1


def _too_high(trial: Trial, start: Trial) -> bool:
    return trial.loss > start.loss + _SUFFICIENT_DECREASE * trial.step * start.slope


def _is_flat(trial: Trial, start: Trial) -> bool:
    return abs(trial.slope) <= -_CURVATURE * start.slope


def _cubic_minimum(a: Trial, b: Trial, least: float, most: float) -> float:
    """The minimum, within bounds, of the cubic with the losses and slopes of two trials; the middle if it has none.

    Nocedal and Wright, equation 3.59.
    """
    if a.step > b.step:
        a, b = b, a
    middle = (least + most) / 2
    if a.step == b.step:
        return middle
    mean = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.step - b.step)
    square = mean * mean - a.slope * b.slope
    if not square >= 0:
        return middle
    root = math.sqrt(square)
    divisor = b.slope - a.slope + 2 * root
    if divisor == 0 or not math.isfinite(divisor):
        return middle
    position = b.step - (b.step - a.step) * ((b.slope + root - mean) / divisor)
    return min(max(position, least), most)
