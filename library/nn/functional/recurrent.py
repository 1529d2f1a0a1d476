"""Recurrent layers: what one step computes, and loops over steps, also of packed sequences.

Inputs are (T, N, I), or the data of a packed sequence, whose batch of each step is listed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ... import _operators as ops
from ..._base.promotion import promote_types
from .lstm_sequence import lstm_sequence

__all__: list[str] = []

Step = Callable[[Any, Any, "Layer"], Any]


class Layer:
    """The weights of one layer and direction."""

    def __init__(self, weights: Sequence[Any], bias: bool) -> None:
        given: list[Any] = [*weights[:2], *(weights[2:4] if bias else (None, None))]
        self.w_ih, self.w_hh, self.b_ih, self.b_hh = given
        rest = weights[4 if bias else 2 :]
        self.w_hr = rest[0] if rest else None

    def of_inputs(self, x: Any) -> Any:
        """Return what the inputs of all steps add to the gates, in one product."""
        return ops.linear(x, self.w_ih, self.b_ih)

    def of_state(self, h: Any) -> Any:
        """Return what the state adds to the gates."""
        return ops.linear(h, self.w_hh, self.b_hh)


def tanh_step(gates: Any, state: Any, layer: Layer) -> Any:
    """Return the next state of an Elman network with `tanh`."""
    (h,) = state
    return ((gates + layer.of_state(h)).tanh(),)


def relu_step(gates: Any, state: Any, layer: Layer) -> Any:
    """Return the next state of an Elman network with `relu`."""
    (h,) = state
    return ((gates + layer.of_state(h)).relu(),)


def gru_step(gates: Any, state: Any, layer: Layer) -> Any:
    """Return the next state of gated recurrent units."""
    (h,) = state
    size = h.size(-1)
    inner = layer.of_state(h)
    both = (gates.narrow(-1, 0, 2 * size) + inner.narrow(-1, 0, 2 * size)).sigmoid()
    reset, update = both.chunk(2, -1)
    new = ops.addcmul(gates.narrow(-1, 2 * size, size), reset, inner.narrow(-1, 2 * size, size)).tanh()
    if new.dtype is not h.dtype:  # under autocast the gates are in a half format
        wide = promote_types(new.dtype, h.dtype)
        new, h, update = new.to(wide), h.to(wide), update.to(wide)
    return (ops.lerp(new, h, update),)


def lstm_step(gates: Any, state: Any, layer: Layer) -> Any:
    """Return the next state and cell state of long short-term memory; the state is projected where the layer has a
    projection."""
    h, c = state
    size = c.size(-1)
    first, new, last = (gates + layer.of_state(h)).split((2 * size, size, size), -1)
    keep_in, forget = first.sigmoid().chunk(2, -1)
    c = ops.addcmul(forget * c, keep_in, new.tanh())
    h = last.sigmoid() * c.tanh()
    return h if layer.w_hr is None else ops.linear(h, layer.w_hr), c


STEPS: dict[str, Step] = {"LSTM": lstm_step, "GRU": gru_step, "RNN_TANH": tanh_step, "RNN_RELU": relu_step}


def _over_steps(step: Step, x: Any, state: Any, layer: Layer, backwards: bool) -> tuple[Any, Any]:
    gates = layer.of_inputs(x).unbind(0)
    outputs: list[Any] = [None] * len(gates)
    for place in reversed(range(len(gates))) if backwards else range(len(gates)):
        state = step(gates[place], state, layer)
        outputs[place] = state[0]
    return ops.stack(outputs), state


def _over_packed(
    step: Step, x: Any, sizes: Sequence[int], state: Any, layer: Layer, backwards: bool
) -> tuple[Any, Any]:
    """Sequences are sorted by length, the longest first: those that have ended are the last of the batch."""
    gates = layer.of_inputs(x).split(list(sizes))
    outputs: list[Any] = [None] * len(gates)
    whole, ended = state, []
    state = tuple(each[: sizes[-1] if backwards else sizes[0]] for each in whole)
    for place in reversed(range(len(gates))) if backwards else range(len(gates)):
        size, before = sizes[place], state[0].size(0)
        if size < before:
            ended.append(tuple(each[size:] for each in state))
            state = tuple(each[:size] for each in state)
        elif size > before:
            state = tuple(ops.cat([each, begin[before:size]]) for each, begin in zip(state, whole, strict=True))
        state = step(gates[place], state, layer)
        outputs[place] = state[0]
    parts = [state, *reversed(ended)]
    final = tuple(ops.cat(each) if len(each) > 1 else each[0] for each in zip(*parts, strict=True))
    return ops.cat(outputs), final


def recurrent(
    mode: str,
    x: Any,
    sizes: Sequence[int] | None,
    state: tuple[Any, ...],
    weights: Sequence[Sequence[Any]],
    bias: bool,
    directions: int,
    dropout: float,
) -> tuple[Any, tuple[Any, ...]]:
    """Several layers, each of which has one direction or both.

    Args:
        mode: a key of STEPS.
        x: the input.
        sizes: of a packed sequence the batch of each step.
        state: tensors (layers * directions, N, H), one or two.
        weights: of each layer and direction.
        bias: whether there are biases.
        directions: 1 or 2.
        dropout: the probability of dropout between layers.

    Returns:
        The output of the last layer, and the state at the end.
    """
    step, finals = STEPS[mode], []
    for first in range(0, len(weights), directions):
        outputs = []
        for direction in range(directions):
            layer = Layer(weights[first + direction], bias)
            begin = tuple(each[first + direction] for each in state)
            if sizes is None and mode == "LSTM" and layer.w_hr is None:
                output, final = lstm_sequence(
                    layer.of_inputs(x), begin[0], begin[1], layer.w_hh, layer.b_hh, direction == 1
                )
            elif sizes is None:
                output, final = _over_steps(step, x, begin, layer, direction == 1)
            else:
                output, final = _over_packed(step, x, sizes, begin, layer, direction == 1)
            outputs.append(output)
            finals.append(final)
        x = outputs[0] if directions == 1 else ops.cat(outputs, -1)
        if dropout and first + directions < len(weights):
            x = ops.dropout(x, dropout, True)
    return x, tuple(ops.stack(each) for each in zip(*finals, strict=True))
