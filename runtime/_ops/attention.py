"""Attention for blocks of queries, for the composite `scaled_dot_product_attention`: exact, with memory that does not
grow with the product of both lengths; also that of gradients, unless there is dropout."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from .._base.dtypes import EXPORTS
from .._base.shapes import broadcast_shapes
from .._dispatch.ops import ops
from .values import has_values, wide

__all__ = ["AttentionBlocks", "attention"]

_BFLOAT16 = EXPORTS["bfloat16"]
_BLOCK = 1 << 19
"""About how many weights of all heads are there at once."""


def attention(
    query: Any, key: Any, value: Any, mask: Any, dropout_p: float, causal: bool, scale: float | None, enable_gqa: bool
) -> Any:
    """Return the values (*, L, V), each with the weights that the softmax of scores gives it."""
    dtype = query.dtype
    if dtype is not _BFLOAT16 or dropout_p > 0:
        query, key, value = wide(query), wide(key), wide(value)  # an error of a score is a relative one of a weight
    if scale is None:
        scale = 1 / math.sqrt(query.size(-1)) if query.size(-1) else 1.0
    if enable_gqa:
        key, value = (_for_heads(each, query.size(-3)) for each in (key, value))
    if mask is not None and mask.dtype is EXPORTS["bool"]:
        mask = query.new_zeros(()).masked_fill(~mask, float("-inf"))
    batch = broadcast_shapes(query.shape[:-2], key.shape[:-2], value.shape[:-2])
    heads = math.prod(batch)
    query, key, value = (
        each.expand(*batch, *each.shape[-2:]).reshape(heads, *each.shape[-2:]) for each in (query, key, value)
    )
    if dropout_p > 0:
        blocks = AttentionBlocks(query, key, batch, causal, scale)
        weights = blocks.softmax(blocks.scores(query, key, mask, 0, query.size(1), key.size(1)))
        drawn = ops.dropout(weights.view(*batch, *weights.shape[1:]), dropout_p, True)
        result = drawn.view_as(weights).matmul(value)
    else:
        result = ops.blockwise_attention(query, key, value, mask, causal, scale, batch)
    return result.view(*batch, *result.shape[1:]).to(dtype)


def _for_heads(tensor: Any, heads: int) -> Any:
    return tensor if heads == tensor.size(-3) else tensor.repeat_interleave(heads // tensor.size(-3), -3)


class AttentionBlocks:
    """The blocks of queries of one call, whose tensors have all heads of the batch in their first dimension.

    Factors of products are bfloat16 where the query is, as in torch, and all else is float32 then.
    """

    def __init__(self, query: Any, key: Any, batch: Sequence[int], causal: bool, scale: float) -> None:
        self.batch, self.causal, self.scale = batch, causal, scale
        self.is_half = query.dtype is _BFLOAT16
        self.queries, self.keys = query.size(1), key.size(1)
        rows = max(_BLOCK // max(math.prod(batch) * self.keys, 1), 16) if has_values(query) else self.queries
        self.rows = max(min(self.queries, rows), 1)

    def blocks(self) -> Iterator[tuple[int, int, int]]:
        """First and last query of each block, and how many keys it sees."""
        for first in range(0, self.queries, self.rows):
            last = min(first + self.rows, self.queries)
            yield first, last, min(last, self.keys) if self.causal else self.keys

    def product(self, first: Any, second: Any) -> Any:
        """Return the products of matrices, with float32 sums."""
        return ops.wide_bmm(first, second) if self.is_half else first.matmul(second)

    def scores(self, query: Any, key: Any, mask: Any, first: int, last: int, seen: int) -> Any:
        """The logarithms of weights, before they are scaled to sum to one. `query` are those of the block."""
        keys = key[:, :seen].transpose(1, 2)
        scores = self.product(query, keys).mul_(self.scale) if self.is_half else (query * self.scale).matmul(keys)
        if self.causal:
            hidden = scores.new_ones((last - first, seen), dtype=EXPORTS["bool"]).triu_(first + 1)
            return scores.masked_fill_(hidden, float("-inf"))
        if mask is None:
            return scores
        part = mask[..., first:last, :] if mask.dim() > 1 and mask.size(-2) > 1 else mask
        return (scores.view(*self.batch, *scores.shape[1:]) + part).view_as(scores).to(scores.dtype)

    @staticmethod
    def softmax(scores: Any) -> Any:
        """Weights that sum to one; zeros in rows where none counts."""
        return ops._safe_softmax(scores, -1) if scores.size(-1) else scores

    def attend(self, query: Any, key: Any, value: Any, mask: Any) -> Any:
        """Return the values (N, L, V) with their weights."""
        parts = []
        for first, last, seen in self.blocks():
            weights = self.softmax(self.scores(query[:, first:last], key, mask, first, last, seen))
            parts.append(self.product(weights, value[:, :seen]))
        if not parts:
            return wide(query).new_zeros((query.size(0), 0, value.size(2)))
        return parts[0] if len(parts) == 1 else ops.cat(parts, 1)

    def gradients(self, grad: Any, query: Any, key: Any, value: Any, mask: Any, result: Any) -> Any:
        """Return the gradients of query, key, value and mask; weights are computed again, block by block."""
        of_query: list[Any] = []
        of_mask: list[Any] = []
        of_key: Any = None
        of_value: Any = None
        inner = (grad * result).sum(-1, keepdim=True)
        for first, last, seen in reversed(list(self.blocks())):  # the last block sees the most keys
            rows, upper = query[:, first:last], grad[:, first:last]
            weights = self.softmax(self.scores(rows, key, mask, first, last, seen))
            of_value = _added(of_value, self.product(weights.transpose(1, 2), upper))
            slope = weights * (self.product(upper, value[:, :seen].transpose(1, 2)) - inner[:, first:last])
            of_query.insert(0, self.product(slope, key[:, :seen]) * self.scale)
            of_key = _added(of_key, self.product(slope.transpose(1, 2), rows))
            if mask is not None and mask.requires_grad:
                of_mask.insert(0, slope.view(*self.batch, *slope.shape[1:]))
        if not of_query:
            return (*map(ops.zeros_like, (query, key, value)), None if mask is None else ops.zeros_like(mask))
        whole = ops.cat(of_mask, -2).sum_to_size(mask.shape).to(mask.dtype) if of_mask else None
        if of_key.size(1) < self.keys:  # no query sees the others
            of_key, of_value = (ops.pad(each, (0, 0, 0, self.keys - each.size(1))) for each in (of_key, of_value))
        found = (ops.cat(of_query, 1), of_key * self.scale, of_value)
        return (*(each.to(query.dtype) for each in found), whole)


def _added(total: Any, part: Any) -> Any:
    """Return the sum of both; `part` has the first keys alone."""
    if total is None:
        return part
    total[:, : part.size(1)] += part
    return total
