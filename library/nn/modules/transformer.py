"""Transformers (Vaswani and others, Attention Is All You Need, 2017)."""

from __future__ import annotations

import copy
from typing import Any

from ..._operators import full
from .. import functional, init
from .container import ModuleList
from .module import Module
from .normalization import LayerNorm
from .transformer_layers import TransformerDecoderLayer, TransformerEncoderLayer
from .transformer_layers import _get_activation_fn as _get_activation_fn

__all__ = [
    "Transformer",
    "TransformerDecoder",
    "TransformerDecoderLayer",
    "TransformerEncoder",
    "TransformerEncoderLayer",
]


def _clones(module: Any, count: int) -> Any:
    return ModuleList([copy.deepcopy(module) for _ in range(count)])


def _causal_mask(size: int, device: Any = None, dtype: Any = None) -> Any:
    return full((size, size), float("-inf"), device=device, dtype=dtype).triu(1)


def _is_causal(mask: Any, given: bool | None, size: int | None) -> bool:
    """Return the given answer, or else whether the mask is the causal one."""
    if given is not None or mask is None:
        return given is True
    if size is not None and tuple(mask.shape) != (size, size):
        return False
    return mask.dim() == 2 and bool((mask == _causal_mask(mask.size(0), mask.device, mask.dtype)).all())


class TransformerEncoder(Module):
    """Transformer encoder: several layers, one after the other.

    Args:
        encoder_layer (TransformerEncoderLayer): is copied for each.
        num_layers (int): how many.
        norm (Module): is called last; None: nothing is.
        enable_nested_tensor, mask_check (bool): without effect.

    Example:
        >>> layer = opweave.nn.TransformerEncoderLayer(8, nhead=2, batch_first=True)
        >>> opweave.nn.TransformerEncoder(layer, num_layers=2)(opweave.ones(2, 5, 8)).shape
        opweave.Size([2, 5, 8])
    """

    def __init__(
        self,
        encoder_layer: Any,
        num_layers: int,
        norm: Any = None,
        enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:
        super().__init__()
        self.layers = _clones(encoder_layer, num_layers)
        self.num_layers, self.norm = num_layers, norm
        self.enable_nested_tensor, self.mask_check = enable_nested_tensor, mask_check

    def forward(
        self, src: Any, mask: Any = None, src_key_padding_mask: Any = None, is_causal: bool | None = None
    ) -> Any:
        """Return a tensor of the shape of `src`. The masks are those of MultiheadAttention."""
        causal = _is_causal(mask, is_causal, _length(src, self.layers))
        for layer in self.layers:
            src = layer(src, src_mask=mask, is_causal=causal, src_key_padding_mask=src_key_padding_mask)
        return src if self.norm is None else self.norm(src)


class TransformerDecoder(Module):
    """Transformer decoder: several layers, one after the other.

    Args:
        decoder_layer (TransformerDecoderLayer): is copied for each.
        num_layers (int): how many.
        norm (Module): is called last; None: nothing is.

    Example:
        >>> layer = opweave.nn.TransformerDecoderLayer(8, nhead=2, batch_first=True)
        >>> opweave.nn.TransformerDecoder(layer, num_layers=2)(opweave.ones(2, 3, 8), opweave.ones(2, 5, 8)).shape
        opweave.Size([2, 3, 8])
    """

    def __init__(self, decoder_layer: Any, num_layers: int, norm: Any = None) -> None:
        super().__init__()
        self.layers = _clones(decoder_layer, num_layers)
        self.num_layers, self.norm = num_layers, norm

    def forward(
        self,
        tgt: Any,
        memory: Any,
        tgt_mask: Any = None,
        memory_mask: Any = None,
        tgt_key_padding_mask: Any = None,
        memory_key_padding_mask: Any = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Any:
        """Return a tensor of the shape of `tgt`. The masks are those of MultiheadAttention."""
        causal = _is_causal(tgt_mask, tgt_is_causal, _length(tgt, self.layers))
        for layer in self.layers:
            tgt = layer(
                tgt,
                memory,
                tgt_mask=tgt_mask,
                memory_mask=memory_mask,
                tgt_key_padding_mask=tgt_key_padding_mask,
                memory_key_padding_mask=memory_key_padding_mask,
                tgt_is_causal=causal,
                memory_is_causal=memory_is_causal,
            )
        return tgt if self.norm is None else self.norm(tgt)


def _length(x: Any, layers: Any) -> int:
    batch_first = len(layers) > 0 and layers[0].self_attn.batch_first
    return x.size(1 if batch_first and x.dim() == 3 else 0)  # type: ignore[no-any-return]


class Transformer(Module):
    """Transformer: an encoder and a decoder.

    Args:
        d_model (int): E, the size of inputs and results.
        nhead (int): how many heads.
        num_encoder_layers, num_decoder_layers (int): how many layers.
        dim_feedforward, dropout, activation: of the layers.
        custom_encoder, custom_decoder (Module): in place of the usual ones.
        layer_norm_eps, batch_first, norm_first, bias: of the layers.
        device, dtype: those of the parameters.

    Example:
        >>> model = opweave.nn.Transformer(8, nhead=2, num_encoder_layers=1, num_decoder_layers=1, batch_first=True)
        >>> model(opweave.ones(2, 5, 8), opweave.ones(2, 3, 8)).shape
        opweave.Size([2, 3, 8])
    """

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Any = functional.relu,
        custom_encoder: Any = None,
        custom_decoder: Any = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        place = {"device": device, "dtype": dtype}
        given = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias)

        def norm() -> Any:
            return LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **place)

        if custom_encoder is None:
            layer: Any = TransformerEncoderLayer(*given, **place)
            custom_encoder = TransformerEncoder(layer, num_encoder_layers, norm())
        self.encoder = custom_encoder
        if custom_decoder is None:
            layer = TransformerDecoderLayer(*given, **place)
            custom_decoder = TransformerDecoder(layer, num_decoder_layers, norm())
        self.decoder = custom_decoder
        for parameter in self.parameters():
            if parameter.dim() > 1:
                init.xavier_uniform_(parameter)
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first

    def forward(
        self,
        src: Any,
        tgt: Any,
        src_mask: Any = None,
        tgt_mask: Any = None,
        memory_mask: Any = None,
        src_key_padding_mask: Any = None,
        tgt_key_padding_mask: Any = None,
        memory_key_padding_mask: Any = None,
        src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Any:
        """Return a tensor of the shape of `tgt`. The masks are those of MultiheadAttention.

        Raises:
            RuntimeError: sizes of batches or features differ.
        """
        batch = 0 if self.batch_first else 1
        if src.dim() == 3 and src.size(batch) != tgt.size(batch):
            raise RuntimeError("the batch number of src and tgt must be equal")
        if src.size(-1) != self.d_model or tgt.size(-1) != self.d_model:
            raise RuntimeError("the feature number of src and tgt must be equal to d_model")
        memory = self.encoder(src, mask=src_mask, src_key_padding_mask=src_key_padding_mask, is_causal=src_is_causal)
        return self.decoder(
            tgt,
            memory,
            tgt_mask=tgt_mask,
            memory_mask=memory_mask,
            tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask,
            tgt_is_causal=tgt_is_causal,
            memory_is_causal=memory_is_causal,
        )

    @staticmethod
    def generate_square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> Any:
        """Return the causal mask of this size: zeros, and minus infinity above the diagonal."""
        return _causal_mask(sz, device, dtype)
