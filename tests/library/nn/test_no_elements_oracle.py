"""Layers of batches without elements, and of tensors that have none on the device meta."""

from __future__ import annotations

import math

import opweave as ow
import pytest
from harness.oracle import Like
from harness.programs import check, programs

BATCHES = programs("""
m = nn.BatchNorm2d(3); a = L.zeros(0, 3, 2, 2, requires_grad=True); y = m(a); y.sum().backward()
y, a.grad, m.weight.grad, m.bias.grad, m.running_mean, m.running_var, m.num_batches_tracked
---
m = nn.BatchNorm1d(3); m(L.zeros(2, 3, 0)), m.running_mean, m.running_var
---
F.batch_norm(L.zeros(0, 3, dtype=L.float16), None, None, L.ones(3), training=True)
---
m = nn.MultiheadAttention(4, 2, batch_first=True); y = L.zeros(0, 3, 4)
m(y, y, y), m(y, y, y, need_weights=False), m(y, y, y, key_padding_mask=L.zeros(0, 3, dtype=L.bool))
---
m = nn.MultiheadAttention(4, 2); y = L.zeros(0, 2, 4); m(y, y, y)
---
nn.TransformerDecoderLayer(4, 2, 8)(L.zeros(3, 0, 4), L.zeros(2, 0, 4))
---
nn.TransformerEncoderLayer(4, 2, 8, batch_first=True)(L.zeros(0, 3, 4))
---
nn.Transformer(4, 2, 1, 1, 8)(L.zeros(3, 0, 4), L.zeros(2, 0, 4))
---
w = L.ones(3, 2, requires_grad=True)
y = F.embedding_bag(L.zeros(0, dtype=L.int64), w, L.tensor([0, 0]), mode="max"); y.sum().backward(); y, w.grad
""")


@pytest.mark.parametrize("text", BATCHES, ids=[f"{number}" for number in range(len(BATCHES))])
def test_batches(text: str) -> None:
    check(text, Like(signed_zeros=False, strides=False))


META = """
F.embedding_bag(L.zeros(2, 3, dtype=L.int64, device="meta"), L.ones(4, 5, device="meta"), mode=mode, padding_idx=0)
F.embedding_bag(rows, L.ones(4, 5, device="meta"), rows[:2])
F.fractional_max_pool2d(L.ones(1, 2, 6, 6, device="meta"), 2, output_size=(3, 3), return_indices=True)
F.fractional_max_pool3d(L.ones(1, 2, 6, 6, 6, device="meta"), 2, output_size=3)
F.scaled_dot_product_attention(a, a, a), F.scaled_dot_product_attention(a, a, a, is_causal=True)
F.scaled_dot_product_attention(a, a, a, dropout_p=0.5)
F.interpolate(L.zeros(1, 1, 4, 6, dtype=L.uint8, device="meta"), (3, 5), mode="bilinear")
F.interpolate(L.zeros(1, 1, 4, 6, dtype=L.uint8, device="meta"), (3, 5), mode="bicubic", antialias=True)
L.linspace(L.ones((), device="meta"), 3, 4, device="meta")
L.logspace(L.ones((), device="meta"), L.ones((), dtype=L.int64, device="meta"), 4, dtype=L.float16, device="meta")
"""


@pytest.mark.parametrize("call", META.strip().splitlines())
def test_meta(call: str) -> None:
    check(f"""
mode, rows = 'max', L.zeros(6, dtype=L.int64, device='meta')
a = L.ones(1, 2, 3, 4, device='meta', requires_grad=True)
result = {call}
[(list(y.shape), y.stride(), str(y.dtype).partition('.')[2], y.requires_grad, y.is_meta)
 for y in (result if isinstance(result, tuple) else (result,))]
""")


def test_gradients_of_groups_without_elements_are_zeros() -> None:
    """torch gives NaN."""
    layer = ow.nn.GroupNorm(2, 4)
    layer(ow.zeros(2, 4, 0)).sum().backward()
    assert layer.bias.grad.tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("length", [0, 2])
def test_infinite_losses_of_sequences_have_zero_gradients(reduction: str, length: int) -> None:
    """torch gives NaN where the sequence has steps, but too few."""
    scores = ow.zeros(2, 1, 3, requires_grad=True)
    loss = ow.nn.functional.ctc_loss(
        scores.log_softmax(-1), ow.tensor([[1, 1, 1]]), ow.tensor([length]), ow.tensor([3]), reduction=reduction
    )
    assert loss.sum().item() == math.inf
    loss.sum().backward()
    assert scores.grad.tolist() == [[[0, 0, 0]], [[0, 0, 0]]]


def test_products_without_features() -> None:
    """torch refuses to reshape them."""
    bilinear = ow.nn.functional.bilinear
    assert bilinear(ow.zeros(0, 3), ow.zeros(0, 4), ow.ones(5, 3, 4)).shape == (0, 5)
    assert bilinear(ow.zeros(2, 0), ow.zeros(2, 4), ow.ones(1, 0, 4)).tolist() == [[0], [0]]
