"""Attention whose scores a function changes or leaves out, against sums written out."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import opweave as ow
import pytest
from opweave.nn import functional
from opweave.nn.attention.flex_attention import (
    AuxRequest,
    BlockMask,
    and_masks,
    create_block_mask,
    create_mask,
    flex_attention,
    or_masks,
)

rng = np.random.default_rng(7)


def numbers(*shape: int) -> Any:
    return ow.tensor(rng.normal(size=shape), requires_grad=True)


def causal(b: Any, h: Any, q: Any, k: Any) -> Any:
    return q >= k


def written_out(query: Any, key: Any, value: Any, score: Any, keep: Any, scale: float) -> tuple[Any, Any]:
    batch, heads, queries, _ = query.shape
    output, sums = np.zeros((batch, heads, queries, value.shape[3])), np.full((batch, heads, queries), -np.inf)
    for b, h, q in np.ndindex(batch, heads, queries):
        group = h * key.shape[1] // heads
        kept = [k for k in range(key.shape[2]) if keep(b, h, q, k)]
        scores = np.array([score(query[b, h, q] @ key[b, group, k] * scale, b, h, q, k) for k in kept])
        if kept:
            weights = np.exp(scores)
            output[b, h, q] = weights / weights.sum() @ value[b, group, kept]
            sums[b, h, q] = math.log(weights.sum())
    return output, sums


def test_scores_and_masks() -> None:
    query, key, value = numbers(2, 4, 9, 3), numbers(2, 2, 7, 3), numbers(2, 2, 7, 5)
    bias, document = ow.tensor(rng.normal(size=(4, 9))), ow.tensor(rng.integers(0, 2, size=(2, 9)))

    def score_mod(score: Any, b: Any, h: Any, q: Any, k: Any) -> Any:
        return (score / 2).tanh() * 2 + bias[h, q] - (q - k).abs().double() * 0.1 * (h + 1)

    def same_document(b: Any, h: Any, q: Any, k: Any) -> Any:
        return document[b, q] == document[b, k]

    mask = create_block_mask(and_masks(causal, same_document), 2, None, 9, 7, "cpu", BLOCK_SIZE=(4, 2))
    found, lse = flex_attention(query, key, value, score_mod, mask, scale=0.3, enable_gqa=True, return_lse=True)
    expected, sums = written_out(
        *(each.detach().numpy() for each in (query, key, value)),
        lambda s, b, h, q, k: math.tanh(s / 2) * 2 + bias[h, q].item() - abs(q - k) * 0.1 * (h + 1),
        lambda b, h, q, k: q >= k and document[b, q] == document[b, k],
        0.3,
    )
    np.testing.assert_allclose(found.detach().numpy(), expected, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(lse.detach().numpy(), sums, rtol=1e-10)


def test_gradients_are_those_of_attention() -> None:
    tensors = [numbers(2, 3, 6, 4) for _ in range(3)]
    mask = create_block_mask(causal, None, None, 6, 6, "cpu", BLOCK_SIZE=2)
    found = ow.autograd.grad(flex_attention(*tensors, block_mask=mask).sin().sum(), tensors)
    attention = functional.scaled_dot_product_attention(*tensors, is_causal=True)
    for mine, theirs in zip(found, ow.autograd.grad(attention.sin().sum(), tensors), strict=True):
        np.testing.assert_allclose(mine.numpy(), theirs.numpy(), rtol=1e-9, atol=1e-12)


def test_queries_without_keys() -> None:
    query, key, value = numbers(1, 1, 3, 2), numbers(1, 1, 3, 2), numbers(1, 1, 3, 2)
    mask = create_block_mask(lambda b, h, q, k: q > k + 1, None, None, 3, 3, "cpu")
    found, further = flex_attention(query, key, value, None, mask, return_aux=AuxRequest(lse=True, max_scores=True))
    assert found[0, 0, :2].tolist() == [[0, 0], [0, 0]]
    np.testing.assert_allclose(found[0, 0, 2].tolist(), value[0, 0, 0].tolist())
    assert further.lse[0, 0].tolist()[:2] == further.max_scores[0, 0].tolist()[:2] == [-math.inf] * 2
    for each in ow.autograd.grad(found.sum(), (query, key, value)):
        assert each.isfinite().all()
    empty = flex_attention(query, key[:, :, :0], value[:, :, :0])
    assert empty.tolist() == [[[[0, 0]] * 3]]
    assert flex_attention(query[:0], key[:0], value[:0]).shape == (0, 1, 3, 2)
    half = flex_attention(query.bfloat16(), key.bfloat16(), value.bfloat16())
    assert half.dtype is ow.bfloat16


def test_blocks() -> None:
    mask = create_block_mask(causal, None, None, 300, 300, "cpu")
    assert isinstance(mask, BlockMask)
    assert mask.shape == (1, 1, 300, 300)
    assert mask.kv_num_blocks.tolist() == [[[1, 1, 3]]]
    assert mask.full_kv_num_blocks.tolist() == [[[0, 1, 0]]]  # the last row of blocks is cut off
    assert mask.full_q_num_blocks.tolist() == [[[1, 0, 0]]]
    assert mask.to_dense().tolist() == [[[[1, 0, 0], [1, 1, 0], [1, 1, 1]]]]
    assert mask.to("cpu").as_tuple(flatten=False)[0] == (300, 300)
    whole = create_block_mask(causal, None, None, 300, 300, "cpu", separate_full_blocks=False)
    assert whole.full_kv_num_blocks is None
    assert whole.kv_num_blocks.tolist() == [[[1, 2, 3]]]
    assert mask.sparsity() == whole.sparsity() == pytest.approx(100 * (1 - 6 * 128 * 128 / 90000))
    of_blocks = BlockMask.from_kv_blocks(ow.tensor([[[1, 1]]]), ow.tensor([[[[1, 0], [0, 1]]]]), BLOCK_SIZE=2)
    assert of_blocks.kept(1, 1, 4, 4)[0, 0].int().tolist() == [[0, 0, 1, 1]] * 2 + [[1, 1, 0, 0]] * 2
    both = create_mask(or_masks(causal, lambda b, h, q, k: k == 2), 2, None, 2, 3, "cpu")
    assert both.int().tolist() == [[[[1, 0, 1], [1, 1, 1]]]] * 2


def test_refusals() -> None:
    x = numbers(2, 2, 4, 3)
    table = ow.zeros(2, 4)
    table[1, 3] = 1
    with pytest.raises(ValueError, match="Index tensors by all indices at once"):
        flex_attention(x, x, x, lambda s, b, h, q, k: s + table[b][q % 2])
    with pytest.raises(ValueError, match="Index tensors by all indices at once"):
        create_block_mask(lambda b, h, q, k: table[b][k % 2] == 1, 2, None, 4, 4, "cpu")
    for arguments, text in (
        ((x[0], x, x), "Expected query to be a 4D tensor but got a 3D"),
        ((x, x.float(), x), "to have the same dtype"),
        ((x, x[:, :1], x[:, :1]), "Try setting enable_gqa=True"),
        ((x, x[..., :2], x), "Expected shapes"),
        ((x.long(),) * 3, "to be floating"),
    ):
        with pytest.raises(ValueError, match=text):
            flex_attention(*arguments)
    with pytest.raises(ValueError, match=r"block_mask was made for \(2, 2\) queries and keys"):
        flex_attention(x, x, x, block_mask=create_block_mask(causal, None, None, 2, 2, "cpu"))
    with pytest.raises(ValueError, match="return_lse and return_aux"):
        flex_attention(x, x, x, return_lse=True, return_aux=AuxRequest())
    with pytest.raises(RuntimeError, match="should be callable"):
        or_masks(causal, 3)  # type: ignore[arg-type]
    with pytest.raises(AssertionError, match="requires a callable"):
        create_block_mask(3, 1, 1, 2, 2)  # type: ignore[arg-type]
