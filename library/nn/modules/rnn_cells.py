"""Cells of recurrent networks, which compute one step."""

from __future__ import annotations

from typing import Any

from ..._dispatch.ops import ops
from ..._operators import empty
from ..parameter import Parameter
from .module import Module
from .rnn import draw_uniform

__all__ = ["GRUCell", "LSTMCell", "RNNCell", "RNNCellBase"]


class RNNCellBase(Module):
    """Base of cells, which compute one step."""

    _ow_mode: str

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool, num_chunks: int, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        gates = num_chunks * hidden_size
        shapes: dict[str, tuple[int, ...]] = {"weight_ih": (gates, input_size), "weight_hh": (gates, hidden_size)}
        for name, shape in (shapes | {"bias_ih": (gates,), "bias_hh": (gates,)}).items():
            made = Parameter(empty(shape, device=device, dtype=dtype)) if bias or name in shapes else None
            self.register_parameter(name, made)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw all parameters anew, uniform between plus and minus one over the root of the state's size."""
        draw_uniform(self)

    def extra_repr(self) -> str:
        shown = "" if self.bias else f", bias={self.bias}"
        nonlinearity = getattr(self, "nonlinearity", "tanh")
        shown += "" if nonlinearity == "tanh" else f", nonlinearity={nonlinearity}"
        return f"{self.input_size}, {self.hidden_size}{shown}"

    def _ow_step(self, x: Any, hx: Any) -> tuple[Any, ...]:
        name = self._get_name()
        if x.dim() not in (1, 2):
            raise ValueError(f"{name}: Expected input to be 1D or 2D, got {x.dim()}D instead")
        states: tuple[Any, ...] = () if hx is None else tuple(hx) if self._ow_mode == "LSTM" else (hx,)
        for place, each in enumerate(states):
            if each.dim() not in (1, 2):
                shown = f"hx[{place}]" if self._ow_mode == "LSTM" else "hidden"
                raise ValueError(f"{name}: Expected {shown} to be 1D or 2D, got {each.dim()}D instead")
        one = x.dim() == 1
        if one:
            x = x.unsqueeze(0)
        if x.size(1) != self.input_size:
            raise RuntimeError(f"input has inconsistent input_size: got {x.size(1)} expected {self.input_size}")
        if hx is None:
            states = (x.new_zeros((x.size(0), self.hidden_size)),) * (2 if self._ow_mode == "LSTM" else 1)
        elif one:
            states = tuple(each.unsqueeze(0) for each in states)
        for place, each in enumerate(states):
            if each.size(0) != x.size(0):
                raise RuntimeError(
                    f"Input batch size {x.size(0)} doesn't match hidden{place} batch size {each.size(0)}"
                )
            if each.size(1) != self.hidden_size:
                raise RuntimeError(
                    f"hidden{place} has inconsistent hidden_size: got {each.size(1)}, expected {self.hidden_size}"
                )
        weights = [self.weight_ih, self.weight_hh] + ([self.bias_ih, self.bias_hh] if self.bias else [])
        step: Any = getattr(ops, f"{self._ow_mode.lower()}_cell")
        result = step(x, states if self._ow_mode == "LSTM" else states[0], *weights)
        found = result if self._ow_mode == "LSTM" else (result,)
        return tuple(each.squeeze(0) for each in found) if one else found


class RNNCell(RNNCellBase):
    """Cell of an Elman network, `tanh(W_ih x + b_ih + W_hh h + b_hh)`, or with `relu`.

    Args:
        input_size (int): the last size of inputs, (N, input_size) or (input_size).
        hidden_size (int): the size of the state, zeros if it is not given.
        bias (bool): whether there are biases.
        nonlinearity (str): `tanh` or `relu`.
        device, dtype: those of the parameters.

    Example:
        >>> opweave.nn.RNNCell(3, 5)(opweave.ones(2, 3)).shape
        opweave.Size([2, 5])
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Any, hx: Any = None) -> Any:
        """Return the next state."""
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        self._ow_mode = f"RNN_{self.nonlinearity.upper()}"
        return self._ow_step(input, hx)[0]


class LSTMCell(RNNCellBase):
    """Cell of long short-term memory, one step of LSTM. The arguments are those of RNNCell; the state is a pair of
    tensors.

    Example:
        >>> hidden, cell = opweave.nn.LSTMCell(3, 5)(opweave.ones(2, 3))
        >>> hidden.shape, cell.shape
        (opweave.Size([2, 5]), opweave.Size([2, 5]))
    """

    _ow_mode = "LSTM"

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(self, input: Any, hx: Any = None) -> Any:
        """Return the next state."""
        return self._ow_step(input, hx)


class GRUCell(RNNCellBase):
    """Cell of gated recurrent units, one step of GRU. The arguments are those of RNNCell.

    Example:
        >>> opweave.nn.GRUCell(3, 5)(opweave.ones(2, 3)).shape
        opweave.Size([2, 5])
    """

    _ow_mode = "GRU"

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input: Any, hx: Any = None) -> Any:
        """Return the next state."""
        return self._ow_step(input, hx)[0]
