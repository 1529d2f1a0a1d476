"""Recurrent layers are operators, which the rules of samples and of tangents and modes see."""

from __future__ import annotations

from typing import Any

import opweave
import pytest
from opweave import nn
from opweave.func import grad, jvp, vmap
from opweave.overrides import TorchFunctionMode

GATES = {"lstm": 4, "gru": 3, "rnn_tanh": 1, "rnn_relu": 1}
kinds = pytest.mark.parametrize("kind", GATES)


def values(*shape: int) -> Any:
    return opweave.arange(1, 1 + opweave.Size(shape).numel(), dtype=opweave.float64).reshape(shape).sin()


def weights(kind: str) -> list[Any]:
    gates = 3 * GATES[kind]
    return [values(gates, 4), values(gates, 3) / 2, values(gates) / 3, values(gates) / 4]


def begin(kind: str, count: int = 2) -> Any:
    state = values(1, count, 3)
    return [state, state / 2] if kind == "lstm" else state


def outputs(kind: str, x: Any) -> Any:
    layers = getattr(opweave, kind)
    return layers(x, begin(kind), weights(kind), True, 1, 0.0, False, False, False)[0]


@kinds
def test_samples(kind: str) -> None:
    def total(x: Any) -> Any:
        return outputs(kind, x).square().sum()

    x = values(3, 5, 2, 4)
    opweave.testing.assert_close(vmap(total)(x), opweave.stack([total(each) for each in x]))
    opweave.testing.assert_close(vmap(grad(total))(x), opweave.stack([grad(total)(each) for each in x]))
    _, change = jvp(total, (x[0],), (x[1],))
    opweave.testing.assert_close(change, (grad(total)(x[0]) * x[1]).sum())


@kinds
def test_gradients_have_gradients(kind: str) -> None:
    assert opweave.autograd.gradgradcheck(lambda x: outputs(kind, x), values(3, 2, 4).requires_grad_())


class Names(TorchFunctionMode):
    """The names of the functions that are called."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.seen.append(func.__name__)
        return func(*args, **(kwargs or {}))


@kinds
def test_packed_sequences(kind: str) -> None:
    """Those without padding have the outputs of the sequence; positions and names of arguments are torch's."""
    x = values(5, 2, 4)
    packed = nn.utils.rnn.pack_sequence([x[:, 0], x[:, 1]])
    layers, state, params = getattr(opweave, kind), begin(kind), weights(kind)
    with Names() as names:
        given = layers(packed.data, packed.batch_sizes, state, params, True, 1, 0.0, False, False)
    assert kind in names.seen
    opweave.testing.assert_close(given[0].view(5, 2, 3), outputs(kind, x))
    settings = {"num_layers": 1, "dropout": 0.0, "train": False, "bidirectional": False}
    assert opweave.equal(layers(packed.data, packed.batch_sizes, state, params, True, **settings)[0], given[0])
    assert getattr(opweave.ops.aten, kind).data is not None


@kinds
def test_layers_call_the_operator(kind: str) -> None:
    made = {"lstm": nn.LSTM, "gru": nn.GRU}.get(kind, nn.RNN)(
        4, 3, **{"nonlinearity": kind[4:]} if kind[:3] == "rnn" else {}
    )
    with Names() as names:
        made(values(5, 2, 4).float())
    assert kind in names.seen
