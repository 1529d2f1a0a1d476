"""Gradients of all steps of a recurrent layer: those of its weight are one product, not one for each step."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from ..._dispatch.ops import ops
from ..._handle import keys, recur
from ..recurrent import by_steps
from ..recurrent_steps import States
from ..values import is_differentiated, wide
from .recorded import recorded_gradients

__all__ = ["steps_backward"]


def steps_backward(
    kind: str, grads: Sequence[Any], given: Sequence[Any], kept: Sequence[Any], backwards: bool
) -> Sequence[Any]:
    """Return the gradients of the gates, the first state, its cell, the weight and the bias.

    Args:
        kind (str): that of the layer.
        grads (Sequence[Any]): those of the outputs, the last state and its cell.
        given (Sequence[Any]): the gates, the first state, its cell, the weight and the bias.
        kept (Sequence[Any]): states, cells and activated gates, which are empty if they were not kept.
        backwards (bool): whether the steps went from the last to the first.
    """
    if all(each is None for each in grads):
        return [None] * len(given)
    there = [each for each in (*grads, *given) if each is not None]
    if kept[0].numel() and not keys(*there, *kept) and not is_differentiated(*there):
        found = _through_time(kind, grads, given, kept, backwards)
        if found is not None:
            pairs = zip(found, given, strict=True)
            return [None if each is None else by.to(each.dtype) for by, each in pairs]
    of_results = grads[:2] if given[2] is None else grads  # without a cell
    return recorded_gradients(partial(_by_steps, kind, backwards), given, of_results)


def _by_steps(kind: str, backwards: bool, *given: Any) -> tuple[Any, ...]:
    gates, h, c, weight, bias = given
    found, state = by_steps(kind, gates, h, c, weight, bias, backwards)
    return (found, *state)


def _through_time(
    kind: str, grads: Sequence[Any], given: Sequence[Any], kept: Sequence[Any], backwards: bool
) -> list[Any] | None:
    by_found, by_last, by_cell = grads
    whole, whole_cells, values = kept
    c, weight = given[2:4]
    states, totals = States(whole, backwards), States(ops.zeros_like(whole), backwards)
    if by_found is not None:
        totals.after.copy_(by_found)
    if by_last is not None:
        totals.last.add_(by_last)
    by_gates = whole.new_empty((*states.after.shape[:2], weight.size(0)))
    by_inner = by_gates  # what the state adds to the gates, whose gradients a GRU has others of
    if kind == "lstm":
        cells = States(whole_cells, backwards)
        by_cell = ops.zeros_like(wide(c)) if by_cell is None else wide(by_cell).clone()
        by_cells = by_cell.expand(cells.after.shape)
        function, results = ops.lstm_gradients, (*by_gates.chunk(4, 2), by_cells)
        inputs = totals.after, by_cells, *values.chunk(4, 2), cells.before, cells.after
    elif kind == "gru":
        by_inner = whole.new_empty(by_gates.shape)
        function, results = ops.gru_gradients, (*by_gates.chunk(3, 2), *by_inner.chunk(3, 2), totals.before)
        inputs = totals.after, totals.before, *values.chunk(4, 2), states.before
    else:
        function = ops.rnn_tanh_gradients if kind == "rnn_tanh" else ops.rnn_relu_gradients
        results, inputs = (by_gates,), (totals.after, states.after)
    product = totals.before, totals.before, by_inner, wide(weight).contiguous()
    if not recur(function, (*results, *inputs), product, not backwards, True):
        return None
    flat = by_inner.flatten(0, 1)
    by_weight = flat.t().mm(states.before.flatten(0, 1))
    return [by_gates, totals.first.clone(), by_cell, by_weight, flat.sum(0)]
