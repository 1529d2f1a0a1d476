"""All steps of a recurrent layer at once, for the composite `recurrent_steps`.

A step is a product with one matrix, which the core packs once for all of them, and an elementwise operator
(`_handle.recur`). Tensors that this does not suit, as those with dispatch keys, go through operators step by step.
Gradients are in derivatives/recurrent.py.
"""

from __future__ import annotations

from typing import Any

from .._dispatch.ops import ops
from .._handle import keys, recur
from .recurrent import by_steps
from .values import wide

__all__ = ["States", "steps_forward"]


class States:
    """The states of a layer before the first step, between steps and behind the last one, in one tensor.

    Attributes:
        before, after: the states before and after each step.
        first, last: those before the first step, and behind the last one.
    """

    def __init__(self, whole: Any, backwards: bool) -> None:
        lower, upper, lowest, highest = whole[:-1], whole[1:], whole[0], whole[-1]
        self.whole = whole
        self.before, self.after = (upper, lower) if backwards else (lower, upper)
        self.first, self.last = (highest, lowest) if backwards else (lowest, highest)


def steps_forward(
    kind: str, gates: Any, h: Any, c: Any, weight: Any, bias: Any, backwards: bool
) -> tuple[Any, Any, Any, Any, Any, Any]:
    """Return the outputs of all steps, the last state, its cell, and what gradients use: the states, the cells, and
    the activated gates. What there is none of is an empty tensor."""
    none = h.new_empty(0)
    given = [each for each in (gates, h, c, weight, bias) if each is not None]
    if not keys(*given) and all(each.dtype is h.dtype for each in given):
        states = _begin(h, gates.size(0), backwards)
        cells = None if c is None else _begin(c, gates.size(0), backwards)
        values = _go(kind, wide(gates), states, cells, wide(weight), bias, backwards)
        if values is not None:
            # Users may overwrite what they get.
            found, last = (each.to(h.dtype, copy=True) for each in (states.after, states.last))
            if cells is None:
                return found, last, none, states.whole, none, values
            return found, last, cells.last.to(c.dtype, copy=True), states.whole, cells.whole, values
    found, state = by_steps(kind, gates, h, c, weight, bias, backwards)
    return found, state[0], none if c is None else state[1], none, none, none


def _begin(first: Any, steps: int, backwards: bool) -> States:
    states = States(wide(first).new_empty((steps + 1, *first.shape)), backwards)
    states.first.copy_(first)
    return states


def _go(kind: str, gates: Any, states: States, cells: States | None, weight: Any, bias: Any, backwards: bool) -> Any:
    """Compute all states and cells. Return the activated gates; of a GRU reset, update, what the state adds to the
    new values, and these. None where tensors do not suit."""
    steps, batch, width = gates.shape
    values = gates.new_empty(0)
    if bias is not None and kind != "gru":
        gates = gates + wide(bias)
    if cells is not None:
        to = values = gates.new_empty(gates.shape)
        parts = values.chunk(4, 2)
        function, tensors = ops.lstm_values, (*parts, cells.after, states.after, *parts, cells.before)
    elif kind == "gru":
        values = gates.new_empty((steps, batch, width // 3 * 4))
        reset, update, inner, new = values.chunk(4, 2)
        results, of_state = (reset, update, new, states.after), (reset, update, inner)
        function, tensors = ops.gru_values, (*results, *gates.chunk(3, 2), *of_state, states.before)
        to = values.narrow(2, 0, width)
        gates = wide(gates.new_zeros(width) if bias is None else bias).expand(gates.shape)
    else:
        to = states.after
        function, tensors = ops.tanh if kind == "rnn_tanh" else ops.relu, (to, to)
    product = to, gates, states.before, weight.t().contiguous()
    return values if recur(function, tensors, product, backwards, False) else None
