"""Attention with several heads, whose projections are learned."""

from __future__ import annotations

from typing import Any

from ..._operators import empty
from .. import functional, init
from ..parameter import Parameter
from .linear import NonDynamicallyQuantizableLinear
from .module import Module

__all__ = ["MultiheadAttention"]


class MultiheadAttention(Module):
    """Multi-head attention (Vaswani and others, Attention Is All You Need, 2017).

    Args:
        embed_dim (int): E, the size of queries and results.
        num_heads (int): divides E.
        dropout (float): of weights, in training.
        bias (bool): whether the projections have biases.
        add_bias_kv (bool): whether there are one more key and value that are learned.
        add_zero_attn (bool): whether there are one more key and value of zeros.
        kdim, vdim (int): the sizes of keys and values; None: E.
        batch_first (bool): whether inputs are (N, L, E), and not (L, N, E).
        device, dtype: those of the parameters.

    Raises:
        ValueError: a size is not positive.
        AssertionError: the heads do not divide E.

    Example:
        >>> x = opweave.ones(2, 5, 8)
        >>> result, weights = opweave.nn.MultiheadAttention(8, num_heads=2, batch_first=True)(x, x, x)
        >>> result.shape, weights.shape
        (opweave.Size([2, 5, 8]), opweave.Size([2, 5, 5]))
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                f"embed_dim and num_heads must be greater than 0, got embed_dim={embed_dim} and num_heads={num_heads} "
                "instead"
            )
        super().__init__()
        self.embed_dim, self.num_heads, self.dropout, self.batch_first = embed_dim, num_heads, dropout, batch_first
        self.kdim, self.vdim = embed_dim if kdim is None else kdim, embed_dim if vdim is None else vdim
        self.head_dim, self.add_zero_attn = embed_dim // num_heads, add_zero_attn
        self._qkv_same_embed_dim = self.kdim == embed_dim == self.vdim
        if self.head_dim * num_heads != embed_dim:
            raise AssertionError("embed_dim must be divisible by num_heads")
        place = {"device": device, "dtype": dtype}

        def parameter(wanted: bool, *shape: int) -> Any:
            return Parameter(empty(shape, **place)) if wanted else None

        same = self._qkv_same_embed_dim
        self.register_parameter("q_proj_weight", parameter(not same, embed_dim, embed_dim))
        self.register_parameter("k_proj_weight", parameter(not same, embed_dim, self.kdim))
        self.register_parameter("v_proj_weight", parameter(not same, embed_dim, self.vdim))
        self.register_parameter("in_proj_weight", parameter(same, 3 * embed_dim, embed_dim))
        self.register_parameter("in_proj_bias", parameter(bias, 3 * embed_dim))
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias=bias, **place)
        for name in ("bias_k", "bias_v"):
            value = parameter(add_bias_kv, 1, 1, embed_dim)
            self.register_parameter(name, value)
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        for weight in (self.in_proj_weight, self.q_proj_weight, self.k_proj_weight, self.v_proj_weight):
            if weight is not None:
                init.xavier_uniform_(weight)
        if self.in_proj_bias is not None:
            init.constant_(self.in_proj_bias, 0.0)
            init.constant_(self.out_proj.bias, 0.0)
        for weight in (self.bias_k, self.bias_v):
            if weight is not None:
                init.xavier_normal_(weight)

    def forward(
        self,
        query: Any,
        key: Any,
        value: Any,
        key_padding_mask: Any = None,
        need_weights: bool = True,
        attn_mask: Any = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Any, Any]:
        """Return the result, of the shape of `query`, and the weights (N, L, S), or None unless `need_weights`.

        Args:
            query, key, value (Tensor): of shape (L, N, E), (S, N, kdim) and (S, N, vdim), perhaps without N.
            key_padding_mask (Tensor): (N, S), True for keys that do not count.
            need_weights (bool): whether weights are returned. Without them it is faster.
            attn_mask (Tensor): (L, S) or (N * heads, L, S), True where a key does not count, or numbers that are added.
            average_attn_weights (bool): whether weights are means over the heads. Otherwise they are (N, heads, L, S).
            is_causal (bool): whether `attn_mask`, which must be given, is the causal one.
        """
        turned = self.batch_first and query.dim() == 3
        if turned:  # what is one tensor stays one, so that its projections are one product
            by_id = {id(each): each.transpose(0, 1) for each in (query, key, value)}
            query, key, value = (by_id[id(each)] for each in (query, key, value))
        result, weights = functional.multi_head_attention_forward(
            query,
            key,
            value,
            self.embed_dim,
            self.num_heads,
            self.in_proj_weight,
            self.in_proj_bias,
            self.bias_k,
            self.bias_v,
            self.add_zero_attn,
            self.dropout,
            self.out_proj.weight,
            self.out_proj.bias,
            training=self.training,
            key_padding_mask=key_padding_mask,
            need_weights=need_weights,
            attn_mask=attn_mask,
            use_separate_proj_weight=not self._qkv_same_embed_dim,
            q_proj_weight=self.q_proj_weight,
            k_proj_weight=self.k_proj_weight,
            v_proj_weight=self.v_proj_weight,
            average_attn_weights=average_attn_weights,
            is_causal=is_causal,
        )
        return result.transpose(0, 1) if turned else result, weights
