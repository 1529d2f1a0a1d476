"""Recurrent layers beside their cells, step by step: sizes beside those of vectors and panels, halves, threads."""

from __future__ import annotations

import math
from typing import Any

import opweave
import pytest
from opweave import nn

LAYERS: dict[str, tuple[Any, Any, dict[str, str]]] = {
    "lstm": (nn.LSTM, nn.LSTMCell, {}),
    "gru": (nn.GRU, nn.GRUCell, {}),
    "tanh": (nn.RNN, nn.RNNCell, {}),
    "relu": (nn.RNN, nn.RNNCell, {"nonlinearity": "relu"}),
}
kinds = pytest.mark.parametrize("kind", LAYERS)


def numbers(*shape: int, dtype: opweave.dtype = opweave.float64) -> opweave.Tensor:
    return (opweave.arange(math.prod(shape)) * 1.7).sin().reshape(shape).to(dtype).requires_grad_()


def pair(kind: str, inputs: int, size: int, bias: bool = True) -> tuple[Any, Any]:
    """A layer, and the cell with its weights."""
    layer, cell, options = LAYERS[kind]
    made = layer(inputs, size, bias=bias, dtype=opweave.float64, **options)
    same = cell(inputs, size, bias=bias, dtype=opweave.float64, **options)
    same.load_state_dict({name.removesuffix("_l0"): value for name, value in made.state_dict().items()})
    return made, same


@kinds
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(("batch", "size"), [(1, 1), (2, 5), (9, 16), (3, 33), (8, 48)])
def test_layers_are_cells_step_by_step(kind: str, batch: int, size: int, bias: bool) -> None:
    layer, cell = pair(kind, 3, size, bias)
    x, h, c = numbers(4, batch, 3), numbers(1, batch, size), numbers(1, batch, size)
    is_lstm = kind == "lstm"
    found, last = layer(x, (h, c) if is_lstm else h)
    state, states = (h[0], c[0]) if is_lstm else h[0], []
    for each in x:
        state = cell(each, state)
        states.append(state[0] if is_lstm else state)
    pairs = [(found, opweave.stack(states))]
    pairs += [(one[0], other) for one, other in (zip(last, state, strict=True) if is_lstm else [(last, state)])]
    for one, other in pairs:
        opweave.testing.assert_close(one, other)
    given = (x, h, c) if is_lstm else (x, h)
    totals = [sum((each * numbers(*each.shape).detach()).sum() for each in side) for side in zip(*pairs, strict=True)]
    for one, other in zip(
        opweave.autograd.grad(totals[0], [*given, *layer.parameters()]),
        opweave.autograd.grad(totals[1], [*given, *cell.parameters()]),
        strict=True,
    ):
        opweave.testing.assert_close(one, other)


@kinds
def test_results_do_not_depend_on_threads(kind: str) -> None:
    layer, _ = pair(kind, 3, 130)
    layer.float()
    threads, found = opweave.get_num_threads(), []
    try:
        for count in (1, 2):
            opweave.set_num_threads(count)
            result, _ = layer(numbers(6, 17, 3, dtype=opweave.float32))
            found.append([result, *opweave.autograd.grad(result.square().sum(), [layer.weight_hh_l0])])
    finally:
        opweave.set_num_threads(threads)
    for one, other in zip(*found, strict=True):
        assert opweave.equal(one, other)


@kinds
def test_halves_are_rounded_once(kind: str) -> None:
    layer, _ = pair(kind, 3, 5)
    layer.bfloat16()
    x = numbers(1, 2, 3, dtype=opweave.bfloat16)
    gates = opweave.nn.functional.linear(x, layer.weight_ih_l0, layer.bias_ih_l0 + layer.bias_hh_l0)
    found, _ = layer(x)
    assert found.dtype is opweave.bfloat16
    if kind == "tanh":
        assert opweave.equal(found, gates.float().tanh().bfloat16())
    found.sum().backward()
    assert layer.weight_hh_l0.grad.dtype is opweave.bfloat16


def test_sequences_in_their_order_are_contiguous() -> None:
    """Lengths that do not descend: sequences are put back into their order, which copies them."""
    x = opweave.arange(12.0).reshape(2, 3, 2)
    packed = nn.utils.rnn.pack_padded_sequence(x, opweave.tensor([2, 3]), batch_first=True, enforce_sorted=False)
    padded, lengths = nn.utils.rnn.pad_packed_sequence(packed, batch_first=True)
    assert padded.is_contiguous()
    assert padded.tolist() == [[[0.0, 1.0], [2.0, 3.0], [0.0, 0.0]], [[6.0, 7.0], [8.0, 9.0], [10.0, 11.0]]]
    assert lengths.tolist() == [2, 3]


@kinds
def test_outputs_may_be_overwritten(kind: str) -> None:
    layer, _ = pair(kind, 3, 5)
    grads = []
    for is_overwritten in (False, True):
        found, _ = layer(numbers(4, 2, 3))
        result = found.mul_(2) if is_overwritten else found * 2
        grads.append(opweave.autograd.grad(result.sum(), list(layer.parameters())))
    for one, other in zip(*grads, strict=True):
        assert opweave.equal(one, other)
