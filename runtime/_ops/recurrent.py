"""Recurrent layers: what one step computes, and loops over steps, also of packed sequences.

Inputs are (T, N, I), or the data of a packed sequence, whose batch of each step is listed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .._base.promotion import promote_types
from .._dispatch.ops import ops
from .node_outputs import outputs

__all__ = ["by_steps", "check_layers", "next_state", "recurrent_layers"]

Step = Callable[[Any, Any, "Layer"], Any]


class Layer:
    """The weights of one layer and direction."""

    def __init__(self, weights: Sequence[Any], bias: bool) -> None:
        given: list[Any] = [*weights[:2], *(weights[2:4] if bias else (None, None))]
        self.w_ih, self.w_hh, self.b_ih, self.b_hh = given
        rest = weights[4 if bias else 2 :]
        self.w_hr = rest[0] if rest else None

    def of_inputs(self, x: Any) -> Any:
        """Return what the inputs of all steps add to the gates, in one product, which strided ones would not be."""
        return ops.linear(x.contiguous(), self.w_ih, self.b_ih)

    def join_biases(self) -> None:
        """Have the inputs add both biases, which a GRU has apart."""
        if self.b_hh is not None:
            self.b_ih, self.b_hh = self.b_ih + self.b_hh, None

    def of_state(self, h: Any) -> Any:
        """Return what the state adds to the gates."""
        return ops.linear(h, self.w_hh, self.b_hh)


# ---- one step -----------------------------------------------------------------------------------------------


def _tanh_step(gates: Any, state: Any, layer: Layer) -> Any:
    (h,) = state
    return ((gates + layer.of_state(h)).tanh(),)


def _relu_step(gates: Any, state: Any, layer: Layer) -> Any:
    (h,) = state
    return ((gates + layer.of_state(h)).relu(),)


def _gru_step(gates: Any, state: Any, layer: Layer) -> Any:
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


def _lstm_step(gates: Any, state: Any, layer: Layer) -> Any:
    h, c = state
    size = c.size(-1)
    first, new, last = (gates + layer.of_state(h)).split((2 * size, size, size), -1)
    keep_in, forget = first.sigmoid().chunk(2, -1)
    c = ops.addcmul(forget * c, keep_in, new.tanh())
    h = last.sigmoid() * c.tanh()
    return h if layer.w_hr is None else ops.linear(h, layer.w_hr), c


_STEPS: dict[str, Step] = {"lstm": _lstm_step, "gru": _gru_step, "rnn_tanh": _tanh_step, "rnn_relu": _relu_step}


def next_state(kind: str, input: Any, state: Sequence[Any], *weights: Any) -> Any:
    """Return the state after one step, a tuple; `weights` are those of the input and of the state, and their biases."""
    layer = Layer(weights, True)
    return _STEPS[kind](layer.of_inputs(input), state, layer)


# ---- all steps ----------------------------------------------------------------------------------------------


def _over_steps(step: Step, gates: Any, state: Any, layer: Layer, backwards: bool) -> tuple[Any, Any]:
    parts = gates.unbind(0)
    found: list[Any] = [None] * len(parts)
    for place in reversed(range(len(parts))) if backwards else range(len(parts)):
        state = step(parts[place], state, layer)
        found[place] = state[0]
    return ops.stack(found), state


def by_steps(kind: str, gates: Any, h: Any, c: Any, weight: Any, bias: Any, backwards: bool) -> tuple[Any, Any]:
    """Return what `recurrent_steps` does, by operators that can be differentiated: the outputs and the last state."""
    state = (h,) if c is None else (h, c)
    return _over_steps(_STEPS[kind], gates, state, Layer([None, weight, None, bias], True), backwards)


def _over_all(kind: str, gates: Any, state: Any, layer: Layer, backwards: bool) -> tuple[Any, Any]:
    """Under autocast the state of a GRU is not in the half format of the gates."""
    if layer.w_hr is not None or (kind == "gru" and gates.dtype is not state[0].dtype):
        return _over_steps(_STEPS[kind], gates, state, layer, backwards)
    h, c = state if kind == "lstm" else (*state, None)
    steps = ops.recurrent_steps(kind, gates, h, c, layer.w_hh, layer.b_hh, backwards)
    found, *final = outputs(steps, 0, 1, *([] if c is None else [2]))
    return found, final


def _over_packed(
    step: Step, x: Any, sizes: Sequence[int], state: Any, layer: Layer, backwards: bool
) -> tuple[Any, Any]:
    """Sequences are sorted by length, the longest first: those that have ended are the last of the batch."""
    gates = layer.of_inputs(x).split(list(sizes))
    found: list[Any] = [None] * len(gates)
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
        found[place] = state[0]
    parts = [state, *reversed(ended)]
    final = tuple(ops.cat(each) if len(each) > 1 else each[0] for each in zip(*parts, strict=True))
    return ops.cat(found), final


def check_layers(
    state: Sequence[Any], params: Sequence[Any], has_biases: bool, num_layers: int, directions: int
) -> None:
    """Raise RuntimeError unless there are states and parameters for all layers."""
    layers, count = num_layers * directions, _parameter_count(state, has_biases)
    if not 0 < layers <= state[0].size(0):
        raise RuntimeError("Expected more hidden states in stacked_rnn")
    if len(params) % count:
        raise RuntimeError(f"MatrixRef: ArrayRef size {len(params)} not divisible by stride {count}")
    if len(params) < layers * count:
        raise RuntimeError(f"Expected {layers * count} parameters of {layers} layers, but got {len(params)}")


def _parameter_count(state: Sequence[Any], has_biases: bool) -> int:
    """The number of parameters of a layer in one direction. One more projects the hidden state to fewer elements than
    the cell has."""
    is_projected = len(state) == 2 and state[0].size(-1) != state[1].size(-1)
    return (4 if has_biases else 2) + is_projected


def recurrent_layers(
    kind: str,
    x: Any,
    sizes: Any,
    state: Sequence[Any],
    params: Sequence[Any],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    bidirectional: bool,
) -> tuple[Any, ...]:
    """Several layers, each of which has one direction or both.

    Args:
        kind: `lstm`, `gru`, `rnn_tanh` or `rnn_relu`.
        x: the input.
        sizes: of a packed sequence the batch of each step.
        state: tensors (layers * directions, N, H), one or two.
        params: the weights of each layer and direction, one after the other.
        has_biases: whether there are biases.
        num_layers: the number of layers.
        dropout: the probability of dropout between layers.
        bidirectional: whether there are two directions.

    Returns:
        The output of the last layer, and the state at the end.
    """
    step, finals = _STEPS[kind], []
    directions, count = 2 if bidirectional else 1, _parameter_count(state, has_biases)
    listed = None if sizes is None else sizes.tolist()
    for first in range(0, num_layers * directions, directions):
        found = []
        for place in range(first, first + directions):
            layer, backwards = Layer(params[place * count : (place + 1) * count], has_biases), place > first
            begin = tuple(each[place] for each in state)
            if kind != "gru" and begin[0].dtype is layer.w_hh.dtype:  # products refuse other dtypes
                layer.join_biases()
            if listed is not None:
                output, final = _over_packed(step, x, listed, begin, layer, backwards)
            else:
                output, final = _over_all(kind, layer.of_inputs(x), begin, layer, backwards)
            found.append(output)
            finals.append(final)
        x = found[0] if directions == 1 else ops.cat(found, -1)
        if dropout and first + directions < num_layers * directions:
            x = ops.dropout(x, dropout, True)
    return (x, *(ops.stack(each) for each in zip(*finals, strict=True)))
