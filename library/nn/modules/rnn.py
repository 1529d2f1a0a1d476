"""Recurrent layers."""

from __future__ import annotations

import math
import numbers
from typing import Any

from ..._base.warn import warn
from ..._dispatch.ops import ops
from ..._operators import empty
from .. import init
from ..parameter import Parameter
from ..utils.rnn import PackedSequence
from .module import Module

__all__ = ["GRU", "LSTM", "RNN", "RNNBase"]

_GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}
_ARGUMENTS = """
    Args:
        input_size (int): the last size of inputs.
        hidden_size (int): H, the size of the state.
        num_layers (int): how many layers, each of which takes what the one before it returns.
{more}        bias (bool): whether there are biases.
        batch_first (bool): whether inputs and outputs are (N, T, I), and not (T, N, I).
        dropout (float): the probability of dropout between layers.
        bidirectional (bool): whether to go also from the last step to the first, with the outputs of both side by side.
{last}        device, dtype: those of the parameters.

    It is called with an input, which may have no batch or be a PackedSequence, and perhaps the first state, zeros
    otherwise: {state}. It returns the outputs of all steps, and the last state.

    Example:
        >>> outputs, last = opweave.nn.{name}(3, 5, batch_first=True)(opweave.ones(2, 7, 3))
        >>> outputs.shape
        opweave.Size([2, 7, 5])
    """


def draw_uniform(module: Any) -> None:
    """Draw all parameters of a module, uniform between plus and minus one over the root of its hidden size."""
    limit = 1.0 / math.sqrt(module.hidden_size) if module.hidden_size > 0 else 0
    for weight in module.parameters():
        init.uniform_(weight, -limit, limit)


class RNNBase(Module):
    """Base of recurrent layers of a `mode`: `LSTM`, `GRU`, `RNN_TANH` or `RNN_RELU`."""

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.mode, self.input_size, self.hidden_size, self.num_layers = mode, input_size, hidden_size, num_layers
        self.bias, self.batch_first, self.dropout = bias, batch_first, float(dropout)
        self.bidirectional, self.proj_size = bidirectional, proj_size
        if mode not in _GATES:
            raise ValueError("Unrecognized RNN mode: " + mode)
        self._ow_check_options(dropout)
        place = {"device": device, "dtype": dtype}
        gates, directions, outputs = _GATES[mode] * hidden_size, 1 + bidirectional, proj_size or hidden_size
        self._all_weights: list[list[str]] = []
        for layer in range(num_layers):
            width = input_size if layer == 0 else outputs * directions
            for suffix in ("", "_reverse")[:directions]:
                shapes: dict[str, tuple[int, ...]] = {"weight_ih": (gates, width), "weight_hh": (gates, outputs)}
                if bias:
                    shapes |= {"bias_ih": (gates,), "bias_hh": (gates,)}
                if proj_size:
                    shapes |= {"weight_hr": (proj_size, hidden_size)}
                names = {f"{name}_l{layer}{suffix}": shape for name, shape in shapes.items()}
                for name, shape in names.items():
                    setattr(self, name, Parameter(empty(shape, **place)))
                self._all_weights.append(list(names))
        self.reset_parameters()

    def _ow_check_options(self, dropout: Any) -> None:
        is_number = isinstance(dropout, numbers.Number) and not isinstance(dropout, bool)
        if not is_number or not 0 <= dropout <= 1:
            raise ValueError(
                "dropout should be a number in range [0, 1] representing the probability of an element being zeroed"
            )
        if dropout > 0 and self.num_layers == 1:
            warn(
                "dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects "
                f"num_layers greater than 1, but got dropout={dropout} and num_layers={self.num_layers}"
            )
        for name in ("hidden_size", "input_size", "num_layers"):
            value = getattr(self, name)
            if name == "hidden_size" and not isinstance(value, int):
                raise TypeError(f"hidden_size should be of type int, got: {type(value).__name__}")
            if name != "input_size" and value <= 0:
                raise ValueError(f"{name} must be greater than zero")
        if self.proj_size < 0:
            raise ValueError("proj_size should be a positive integer or zero to disable projections")
        if self.proj_size >= self.hidden_size:
            raise ValueError("proj_size has to be smaller than hidden_size")

    def reset_parameters(self) -> None:
        """Draw all parameters anew, uniform between plus and minus one over the root of H."""
        draw_uniform(self)

    def flatten_parameters(self) -> None:
        """Accepted without effect: the layout of parameters in memory does not matter here."""

    @property
    def all_weights(self) -> list[list[Any]]:
        """The parameters of each layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    def extra_repr(self) -> str:
        defaults = {
            "proj_size": 0, "num_layers": 1, "bias": True, "batch_first": False, "dropout": 0, "bidirectional": False
        }  # fmt: skip
        given = ((name, getattr(self, name)) for name in defaults)
        changed = [f"{name}={value}" for name, value in given if value != defaults[name]]
        return ", ".join([str(self.input_size), str(self.hidden_size), *changed])

    def _ow_sizes(self, batch: int) -> list[tuple[int, int, int]]:
        """The shapes of a state."""
        count = self.num_layers * (1 + self.bidirectional)
        hidden = (count, batch, self.proj_size or self.hidden_size)
        return [hidden, (count, batch, self.hidden_size)][: 2 if self.mode == "LSTM" else 1]

    def _ow_check_input(self, x: Any, packed: bool) -> None:
        if not packed and x.dim() not in (2, 3):
            name, tensor = self._get_name(), " tensor" if self.mode[:3] == "RNN" else ""
            raise ValueError(f"{name}: Expected input to be 2D or 3D, got {x.dim()}D{tensor} instead")
        if x.size(-1) != self.input_size:
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {x.size(-1)}"
            )

    def _ow_states(self, hx: Any, x: Any, batch: int, one: bool) -> tuple[Any, ...]:
        sizes = self._ow_sizes(batch)
        if hx is None:
            return tuple(x.new_zeros(size) for size in sizes)
        given = tuple(hx) if self.mode == "LSTM" else (hx,)
        wanted = 2 if one else 3
        for each in given:
            if each.dim() != wanted:
                kind = f"For {'un' * one}batched {wanted}-D input, hx"
                if self.mode == "LSTM":
                    dims = ", ".join(f"{state.dim()}-D" for state in given)
                    raise RuntimeError(f"{kind} and cx should also be {wanted}-D but got ({dims}) tensors")
                raise RuntimeError(f"{kind} should also be {wanted}-D but got {each.dim()}-D tensor")
        if one:
            given = tuple(each.unsqueeze(1) for each in given)
        for place, (each, size) in enumerate(zip(given, sizes, strict=True)):
            if tuple(each.size()) != size:
                names = ("hidden[0]", "hidden[1]") if self.mode == "LSTM" else ("hidden",)
                raise RuntimeError(f"Expected {names[place]} size {size}, got {list(each.size())}")
        return given

    def forward(self, input: Any, hx: Any = None) -> Any:
        """Return the outputs of all steps, and the last state."""
        packed = isinstance(input, PackedSequence)
        x, sizes, order, restore = input if packed else (input, None, None, None)
        self._ow_check_input(x, packed)
        one = not packed and x.dim() == 2
        if one:
            x = x.unsqueeze(1)
        elif not packed and self.batch_first:
            x = x.transpose(0, 1)
        listed = None if sizes is None else sizes.tolist()
        state = self._ow_states(hx, x, listed[0] if listed is not None else x.size(1), one)
        if order is not None and hx is not None:
            state = tuple(each.index_select(1, order) for each in state)
        if listed is None and not x.size(0):
            raise RuntimeError("Expected sequence length to be larger than 0 in RNN")
        layers: Any = getattr(ops, self.mode.lower())
        params = [each for weights in self.all_weights for each in weights]
        settings = (params, self.bias, self.num_layers, self.dropout, self.training, self.bidirectional)
        begin = state if self.mode == "LSTM" else state[0]
        output, *final = layers(x, sizes, begin, *settings) if packed else layers(x, begin, *settings, False)
        if restore is not None:
            final = [each.index_select(1, restore) for each in final]
        if packed:
            output = PackedSequence(output, sizes, order, restore)
        elif one:
            output, final = output.squeeze(1), [each.squeeze(1) for each in final]
        elif self.batch_first:
            output = output.transpose(0, 1)
        return output, tuple(final) if self.mode == "LSTM" else final[0]


class RNN(RNNBase):
    __doc__ = "Elman network (1990): `h = tanh(W_ih x + b_ih + W_hh h + b_hh)` for each step.\n" + _ARGUMENTS.format(
        name="RNN", more="        nonlinearity (str): `tanh` or `relu`.\n", last="", state="(layers * directions, N, H)"
    )

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        nonlinearity: str = "tanh",
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.")
        mode = f"RNN_{nonlinearity.upper()}"
        super().__init__(
            mode, input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, 0, device, dtype
        )
        self.nonlinearity = nonlinearity


class LSTM(RNNBase):
    __doc__ = "Long short-term memory (Hochreiter and Schmidhuber, 1997).\n" + _ARGUMENTS.format(
        name="LSTM",
        more="",
        last="        proj_size (int): the size of outputs, which are projected; 0: they are not.\n",
        state="two tensors, (layers * directions, N, H), of which the first has the size of outputs",
    )

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(
            "LSTM", input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, proj_size, device,
            dtype,
        )  # fmt: skip


class GRU(RNNBase):
    __doc__ = "Gated recurrent units (Cho and others, 2014).\n" + _ARGUMENTS.format(
        name="GRU", more="", last="", state="(layers * directions, N, H)"
    )

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(
            "GRU", input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, 0, device, dtype
        )
