"""The layers of encoders and decoders of transformers (Vaswani and others, Attention Is All You Need, 2017)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import functional
from .attention import MultiheadAttention
from .dropout import Dropout
from .linear import Linear
from .module import Module
from .normalization import LayerNorm

__all__ = ["TransformerDecoderLayer", "TransformerEncoderLayer"]


def _get_activation_fn(given: Any) -> Callable[[Any], Any]:
    if not isinstance(given, str):
        return given  # type: ignore[no-any-return]
    if given not in ("relu", "gelu"):
        raise RuntimeError(f"activation should be relu/gelu, not {given}")
    return getattr(functional, given)  # type: ignore[no-any-return]


class _Block(Module):
    """Base class of layers of encoders and decoders: attention and a feed-forward network, each added to its input."""

    _ow_attentions: tuple[str, ...]

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Any = functional.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        place = {"device": device, "dtype": dtype}
        super().__init__()
        for name in self._ow_attentions:
            made = MultiheadAttention(d_model, nhead, dropout=dropout, bias=bias, batch_first=batch_first, **place)
            setattr(self, name, made)
        self.linear1 = Linear(d_model, dim_feedforward, bias=bias, **place)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias=bias, **place)
        self.norm_first = norm_first
        count = len(self._ow_attentions) + 1
        for number in range(1, count + 1):
            setattr(self, f"norm{number}", LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **place))
        for number in range(1, count + 1):
            setattr(self, f"dropout{number}", Dropout(dropout))
        self.activation = _get_activation_fn(activation)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if not hasattr(self, "activation"):
            self.activation = functional.relu

    def _ow_around(self, number: int, x: Any, block: Callable[[Any], Any]) -> Any:
        """The input with what a block makes of it, normalized before or after."""
        norm, dropout = getattr(self, f"norm{number}"), getattr(self, f"dropout{number}")
        return x + dropout(block(norm(x))) if self.norm_first else norm(x + dropout(block(x)))

    def _ow_attended(self, attention: Module, x: Any, memory: Any, mask: Any, padding: Any, is_causal: bool) -> Any:
        """Return the result of attention of queries `x` to the memory."""
        masks = {"attn_mask": mask, "key_padding_mask": padding, "is_causal": is_causal}
        return attention(x, memory, memory, need_weights=False, **masks)[0]

    def _ow_feed(self, x: Any) -> Any:
        return self.linear2(self.dropout(self.activation(self.linear1(x))))


class TransformerEncoderLayer(_Block):
    """Layer of a transformer encoder: self-attention and a feed-forward network.

    Args:
        d_model (int): E, the size of inputs and results.
        nhead (int): how many heads.
        dim_feedforward (int): the inner size of the feed-forward network.
        dropout (float): of weights, of the inner layer and of what is added.
        activation (str or Callable): `relu`, `gelu`, or a function.
        layer_norm_eps (float): of the normalizations.
        batch_first (bool): whether inputs are (N, L, E), and not (L, N, E).
        norm_first (bool): whether the input of a block is normalized, instead of its sum.
        bias (bool): whether there are biases.
        device, dtype: those of the parameters.

    Example:
        >>> opweave.nn.TransformerEncoderLayer(8, nhead=2, batch_first=True)(opweave.ones(2, 5, 8)).shape
        opweave.Size([2, 5, 8])
    """

    _ow_attentions = ("self_attn",)

    def forward(self, src: Any, src_mask: Any = None, src_key_padding_mask: Any = None, is_causal: bool = False) -> Any:
        """Return a tensor of the shape of `src`. The masks are those of MultiheadAttention."""

        def attend(x: Any) -> Any:
            return self._ow_attended(self.self_attn, x, x, src_mask, src_key_padding_mask, is_causal)

        return self._ow_around(2, self._ow_around(1, src, attend), self._ow_feed)


class TransformerDecoderLayer(_Block):
    """Layer of a transformer decoder: self-attention, attention to the output of an encoder, and a feed-forward
    network. The arguments are those of TransformerEncoderLayer.

    Example:
        >>> layer = opweave.nn.TransformerDecoderLayer(8, nhead=2, batch_first=True)
        >>> layer(opweave.ones(2, 3, 8), opweave.ones(2, 5, 8)).shape
        opweave.Size([2, 3, 8])
    """

    _ow_attentions = ("self_attn", "multihead_attn")

    def forward(
        self,
        tgt: Any,
        memory: Any,
        tgt_mask: Any = None,
        memory_mask: Any = None,
        tgt_key_padding_mask: Any = None,
        memory_key_padding_mask: Any = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Any:
        """Return a tensor of the shape of `tgt`. The masks are those of MultiheadAttention."""

        def attend(x: Any) -> Any:
            return self._ow_attended(self.self_attn, x, x, tgt_mask, tgt_key_padding_mask, tgt_is_causal)

        def remember(x: Any) -> Any:
            return self._ow_attended(
                self.multihead_attn, x, memory, memory_mask, memory_key_padding_mask, memory_is_causal
            )

        return self._ow_around(3, self._ow_around(2, self._ow_around(1, tgt, attend), remember), self._ow_feed)
