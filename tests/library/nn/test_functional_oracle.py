"""Functions of nn.functional that modules do not cover: options, empty inputs and errors, beside torch's."""

from __future__ import annotations

import pytest
from harness.programs import check

CALLS = """
F.batch_norm(g(4, 3), None, None, x(3), x(3, step=0.2), training=True)
F.batch_norm(g(4, 3), x(3), x(3).abs(), eps=0.1)
F.batch_norm(g(4, 3), x(3), x(3).abs(), L.ones(3), training=True, momentum=0.5)
F.batch_norm(x(4, 3), None, None)
F.batch_norm(x(4, 3), x(4), x(3).abs())
F.batch_norm(x(1, 3), None, None, training=True)
F.batch_norm(x(2, 3, 0), x(3), x(3).abs())
F.group_norm(g(2, 4, 3), 2, x(4))
F.group_norm(g(2, 4, 3), 2, None, x(4))
F.group_norm(x(2, 4), 3)
F.group_norm(x(4), 2)
F.group_norm(x(2, 4, 3), 2, x(3))
F.group_norm(x(0, 4, 3), 2)
F.layer_norm(g(2, 3), (3,), None, x(3))
F.layer_norm(x(2, 3), (2,))
F.layer_norm(x(2, 3), ())
F.layer_norm(x(2, 3), (3,), x(2))
F.instance_norm(x(2, 3), None, None)
F.instance_norm(x(2, 3, 1))
F.local_response_norm(x(2, 3), 2)
F.nll_loss(g(4, 3), i(3, 4), reduction='sum')
F.nll_loss(g(4, 3), i(3, 4), L.tensor([0.5, 1.0, 2.0]), reduction='none')
F.nll_loss(g(3), L.tensor(2))
F.nll_loss(x(4, 3), i(3, 3))
F.nll_loss(x(4, 3), i(5, 4))
F.nll_loss(x(4, 3), i(3, 4), x(2))
F.nll_loss(x(4, 3), x(4))
F.nll_loss(x(0, 3), L.zeros(0, dtype=L.int64))
F.nll_loss(x(0, 3), L.zeros(0, dtype=L.int64), reduction='sum')
F.nll_loss(x(2, 3), L.tensor([-100, -100]))
F.nll_loss(g(2, 3, 4), i(3, 2, 4), L.tensor([0.5, 1.0, 2.0]))
F.nll_loss(g(2, 3, 4), i(3, 2, 5))
F.nll_loss(x(4, 3), i(3, 4), reduction='other')
F.cross_entropy(1000 * g(4, 3), i(3, 4), reduction='none')
F.cross_entropy(g(4, 3, dtype='float64'), i(3, 4))
F.cross_entropy(x(4, 3).bfloat16(), i(3, 4))
F.cross_entropy(g(4, 3), x(4, 3).softmax(1), weight=L.tensor([0.5, 1.0, 2.0]), label_smoothing=0.1)
F.cross_entropy(g(2, 3, 2), x(2, 3, 2), reduction='none')
F.cross_entropy(g(3), x(3))
F.cross_entropy(x(4, 3), x(4, 3), ignore_index=1)
F.cross_entropy(x(4, 3), i(3, 4), label_smoothing=1.5)
F.cross_entropy(x(4, 3), i(3, 3))
F.cross_entropy(x(4, 3), i(5, 4))
F.cross_entropy(x(4, 3), L.tensor([0, 1, -1, 2]))
F.cross_entropy(x(4, 3), i(3, 4), weight=x(4))
F.cross_entropy(x(0, 3), L.zeros(0, dtype=L.int64))
F.cross_entropy(g(2, 3), L.tensor([-100, -100]))
F.cross_entropy(g(2, 3), L.tensor([1, -100]), label_smoothing=0.3, reduction='none')
F.binary_cross_entropy(L.tensor([0.0, 1.0, 0.5], requires_grad=True), L.tensor([1.0, 0.0, 0.5]))
F.binary_cross_entropy(x(3).sigmoid(), x(3).sigmoid(), weight=x(3), reduction='none')
F.binary_cross_entropy(x(3), x(3))
F.binary_cross_entropy(x(3).sigmoid(), x(2).sigmoid())
F.binary_cross_entropy_with_logits(100 * g(5), L.tensor([1.0, 0.0, 1.0, 0.0, 1.0]), reduction='none')
F.binary_cross_entropy_with_logits(g(2, 3), x(2, 3), x(3), pos_weight=x(3))
F.binary_cross_entropy_with_logits(x(2, 3), x(3, 2))
F.kl_div(x(2, 3), L.tensor([[0.0, 0.5, 0.5], [1.0, 0.0, 0.0]]), reduction='none')
F.poisson_nll_loss(g(3).abs(), L.tensor([0.0, 1.0, 5.0]), log_input=False)
F.gaussian_nll_loss(x(2, 3), x(2, 3), x(2).abs(), reduction='none')
F.gaussian_nll_loss(x(2, 3), x(2, 3), -x(2, 3).abs())
F.margin_ranking_loss(x(3), x(3, 1), x(3))
F.triplet_margin_loss(x(2, 3), x(2, 3), x(2, 3), margin=-1)
F.multi_margin_loss(g(3), L.tensor(1))
F.multi_margin_loss(x(4, 3), i(3, 4), p=3)
F.multilabel_margin_loss(g(4), L.tensor([3, 0, -1, 1]))
F.multilabel_soft_margin_loss(g(2, 3), i(2, 2, 3), weight=x(3), reduction='none')
F.soft_margin_loss(x(3), L.tensor([1.0, -1.0, 1.0]), reduction='none')
F.ctc_loss(x(6, 2, 3).log_softmax(2), L.tensor([[1, 1, 1], [1, 2, 1]]), [6, 3], [3, 3], reduction='none')
F.ctc_loss(x(6, 3).log_softmax(1), L.tensor([1, 2]), L.tensor(6), L.tensor(2))
F.ctc_loss(x(6, 2, 3).log_softmax(2), L.tensor([[1, 1], [1, 2]]), [6, 3], [0, 2], reduction='none')
F.ctc_loss(x(6, 2, 3).log_softmax(2), L.tensor([[1, 1], [1, 2]]), [6, 3], [2, 2], blank=3)
F.dropout(x(3), 1.5)
F.dropout(g(20), 0.25)
F.dropout(x(20), 1.0)
F.dropout(x(20), 0.5, inplace=True)
F.alpha_dropout(x(20), 0.25, True)
F.feature_alpha_dropout(x(20), 0.25, True)
F.dropout1d(x(3), 0.5)
F.dropout1d(x(6, 3), 0.5)
F.dropout2d(x(2, 6, 3), 0.5)
F.dropout3d(x(6, 2, 2, 2), 0.5)
F.gumbel_softmax(x(3, 5), 0.5)
F.gumbel_softmax(x(3, 5), hard=True, dim=0)
F.embedding(i(4, 2, 3), g(4, 2), padding_idx=1)
F.embedding(i(5, 9), x(4, 2))
F.embedding(x(3), x(4, 2))
F.embedding(i(4, 3), x(4, 2), padding_idx=7)
F.embedding_bag(i(4, 6), g(4, 2), L.tensor([0, 2, 2]), mode='mean')
F.embedding_bag(i(4, 6), g(4, 2), L.tensor([0, 2, 2]), mode='max', padding_idx=0)
F.embedding_bag(i(4, 6), x(4, 2))
F.embedding_bag(i(4, 2, 3), x(4, 2), mode='other')
F.bilinear(g(2, 3), g(2, 4), g(5, 3, 4), g(5))
F.bilinear(x(2, 3), x(3, 4), x(5, 3, 4))
F.bilinear(x(2, 3), x(2, 5), x(5, 3, 4))
F.pixel_shuffle(x(5, 2, 2), 2)
F.pixel_shuffle(x(4, 2, 2), 0)
F.pixel_unshuffle(x(1, 3, 2), 2)
F.pixel_shuffle(x(2, 3, 8, 1, 2), 2)
F.channel_shuffle(x(1, 6, 2), 4)
F.affine_grid(g(2, 2, 3), (2, 1, 3, 4), align_corners=False)
F.affine_grid(x(1, 2, 3), (1, 1, 3, 1), align_corners=True)
F.affine_grid(x(1, 3, 4), (1, 1, 2, 3, 2), align_corners=False)
F.affine_grid(x(1, 2, 3), (1, 1, 3))
F.affine_grid(x(1, 2, 2), (1, 1, 3, 2))
F.scaled_dot_product_attention(g(2, 3, 5, 4), g(2, 3, 6, 4), g(2, 3, 6, 2))
F.scaled_dot_product_attention(g(2, 5, 4), g(2, 6, 4), g(2, 6, 2), is_causal=True, scale=0.3)
F.scaled_dot_product_attention(g(5, 4), g(6, 4), g(6, 2), attn_mask=i(3, 5, 6) > 0)
F.scaled_dot_product_attention(x(5, 4), x(6, 4), x(6, 2), attn_mask=L.arange(5).reshape(5, 1) > L.arange(6))
F.scaled_dot_product_attention(x(1, 2, 5, 4), x(1, 2, 6, 4), x(1, 2, 6, 2), attn_mask=x(5, 6))
F.scaled_dot_product_attention(x(1, 4, 5, 4), x(1, 2, 6, 4), x(1, 2, 6, 2), enable_gqa=True)
F.scaled_dot_product_attention(x(1, 2, 5, 4), x(1, 2, 6, 4).double(), x(1, 2, 6, 2))
F.scaled_dot_product_attention(x(4), x(6, 4), x(6, 2))
F.scaled_dot_product_attention(x(5, 4), x(6, 4), x(6, 2), attn_mask=x(5, 6), is_causal=True)
F.threshold(x(5), 0.5, 9.0), F.relu6(9 * x(5)), F.celu(x(5), 2.0), F.selu(x(5)), F.hardshrink(x(5)), F.softmin(x(5), 0)
"""


@pytest.mark.parametrize("call", CALLS.strip().splitlines())
def test_values(call: str) -> None:
    check(call)


GRADIENTS = """
F.scaled_dot_product_attention(a, a + 1, a * 2)
F.scaled_dot_product_attention(a, a + 1, a * 2, is_causal=True)
F.scaled_dot_product_attention(a, a + 1, a * 2, attn_mask=a @ a.transpose(1, 2))
F.layer_norm(a, (4,), a[0, 0], a[0, 1])
F.group_norm(a, 3, a[0, :, 0], a[0, :, 1])
F.batch_norm(a, None, None, a[0, :, 0], a[0, :, 1], training=True)
F.cross_entropy(a, i(3, 2, 4), a[0, :, 0].detach(), label_smoothing=0.0)
F.cross_entropy(a, i(3, 2, 4), ignore_index=0, reduction='sum')
F.cross_entropy(a, a.softmax(1), label_smoothing=0.2)
F.binary_cross_entropy(a.sigmoid(), (2 * a).sigmoid())
F.binary_cross_entropy_with_logits(a, a.sigmoid(), pos_weight=a[0, 0].detach())
F.embedding(i(3, 2, 2), a[0], padding_idx=1)
F.bilinear(a, a + 1, a.reshape(-1)[:16].reshape(1, 4, 4))
F.rms_norm(a, (4,), a[0, 0])
F.gaussian_nll_loss(a, 2 * a, a.square() + 0.1)
"""


@pytest.mark.parametrize("call", GRADIENTS.strip().splitlines())
def test_first_and_second_gradients(call: str) -> None:
    check(
        f"""
a = g(2, 3, 4, dtype='float64')
y = {call}
first, = L.autograd.grad((y * x(*y.shape, dtype='float64', step=0.3)).sum(), a, create_graph=True)
second, = L.autograd.grad((first * x(2, 3, 4, dtype='float64', step=0.5)).sum(), a)
y, first, second
"""
    )


CONVOLUTIONS = """
conv1d_input((2, 4, 7), x(6, 2, 3), x(2, 6, 4), stride=2, padding=1, groups=2)
conv1d_weight(x(2, 4, 7), (6, 2, 3), x(2, 6, 4), stride=2, padding=1, groups=2)
conv2d_input((1, 2, 5, 6), x(3, 2, 2, 3), x(1, 3, 4, 4))
conv2d_weight(x(1, 2, 5, 6), (3, 2, 2, 2), x(1, 3, 3, 4), dilation=2)
conv3d_input((1, 2, 3, 3, 3), x(3, 2, 2, 2, 2), x(1, 3, 2, 2, 2))
conv3d_weight(x(1, 2, 3, 3, 3), (3, 2, 2, 2, 2), x(1, 3, 2, 2, 2))
"""


@pytest.mark.parametrize("call", CONVOLUTIONS.strip().splitlines())
def test_gradients_of_convolutions(call: str) -> None:
    check(f"import importlib\nimportlib.import_module(L.__name__ + '.nn.grad').{call}")


PRODUCTS = """
F.grouped_mm(g(8, 4), g(3, 4, 4), offs=L.tensor([2, 5, 8], dtype=L.int32))
F.grouped_mm(x(4, 8), x(8, 4), offs=L.tensor([2, 2, 8], dtype=L.int32))
F.grouped_mm(x(3, 5, 4), x(4, 8), offs=L.tensor([1, 4, 8], dtype=L.int32))
F.grouped_mm(x(3, 5, 4), x(3, 4, 4))
F.grouped_mm(x(8, 4), x(3, 4, 4))
F.grouped_mm(x(8, 4), x(3, 4, 4), offs=L.tensor([2, 5, 8]))
F.grouped_mm(x(8, 4), x(3, 4, 4), offs=L.tensor([2, 8], dtype=L.int32))
F.grouped_mm(x(8, 4), x(3, 3, 4), offs=L.tensor([2, 5, 8], dtype=L.int32))
F.grouped_mm(x(8, 4, dtype="float64"), x(3, 4, 4, dtype="float64"), offs=L.tensor([2, 5, 8], dtype=L.int32))
F.grouped_mm(x(8, 4), x(3, 4, 4), offs=L.tensor([2, 5, 8], dtype=L.int32), bias=x(4))
F.grouped_mm(x(8, 4), x(3, 4, 4), offs=L.tensor([2, 5, 8], dtype=L.int32), out_dtype=L.float64)
F.conv_tbc(g(5, 2, 3), g(3, 3, 4), g(4), 1)
L.conv_tbc(x(5, 2, 3), x(5, 3, 4), x(4))
F.linear_cross_entropy(g(5, 3), g(4, 3), i(4, 5), linear_bias=x(4), reduction='none')
F.linear_cross_entropy(x(5, 3), x(4, 3), x(5, 4).softmax(1), ignore_index=1)
F.linear_cross_entropy(x(5, 3, 1), x(4, 3), i(4, 5))
F.linear_cross_entropy(x(5, 3), x(3), i(4, 5))
F.linear_cross_entropy(x(5, 3), x(4, 2), i(4, 5))
F.linear_cross_entropy(x(5, 3), x(4, 3), i(4, 5), linear_bias=x(3))
F.linear_cross_entropy(x(3), x(4, 2, 3), i(4, 2))
nn.LinearCrossEntropyLoss(3, 4, weight=x(3))
nn.LinearCrossEntropyLoss(3, 4, label_smoothing=2.0)
"""


@pytest.mark.parametrize("call", PRODUCTS.strip().splitlines())
def test_products(call: str) -> None:
    check(call)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_cross_entropy_of_parts_of_a_batch(reduction: str) -> None:
    """The parts give what the whole gives, and have gradients."""
    check(
        f"""
a, w, b = g(7, 3), g(5, 3, step=0.4), g(5, step=0.9)
o = nn.LinearCrossEntropyOptions(batch_chunk_size=2, chunking_method=None)
y = F.linear_cross_entropy(a, w, i(5, 7), linear_bias=b, weight=x(5).abs(), ignore_index=1, reduction={reduction!r},
                           options=o)
y.sum().backward()
y, a.grad, w.grad, b.grad, F.linear_cross_entropy(x(3), x(4, 3), L.tensor(2), options=nn.LinearCrossEntropyOptions())
"""
    )


@pytest.mark.parametrize("options", ["acc_policy='none'", "chunking_method='rows'", "chunking_method='aspect_ratio:0'",
                                     "batch_chunk_size=0", "batch_chunk_size=2.5"])  # fmt: skip
def test_wrong_options_of_linear_cross_entropy(options: str) -> None:
    check(f"nn.LinearCrossEntropyOptions({options})")


WRONG = """
nn.Conv2d(3, 4, 3, groups=2)
nn.Conv2d(4, 3, 3, groups=2)
nn.Conv2d(4, 4, 3, groups=0)
nn.Conv2d(3, 4, 3, padding='other')
nn.Conv2d(3, 4, 3, padding='same', stride=2)
nn.ConvTranspose2d(3, 4, 3, padding_mode='reflect')
nn.ConvTranspose2d(3, 4, 3, stride=2)(x(1, 3, 4, 4), [12, 12])
nn.ConvTranspose2d(3, 4, 3, stride=2)(x(1, 3, 4, 4), [12])
nn.LazyConv2d(3, 3)(x(3))
"""


@pytest.mark.parametrize("call", WRONG.strip().splitlines())
def test_wrong_options_of_convolutions(call: str) -> None:
    check(call)


@pytest.mark.parametrize("padding", [None, 0])
def test_largest_of_equal_rows(padding: int | None) -> None:
    """The first of them has the gradient; bags may be empty."""
    check(
        f"""
w = L.tensor([[1.0, 2.0], [1.0, 3.0], [0.0, 3.0]], requires_grad=True)
rows, offsets = L.tensor([0, 0, 1, 2, 2, 1]), L.tensor([0, 0, 3])
y = F.embedding_bag(rows, w, offsets, mode="max", padding_idx={padding})
y.sum().backward()
y, w.grad
"""
    )
