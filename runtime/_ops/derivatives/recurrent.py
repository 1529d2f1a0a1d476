"""Gradients of all steps of an LSTM at once: that of the weight is one product, not one for each step."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from ..._dispatch.ops import ops
from ..lstm_steps import step_places
from ..recurrent import lstm_by_steps
from ..values import is_differentiated
from .recorded import recorded_gradients

__all__ = ["lstm_through_time"]


def lstm_through_time(
    grads: Sequence[Any], given: Sequence[Any], found: Any, activated: Any, cells: Any, backwards: bool
) -> Sequence[Any]:
    """Return the gradients of the gates, the first state, the weight and the bias.

    Args:
        grads (Sequence[Any]): those of the outputs and of the last state.
        given (Sequence[Any]): the gates, the first state, the weight and the bias.
        found, activated, cells (Tensor): the outputs, the activated gates and the cells.
        backwards (bool): whether the steps went from the last to the first.
    """
    if all(each is None for each in grads):
        return [None] * 5
    if is_differentiated(*(each for each in (*grads, *given) if each is not None)):
        return recorded_gradients(partial(lstm_by_steps, backwards=backwards), given, grads)
    _, h, c, weight, bias = given
    steps, _, size = cells.shape
    by_found, by_h, by_c = (
        ops.zeros_like(like) if grad is None else grad for grad, like in zip(grads, (found, h, c), strict=True)
    )

    def before(begin: Any, states: Any) -> Any:
        """The states before each step."""
        first = begin.unsqueeze(0)
        return ops.cat([states[1:], first] if backwards else [first, states[:-1]])

    # What gradients of cells and outputs are multiplied by, for all steps at once. Steps make gradients of gates of it.
    keep_in, forget, new, last = activated.chunk(4, 2)
    curved = cells.tanh()
    by_cell = last * (1 - curved * curved)
    by_gates = ops.stack(
        [
            new * keep_in * (1 - keep_in),
            before(c, cells) * forget * (1 - forget),
            keep_in * (1 - new * new),
            curved * last * (1 - last),
        ],
        2,
    )
    views = by_gates.flatten(2), by_gates.narrow(2, 0, 3), by_gates.select(2, 3), by_found, by_cell, forget
    listed = list(zip(*(each.unbind(0) for each in views), strict=True))
    for place in step_places(steps, not backwards):
        part, of_cell, of_output, by_output, slope, kept = listed[place]
        by_h = by_h + by_output
        by_c = ops.addcmul(by_c, by_h, slope)
        of_cell.mul_(by_c.unsqueeze(1))
        of_output.mul_(by_h)
        by_c = by_c * kept
        by_h = part.matmul(weight)
    by_gates = by_gates.flatten(2)
    flat = by_gates.view(-1, 4 * size)
    by_weight = flat.t().matmul(before(h, found).view(-1, size))
    return by_gates, by_h, by_c, by_weight, None if bias is None else flat.sum(0)
