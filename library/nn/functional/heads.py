"""Attention with projections and several heads."""

from __future__ import annotations

from typing import Any

from ... import _operators as ops
from ..._base.dtypes import EXPORTS
from ..._base.warn import warn

__all__ = ["multi_head_attention_forward"]


def _as_numbers(mask: Any, name: str, other: Any, like: Any) -> Any:
    """A mask as numbers that are added to scores: minus infinity where a bool mask is True."""
    if mask is None:
        return None
    if mask.dtype is not EXPORTS["bool"] and not mask.is_floating_point():
        raise AssertionError(f"only bool and floating types of {name} are supported")
    if other is not None and mask.dtype is not other:
        warn("Support for mismatched key_padding_mask and attn_mask is deprecated. Use same type for both instead.")
    if mask.is_floating_point():
        return mask
    return like.new_zeros(mask.shape).masked_fill_(mask, float("-inf"))


def _check_ndim(query: Any, key: Any, value: Any, padding: Any, mask: Any, heads: int) -> bool:
    """Whether there is a batch."""
    batched: bool = query.dim() == 3
    if query.dim() not in (2, 3):
        raise AssertionError(
            f"query should be unbatched 2D or batched 3D tensor but received {query.dim()}-D query tensor"
        )
    kind, expected = ("batched", query.dim()) if batched else ("unbatched", 2)
    if key.dim() != expected or value.dim() != expected:
        raise AssertionError(
            f"For {kind} ({expected}-D) `query`, expected `key` and `value` to be {expected}-D but found {key.dim()}-D "
            f"and {value.dim()}-D tensors respectively"
        )
    if padding is not None and padding.dim() != expected - 1:
        raise AssertionError(
            f"For {kind} ({expected}-D) `query`, expected `key_padding_mask` to be `None` or {expected - 1}-D but "
            f"found {padding.dim()}-D tensor instead"
        )
    if mask is not None and mask.dim() not in (2, 3):
        raise AssertionError(
            f"For {kind} ({expected}-D) `query`, expected `attn_mask` to be `None`, 2-D or 3-D but found "
            f"{mask.dim()}-D tensor instead"
        )
    if mask is not None and mask.dim() == 3 and not batched and mask.size(0) != heads:
        raise AssertionError(
            f"Expected `attn_mask` shape to be {(heads, query.size(0), key.size(0))} but got {tuple(mask.shape)}"
        )
    return batched


def _projected(
    query: Any, key: Any, value: Any, weight: Any, separate: tuple[Any, Any, Any] | None, bias: Any
) -> tuple[Any, Any, Any]:
    size = query.size(-1)
    # Each is one product of all positions; those of strided tensors would be one for each position.
    if separate is None and key is value and query is key:
        joined = ops.linear(query.contiguous(), weight, bias)
        return tuple(joined.unflatten(-1, (3, size)).unbind(-2))  # type: ignore[return-value]
    weights = weight.chunk(3) if separate is None else separate
    parts = (None, None, None) if bias is None else bias.chunk(3)
    values = zip((query, key, value), weights, parts, strict=True)
    return tuple(ops.linear(each.contiguous(), *given) for each, *given in values)  # type: ignore[return-value]


def multi_head_attention_forward(
    query: Any,
    key: Any,
    value: Any,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Any,
    in_proj_bias: Any,
    bias_k: Any,
    bias_v: Any,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Any,
    out_proj_bias: Any,
    training: bool = True,
    key_padding_mask: Any = None,
    need_weights: bool = True,
    attn_mask: Any = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Any = None,
    k_proj_weight: Any = None,
    v_proj_weight: Any = None,
    static_k: Any = None,
    static_v: Any = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Any, Any]:
    """Return multi-head attention, as `nn.MultiheadAttention` computes it, of tensors (L, N, E), and the weights or
    None.

    Args:
        query, key, value (Tensor): of shape (L, N, E), (S, N, E) and (S, N, E), all of them perhaps without N.
        embed_dim_to_check (int): E.
        num_heads (int): divides E.
        in_proj_weight, in_proj_bias, out_proj_weight, out_proj_bias (Tensor): of the projections.
        bias_k, bias_v (Tensor): one more key and value, of shape (1, 1, E).
        add_zero_attn (bool): whether there are one more key and value of zeros.
        dropout_p (float): of weights, when training.
        key_padding_mask (Tensor): (N, S), True for keys that do not count, or numbers that are added.
        need_weights (bool): whether the weights are returned, of shape (N, L, S), or (N, H, L, S) unless
            `average_attn_weights`.
        attn_mask (Tensor): (L, S) or (N * H, L, S), True where a key does not count, or numbers that are added.
        use_separate_proj_weight (bool): whether `q_proj_weight`, `k_proj_weight`, `v_proj_weight` are the projections.
        static_k, static_v (Tensor): keys and values of all heads in place of projected ones.
        is_causal (bool): whether `attn_mask` is the causal one. It must be given.

    Raises:
        AssertionError: shapes do not fit.
    """
    batched = _check_ndim(query, key, value, key_padding_mask, attn_mask, num_heads)
    if not batched:
        same = key is value, query is key
        query, key, value = query.unsqueeze(1), key.unsqueeze(1), value.unsqueeze(1)
        if same[0]:
            value = key
        if same[1]:
            key = query
            value = query if same[0] else value
        key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
    size = query.size(-1)  # others are read where they are needed, so that compiled calls are for all batches
    if is_causal and attn_mask is None:
        raise RuntimeError(
            "Need attn_mask if specifying the is_causal hint. nn.Transformer.generate_square_subsequent_mask makes it."
        )
    padding = _as_numbers(key_padding_mask, "key_padding_mask", None if attn_mask is None else attn_mask.dtype, query)
    causal = is_causal and padding is None and not need_weights
    attn_mask = None if causal else _as_numbers(attn_mask, "attn_mask", None, query)
    if size != embed_dim_to_check:
        raise AssertionError(f"was expecting embedding dimension of {embed_dim_to_check}, but got {size}")
    head = size // num_heads
    if head * num_heads != size:
        raise AssertionError(f"embed_dim {size} not divisible by num_heads {num_heads}")
    separate = (q_proj_weight, k_proj_weight, v_proj_weight) if use_separate_proj_weight else None
    if separate is not None and key.shape[:2] != value.shape[:2]:
        raise AssertionError(f"key's sequence and batch dims {key.shape[:2]} do not match value's {value.shape[:2]}")
    if separate is None and key is not value and key.shape != value.shape:
        raise AssertionError(f"key shape {key.shape} does not match value shape {value.shape}")
    q, k, v = _projected(query, key, value, in_proj_weight, separate, in_proj_bias)
    if attn_mask is not None:
        of_batch = () if attn_mask.dim() == 2 else (query.size(1) * num_heads,)
        wanted = (*of_batch, query.size(0), key.size(0))
        if tuple(attn_mask.shape) != wanted:
            raise RuntimeError(
                f"The shape of the {attn_mask.dim()}D attn_mask is {attn_mask.shape}, but should be {wanted}."
            )
        attn_mask = attn_mask.unsqueeze(0) if attn_mask.dim() == 2 else attn_mask

    def longer(mask: Any) -> Any:
        return None if mask is None else ops.pad(mask, (0, 1))

    if bias_k is not None and bias_v is not None:
        k = ops.cat([k, bias_k.repeat(1, query.size(1), 1)])
        v = ops.cat([v, bias_v.repeat(1, query.size(1), 1)])
        attn_mask, padding, causal = longer(attn_mask), longer(padding), False
    if key is not query and static_k is None and key.size(1) != query.size(1):
        by_heads = [k.size(0), query.size(1) * num_heads, head]
        raise RuntimeError(f"shape '{by_heads}' is invalid for input of size {k.numel()}")
    q, k, v = (
        given if given is not None else each.unflatten(-1, (num_heads, head)).flatten(1, 2).transpose(0, 1)
        for each, given in ((q, None), (k, static_k), (v, static_v))
    )
    if add_zero_attn:
        nothing = k.new_zeros((k.size(0), 1, head))
        k, v = ops.cat([k, nothing], 1), ops.cat([v, nothing], 1)
        attn_mask, padding = longer(attn_mask), longer(padding)
    if padding is not None:
        batch, source = query.size(1), k.size(1)
        if tuple(padding.shape) != (batch, source):
            raise AssertionError(
                f"expecting key_padding_mask shape of {(batch, source)}, but got {tuple(padding.shape)}"
            )
        spread = padding.view(batch, 1, 1, source).expand(-1, num_heads, -1, -1).reshape(batch * num_heads, 1, source)
        attn_mask = spread if attn_mask is None else attn_mask + spread
    probability = dropout_p if training else 0.0
    if need_weights:
        scaled, keys = q * (1.0 / head) ** 0.5, k.transpose(1, 2)
        scores = scaled.matmul(keys) if attn_mask is None else ops.baddbmm(attn_mask, scaled, keys)
        weights = scores.softmax(-1)
        if probability > 0:
            weights = ops.dropout(weights, probability, True)
        heads = weights.matmul(v)
    else:
        weights = None
        q, k, v = (each.unflatten(0, (-1, num_heads)) for each in (q, k, v))
        if attn_mask is not None:
            attn_mask = attn_mask.unsqueeze(0) if attn_mask.size(0) == 1 else attn_mask.unflatten(0, (-1, num_heads))
        heads = ops.scaled_dot_product_attention(q, k, v, attn_mask, probability, causal).flatten(0, 1)
    joined = heads.transpose(0, 1).unflatten(1, (-1, num_heads)).flatten(2)
    result = ops.linear(joined, out_proj_weight, out_proj_bias)
    if weights is not None:
        weights = weights.unflatten(0, (-1, num_heads))
        if average_attn_weights:
            weights = weights.mean(1)
        weights = weights if batched else weights.squeeze(0)
    return result if batched else result.squeeze(1), weights
