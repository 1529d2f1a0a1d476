"""Attention for blocks of queries: exact, with memory that does not grow with the product of both lengths."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from ... import _operators as ops
from ..._autograd.grad_mode import is_grad_enabled
from ..._base.dtypes import EXPORTS
from ..._base.shapes import broadcast_shapes
from ..._dispatch.autocast import autocasts
from ..._ops.values import wide
from ...autograd.function import Function
from .dropout_family import dropout

__all__ = ["scaled_dot_product_attention"]

_BLOCK = 1 << 19
"""About how many weights of all heads are there at once."""


@autocasts("half")
def scaled_dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Any:
    """Return scaled dot-product attention, `softmax(query @ key.T * scale + mask) @ value`.

    It is computed for blocks of queries, so that the memory does not grow with the product of both lengths; also
    that of gradients, unless there is dropout.

    Args:
        query (Tensor): of shape (*, H, L, E).
        key (Tensor): of shape (*, H, S, E).
        value (Tensor): of shape (*, H, S, V).
        attn_mask (Tensor): bool, True where a key counts, or numbers that are added; broadcasts to (*, H, L, S).
        dropout_p (float): with which probability a weight is set to zero.
        is_causal (bool): whether a query sees no keys after its own position.
        scale (float): None: one over the root of E.
        enable_gqa (bool): whether keys and values may have fewer heads, each of which serves several of the query.

    Returns:
        Shape (*, H, L, V). A query that sees no key gives zeros.

    Raises:
        RuntimeError: dtypes or shapes do not fit, there is a mask besides `is_causal`, or `dropout_p` is no
            probability.
    """
    _check(query, key, value, attn_mask, is_causal)
    dtype = query.dtype
    query, key, value = wide(query), wide(key), wide(value)  # an error of a score is a relative one of a weight
    if not 0 <= dropout_p <= 1:
        raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {dropout_p}")
    if scale is None:
        scale = 1 / math.sqrt(query.size(-1)) if query.size(-1) else 1.0
    if enable_gqa:
        key, value = (_for_heads(name, each, query.size(-3)) for name, each in (("key", key), ("value", value)))
    if attn_mask is not None and attn_mask.dtype is EXPORTS["bool"]:
        attn_mask = query.new_zeros(attn_mask.shape).masked_fill_(~attn_mask, float("-inf"))
    batch = broadcast_shapes(query.shape[:-2], key.shape[:-2], value.shape[:-2])
    heads = math.prod(batch)
    query, key, value = (
        each.expand(*batch, *each.shape[-2:]).reshape(heads, *each.shape[-2:]) for each in (query, key, value)
    )
    plan = _Plan(tuple(batch), query.size(1), key.size(1), is_causal)
    if dropout_p > 0:
        weights = plan.softmax(plan.scores(query * scale, key, attn_mask, 0, plan.queries, key.size(1)))
        result = dropout(weights.view(*batch, *weights.shape[1:]), dropout_p).view_as(weights).matmul(value)
    elif is_grad_enabled() and any(each is not None and each.requires_grad for each in (query, key, value, attn_mask)):
        result = _Attention.apply(query, key, value, attn_mask, scale, plan)
    else:
        result = plan.attend(query, key, value, attn_mask, scale)
    return result.view(*batch, *result.shape[1:]).to(dtype)


def _for_heads(name: str, tensor: Any, heads: int) -> Any:
    if heads % tensor.size(-3):
        raise RuntimeError(
            f"enable_gqa: the number of heads of the query must be a multiple of that of the {name}, but got {heads} "
            f"and {tensor.size(-3)}"
        )
    return tensor if heads == tensor.size(-3) else tensor.repeat_interleave(heads // tensor.size(-3), -3)


def _name(tensor: Any) -> str:
    name: str = tensor.dtype.scalar_name
    return name.lower()


def _check(query: Any, key: Any, value: Any, mask: Any, causal: bool) -> None:
    if not query.dtype is key.dtype is value.dtype:
        raise RuntimeError(
            f"Expected query, key, and value to have the same dtype, but got query.dtype: {_name(query)} key.dtype: "
            f"{_name(key)} and value.dtype: {_name(value)} instead."
        )
    if min(query.dim(), key.dim(), value.dim()) < 2:
        raise RuntimeError(
            "Expected query, key, and value to all be  at least 2 dimensional, but got query.dim: "
            f"{query.dim()} key.dim: {key.dim()} and value.dim: {value.dim()} instead."
        )
    if query.size(-1) != key.size(-1) or key.size(-2) != value.size(-2):
        raise RuntimeError(
            f"the last sizes of query {tuple(query.shape)} and key {tuple(key.shape)} must be equal, and the sizes "
            f"before them of key and value {tuple(value.shape)}"
        )
    if mask is not None:
        if causal:
            raise RuntimeError(
                "_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True"
            )
        if mask.dtype is not EXPORTS["bool"] and mask.dtype is not query.dtype and mask.dtype is not EXPORTS["float32"]:
            raise RuntimeError(
                "Expected attn_mask dtype to be bool or float or to match query dtype, but got attn_mask.dtype: "
                f"{mask.dtype} and  query.dtype: {query.dtype} instead."
            )


class _Plan:
    """The blocks of queries of one call, whose tensors have all heads of the batch in their first dimension."""

    def __init__(self, batch: tuple[int, ...], queries: int, keys: int, causal: bool) -> None:
        self.batch, self.queries, self.keys, self.causal = batch, queries, keys, causal
        rows = _BLOCK // max(math.prod(batch) * keys, 1)
        self.rows = max(16, min(queries, rows))

    def blocks(self) -> Iterator[tuple[int, int, int]]:
        """First and last query of each block, and how many keys it sees."""
        for first in range(0, self.queries, self.rows):
            last = min(first + self.rows, self.queries)
            yield first, last, min(last, self.keys) if self.causal else self.keys

    def scores(self, query: Any, key: Any, mask: Any, first: int, last: int, seen: int) -> Any:
        """The logarithms of weights, before they are scaled to sum to one. `query` are those of the block."""
        scores = query.matmul(key[:, :seen].transpose(1, 2))
        if self.causal:
            hidden = scores.new_ones((last - first, seen), dtype=EXPORTS["bool"]).triu_(first + 1)
            return scores.masked_fill_(hidden, float("-inf"))
        if mask is None:
            return scores
        part = mask[..., first:last, :] if mask.dim() > 1 and mask.size(-2) > 1 else mask
        return (scores.view(*self.batch, *scores.shape[1:]) + part).view_as(scores).to(query.dtype)

    @staticmethod
    def softmax(scores: Any) -> Any:
        """Weights that sum to one; zeros in rows where none counts."""
        return ops._safe_softmax(scores, -1) if scores.size(-1) else scores

    def attend(self, query: Any, key: Any, value: Any, mask: Any, scale: float) -> Any:
        parts = []
        for first, last, seen in self.blocks():
            weights = self.softmax(self.scores(query[:, first:last] * scale, key, mask, first, last, seen))
            parts.append(weights.matmul(value[:, :seen]))
        if not parts:
            return query.new_zeros((query.size(0), 0, value.size(2)))
        return parts[0] if len(parts) == 1 else ops.cat(parts, 1)

    def gradients(
        self, grad: Any, query: Any, key: Any, value: Any, mask: Any, result: Any, scale: float
    ) -> tuple[Any, Any, Any, Any]:
        """Return the gradients of query, key, value and mask; weights are computed again, block by block."""
        by_query, by_mask = [], []
        by_key, by_value = ops.zeros_like(key), ops.zeros_like(value)
        inner = (grad * result).sum(-1, keepdim=True)
        for first, last, seen in self.blocks():
            scaled, upper = query[:, first:last] * scale, grad[:, first:last]
            weights = self.softmax(self.scores(scaled, key, mask, first, last, seen))
            by_value[:, :seen] += weights.transpose(1, 2).matmul(upper)
            slope = weights * (upper.matmul(value[:, :seen].transpose(1, 2)) - inner[:, first:last])
            by_query.append(slope.matmul(key[:, :seen]) * scale)
            by_key[:, :seen] += slope.transpose(1, 2).matmul(scaled)
            if mask is not None and mask.requires_grad:
                by_mask.append(slope.view(*self.batch, *slope.shape[1:]))
        whole = ops.cat(by_mask, -2).sum_to_size(mask.shape).to(mask.dtype) if by_mask else None
        return ops.cat(by_query, 1), by_key, by_value, whole


class _Attention(Function):
    """The node of a call."""

    @staticmethod
    def forward(ctx: Any, query: Any, key: Any, value: Any, mask: Any, scale: float, plan: _Plan) -> Any:
        result = plan.attend(query, key, value, mask, scale)
        ctx.save_for_backward(query, key, value, mask, result)
        ctx.scale, ctx.plan = scale, plan
        return result

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        query, key, value, mask, result = ctx.saved_tensors
        return (*ctx.plan.gradients(grad, query, key, value, mask, result, ctx.scale), None, None)
