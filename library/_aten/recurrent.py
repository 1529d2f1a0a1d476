"""Recurrent layers, and one step of them, as functions of their weights."""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._tensor.tensor import Tensor
from ..nn.functional.recurrent import STEPS, Layer, recurrent

_PACKAGE_NAMES = ["gru", "gru_cell", "lstm", "lstm_cell", "rnn_relu", "rnn_relu_cell", "rnn_tanh", "rnn_tanh_cell"]


def _step(mode: str, input: Any, state: tuple[Any, ...], *weights: Any) -> Any:
    layer = Layer(weights, True)
    return STEPS[mode](layer.of_inputs(input), state, layer)


def lstm_cell(
    input: Tensor,
    hx: Sequence[Tensor],
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """One step of an LSTM: the next hidden state and the next cell.

    Args:
        input: shape (N, I) or (I).
        hx: the hidden state and the cell, of shape (N, H) or (H).
        w_ih, w_hh: shapes (4 * H, I) and (4 * H, H), of the gates i, f, g and o.
        b_ih, b_hh: shape (4 * H), or None.

    Returns a tuple of two tensors of the shape of the state; dtype of the inputs. Raises RuntimeError where sizes do
    not fit.
    """
    return _step("LSTM", input, tuple(hx), w_ih, w_hh, b_ih, b_hh)


def gru_cell(
    input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None
) -> Tensor:
    """One step of a GRU: the next state, of the shape of `hx`. As `lstm_cell`, with weights of the gates r, z and n."""
    return _step("GRU", input, (hx,), w_ih, w_hh, b_ih, b_hh)[0]


def rnn_tanh_cell(
    input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None
) -> Tensor:
    """One step of a recurrent layer with tanh: the next state, of the shape of `hx`."""
    return _step("RNN_TANH", input, (hx,), w_ih, w_hh, b_ih, b_hh)[0]


def rnn_relu_cell(
    input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None
) -> Tensor:
    """One step of a recurrent layer with relu: the next state, of the shape of `hx`."""
    return _step("RNN_RELU", input, (hx,), w_ih, w_hh, b_ih, b_hh)[0]


def _layers(
    mode: str,
    x: Any,
    sizes: Any,
    hx: Any,
    params: Sequence[Any],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool = False,
) -> Any:
    directions = 2 if bidirectional else 1
    count = len(params) // (num_layers * directions)
    weights = [params[first : first + count] for first in range(0, len(params), count)]
    x = x.transpose(0, 1) if batch_first else x
    state = tuple(hx) if mode == "LSTM" else (hx,)
    listed = None if sizes is None else sizes.tolist()
    output, final = recurrent(mode, x, listed, state, weights, has_biases, directions, dropout if train else 0.0)
    return (output.transpose(0, 1) if batch_first else output, *final)


def lstm(input: Tensor, hx: Any, *args: Any, **kwargs: Any) -> tuple[Tensor, ...]:
    """Layers of an LSTM: `lstm(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first)`,
    or of a packed sequence `lstm(data, batch_sizes, hx, params, has_biases, num_layers, dropout, train,
    bidirectional)`.

    Args:
        input: shape (T, N, I), or (N, T, I) with `batch_first`; `data` has shape (the sum of `batch_sizes`, I).
        hx: the hidden states and the cells at first, of shape (num_layers * directions, N, H).
        params: of each layer and direction w_ih and w_hh, with `has_biases` b_ih and b_hh, and maybe w_hr.
        dropout: the probability of dropout between layers when `train`.

    Returns the outputs of the last layer, of shape (T, N, directions * H), and the hidden states and cells at last;
    dtype of the inputs. Raises RuntimeError where sizes do not fit.
    """
    return _of("LSTM", isinstance(hx, Tensor), input, hx, args, kwargs)


def gru(input: Tensor, hx: Any, *args: Any, **kwargs: Any) -> tuple[Tensor, ...]:
    """Layers of a GRU, as `lstm`: `hx` is one tensor, and one is returned beside the outputs."""
    return _of("GRU", bool(args) and isinstance(args[0], Tensor), input, hx, args, kwargs)


def rnn_tanh(input: Tensor, hx: Any, *args: Any, **kwargs: Any) -> tuple[Tensor, ...]:
    """Recurrent layers with tanh, as `gru`."""
    return _of("RNN_TANH", bool(args) and isinstance(args[0], Tensor), input, hx, args, kwargs)


def rnn_relu(input: Tensor, hx: Any, *args: Any, **kwargs: Any) -> tuple[Tensor, ...]:
    """Recurrent layers with relu, as `gru`."""
    return _of("RNN_RELU", bool(args) and isinstance(args[0], Tensor), input, hx, args, kwargs)


def _of(mode: str, is_packed: bool, input: Any, second: Any, args: Any, kwargs: Any) -> Any:
    """The second argument is the sizes of batches where the sequence is packed, and else the state."""
    given = (second, *args) if is_packed else (None, second, *args)
    return _layers(mode, input, *given, **kwargs)
