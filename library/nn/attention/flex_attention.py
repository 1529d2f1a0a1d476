"""opweave.nn.attention.flex_attention: attention whose scores a function of the user changes, or leaves out.

All scores are computed: blocks that a mask leaves out cost what the others do. Where torch calls a function for each
score, here it is called once, with numbers that broadcast to (batch, heads, queries, keys).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias, TypedDict

from ... import _operators as ops
from ..._autograd.grad_mode import no_grad
from ..._base.dtypes import EXPORTS
from ..._base.shapes import expands_to
from ..._tensor.construct import tensor
from ..._tensor.tensor import Tensor
from .block_mask import DEFAULT_BLOCK_SIZE as DEFAULT_BLOCK_SIZE
from .block_mask import BlockMask, and_masks, create_block_mask, create_mask, indices, noop_mask, or_masks

__all__ = [
    "AuxOutput", "AuxRequest", "BlockMask", "FlexKernelOptions", "and_masks", "create_block_mask", "create_mask",
    "flex_attention", "noop_mask", "or_masks",
]  # fmt: skip

_DEFAULT_SPARSE_BLOCK_SIZE = DEFAULT_BLOCK_SIZE  # under torch's name, for libraries
ScoreMod: TypeAlias = Callable[[Any, Any, Any, Any, Any], Any]
_score_mod_signature: TypeAlias = ScoreMod
_mask_mod_signature: TypeAlias = Callable[[Any, Any, Any, Any], Any]
_LOG2_E = math.log2(math.e)


class AuxRequest(NamedTuple):
    """A request for further results."""

    lse: bool = False
    max_scores: bool = False


class AuxOutput(NamedTuple):
    """The logarithms of the sums of the exponentials of scores, and the largest scores; None: not wanted."""

    lse: Tensor | None = None
    max_scores: Tensor | None = None


class FlexKernelOptions(TypedDict, total=False):
    """Settings of torch's kernels: without effect."""


def flex_attention(
    query: Any,
    key: Any,
    value: Any,
    score_mod: ScoreMod | None = None,
    block_mask: BlockMask | None = None,
    scale: float | None = None,
    enable_gqa: bool = False,
    return_lse: bool = False,
    kernel_options: Any = None,
    *,
    return_aux: AuxRequest | None = None,
) -> Any:
    """Return attention, `softmax(score_mod(query @ key.mT * scale)) @ value`.

    Args:
        query (Tensor): (batch, heads, queries, size).
        key (Tensor): (batch, heads, keys, size).
        value (Tensor): (batch, heads, keys, size of values).
        score_mod: of scores, and of the indices of batch, head, query and key, which broadcast to their shape; returns
            other scores. It indexes tensors by all indices at once: `bias[head, query]`, not `bias[head][query]`.
        block_mask (BlockMask): which scores are left out.
        scale: a factor of scores; None: `1 / sqrt(size)`.
        enable_gqa: whether queries may have more heads than keys, whose heads are repeated.
        return_lse: whether to return the logarithm of the sum of the exponentials of scores.
        kernel_options: without effect.
        return_aux: which further results.

    Returns:
        Tensor (batch, heads, queries, size of values), or a tuple of it and of (batch, heads, queries) or `AuxOutput`.
        Queries without keys get zeros.

    Raises:
        ValueError: tensors have other shapes, dtypes or devices than these; the mask is for other lengths; both
            `return_lse` and `return_aux`.
    """
    _check(query, key, value, enable_gqa)
    if return_lse and return_aux is not None:
        raise ValueError("return_lse and return_aux are given. Use return_aux=AuxRequest(lse=True) alone.")
    groups = query.shape[1] // max(key.shape[1], 1)
    if groups > 1:
        key, value = (each.repeat_interleave(groups, 1) for each in (key, value))
    batch, heads, queries, size = query.shape
    keys = key.shape[2]
    wide = EXPORTS["float32"] if query.dtype.itemsize < 4 else query.dtype
    scores = ops.matmul(query.to(wide), key.to(wide).transpose(-2, -1))
    scores = scores * (1 / math.sqrt(size) if scale is None else scale)
    places = indices(batch, heads, queries, keys, query.device)
    if score_mod is not None:
        changed = score_mod(scores, *places)
        _check_changed(score_mod, scores, changed)
        scores = changed.to(wide).expand(scores.shape)
    if block_mask is not None:
        if queries > block_mask.seq_lengths[0] or keys > block_mask.seq_lengths[1]:
            raise ValueError(
                f"block_mask was made for {block_mask.seq_lengths} queries and keys, but there are {(queries, keys)}"
            )
        scores = scores.masked_fill(~block_mask.kept(batch, heads, queries, keys, query.device), -math.inf)
    largest = scores.amax(-1) if keys else scores.new_full(scores.shape[:-1], -math.inf)
    lse = scores.logsumexp(-1) if keys else largest
    # A query without keys has the sum zero: its weights are exp(-inf - 0).
    weights = (scores - lse.masked_fill(lse == -math.inf, 0.0).unsqueeze(-1)).exp()
    output = ops.matmul(weights, value.to(wide)).to(query.dtype)
    if return_lse:
        return output, lse
    if return_aux is not None:
        return output, AuxOutput(lse if return_aux.lse else None, largest.detach() if return_aux.max_scores else None)
    return output


def _check(query: Any, key: Any, value: Any, enable_gqa: bool) -> None:
    named = (("query", query), ("key", key), ("value", value))
    for name, each in named:
        if each.dim() != 4:
            raise ValueError(f"Expected {name} to be a 4D tensor but got a {each.dim()}D tensor.")
    if not query.dtype == key.dtype == value.dtype:
        raise ValueError(
            "Expected query, key, and value to have the same dtype, but got "
            f"query.dtype: {query.dtype}, key.dtype: {key.dtype}, and value.dtype: {value.dtype} instead."
        )
    if not query.device == key.device == value.device:
        raise ValueError("Expected query, key, and value to have the same device type")
    if not query.is_floating_point():
        raise ValueError(f"Expected query, key, and value to be floating, but got {query.dtype}")
    if key.shape[:3] != value.shape[:3] or query.shape[3] != key.shape[3] or query.shape[0] != key.shape[0]:
        raise ValueError(
            f"Expected shapes (B, Hq, L, E), (B, Hkv, S, E) and (B, Hkv, S, Ev), but got {tuple(query.shape)}, "
            f"{tuple(key.shape)} and {tuple(value.shape)}"
        )
    heads, shared = query.shape[1], key.shape[1]
    if heads != shared and not enable_gqa:
        raise ValueError(f"Expect query and key/value to have the same number of heads but got Hq={heads} and Hkv="
                         f"{shared}. Try setting enable_gqa=True for GQA.")  # fmt: skip
    if heads != shared and (not shared or heads % shared):
        raise ValueError(
            f"Expect the number of query heads to be a multiple of kv heads but got Hq={heads}, Hkv={shared}."
        )


def _check_changed(score_mod: ScoreMod, scores: Any, changed: Any) -> None:
    """Refuses a function that takes a broadcast index apart: for the last score it says something else alone."""
    if not isinstance(changed, Tensor):
        raise ValueError(f"score_mod should return a tensor, but got {type(changed)}")
    if 0 in scores.shape:
        return
    with no_grad():
        last = tuple(size - 1 for size in scores.shape)
        alone = score_mod(scores[last], *(tensor(place, dtype=EXPORTS["int32"]) for place in last))
        if not expands_to(changed.shape, scores.shape) or not ops.allclose(
            changed.expand(scores.shape)[last].double(), alone.double(), rtol=1e-3, atol=1e-5, equal_nan=True
        ):
            raise ValueError(
                "score_mod gives other numbers for all scores at once than for one of them. Index tensors by all "
                "indices at once, such as bias[head, query_index], and use where() in place of conditions"
            )
