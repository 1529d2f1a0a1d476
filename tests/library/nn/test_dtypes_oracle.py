"""What layers and losses give for tensors of every dtype, beside torch: the same dtype and values, wherever torch has a
kernel."""

from __future__ import annotations

import pytest
from harness.oracle import Like
from harness.programs import check

FLOATS = ["float16", "bfloat16", "float32", "float64"]
DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", *FLOATS, "complex64", "complex128"]
CLOSE = {"float16": 4e-3, "bfloat16": 3e-2, "float32": 2e-5, "float64": 1e-12, "complex64": 2e-5, "complex128": 1e-12}
LIKE = Like(rtol=CLOSE, atol=CLOSE, scale=True, strides=False, grad=False, few=24, texts=False, lacks=True)

# `a` (2, 4, 6, 6) has numbers from 0 to 6, `w` (4, 4, 3, 3) from 0 to 4, of the dtype.
CALLS = """
F.conv1d(a[0], w[:, :, 0])
F.conv2d(a, w, w[0, 0, 0, 0].expand(4))
F.conv2d(a, w[:, :2], stride=2, padding=1, groups=2)
F.conv3d(a[None, :, :1], w[:, :2, None])
F.conv_transpose1d(a[0], w[:, :, 0], stride=2)
F.conv_transpose2d(a, w)
F.conv_transpose3d(a[None, :, :1], w[:2, :, None])
F.avg_pool1d(a[0], 2)
F.avg_pool2d(a, 2)
F.avg_pool2d(a, 3, 2, 1, count_include_pad=False)
F.avg_pool2d(-a, 3, 2, 1, ceil_mode=True)
F.avg_pool3d(a, 2)
F.lp_pool1d(a[0], 2, 2)
F.lp_pool2d(a, 2, 2)
F.max_pool1d(a[0], 2)
F.max_pool2d(a, 2, return_indices=True)
F.max_pool2d(-a, 3, 2, 1)
F.max_pool3d(a, 2)
F.max_unpool2d(*F.max_pool2d(a, 2, return_indices=True), 2)
F.adaptive_avg_pool1d(a[0], 4)
F.adaptive_avg_pool2d(a, 2)
F.adaptive_avg_pool2d(a, 4)
F.adaptive_avg_pool3d(a, 2)
F.adaptive_max_pool2d(a, 4)
F.unfold(a, 2)
F.fold(a.flatten(2), (7, 7), 2)
F.interpolate(a[0], 9, mode='linear')
F.interpolate(a, scale_factor=2)
F.interpolate(a * 20, (9, 5), mode='bilinear')
F.interpolate(a * 20, (4, 9), mode='bilinear', antialias=True)
F.interpolate(a * 20, (4, 9), mode='bicubic')
F.interpolate(a * 20, 11, mode='bicubic', align_corners=True)
F.interpolate(a[None], 7, mode='trilinear')
F.interpolate(a, 4, mode='area')
F.interpolate(a, 4, mode='nearest-exact')
F.grid_sample(a, (a[:, :2, :, :2] - 3) / 3, align_corners=False)
F.grid_sample(a, ((a[:, :2, :, :2] - 3) / 3).to(a.dtype), align_corners=False)
F.affine_grid(a[:, 0, :2, :3], (2, 1, 3, 3), align_corners=False)
F.pad(a, (1, 2))
F.pad(a, (1, 1, 2, 1), mode='reflect')
F.pad(a, (1, 1, 2, 1), mode='replicate')
F.pad(a, (1, 1, 2, 1), mode='circular')
F.pixel_shuffle(a, 2)
F.pixel_unshuffle(a, 2)
F.channel_shuffle(a, 2)
F.linear(a, w[0].flatten()[:30].reshape(5, 6))
F.bilinear(a, a, w.flatten()[:72].reshape(2, 6, 6))
F.embedding(a, L.ones(10, 3))
F.embedding(i(4, 2, 3), w[:, 0, 0])
F.embedding_bag(i(4, 2, 3), w[:, 0, 0])
F.embedding_bag(w[:, 0, 0], i(4, 2, 3))
F.one_hot(a)
F.batch_norm(a, a[0, :, 0, 0] * 0 + 2, a[0, :, 0, 0] * 0 + 3, a[1, :, 0, 0], training=False)
F.layer_norm(a, (6,), a[0, 0, 0])
F.group_norm(a, 2)
F.instance_norm(a)
F.rms_norm(a, (6,))
F.normalize(a)
F.cosine_similarity(a, a.flip(0))
F.pairwise_distance(a, a.flip(0))
F.pdist(a[0, 0])
F.local_response_norm(a, 2)
F.softmax(a, 1)
F.softmax(a, 1, dtype=L.float32)
F.log_softmax(a, 1)
F.softmin(a, 1)
F.relu(a)
F.relu6(a - 1)
F.leaky_relu(-a)
F.elu(-a)
F.celu(-a)
F.selu(-a)
F.gelu(a)
F.silu(a)
F.mish(a)
F.hardtanh(a)
F.hardsigmoid(a)
F.hardswish(a)
F.hardshrink(a)
F.softshrink(a)
F.softplus(a)
F.softsign(a)
F.logsigmoid(a)
F.threshold(a, 2, 1)
F.prelu(-a, a[0, :, 0, 0])
F.glu(a)
F.rrelu(a)
F.dropout(a, 0.0)
F.dropout(a, 0.5, training=False)
F.alpha_dropout(a, 0.5, training=False)
F.mse_loss(a, a.flip(0))
F.l1_loss(a, a.flip(0))
F.smooth_l1_loss(a, a.flip(0))
F.huber_loss(a, a.flip(0))
F.kl_div(a, a.flip(0))
F.poisson_nll_loss(a, a.flip(0))
F.binary_cross_entropy(a / 8, a.flip(0) / 8)
F.binary_cross_entropy((a > 2).to(a.dtype), (a > 3).to(a.dtype))
F.binary_cross_entropy_with_logits(a, a.flip(0))
F.cross_entropy(a[:, :, 0, 0], i(4, 2))
F.cross_entropy(x(2, 4), a[:, :, 0, 1])
F.nll_loss(a[:, :, 0, 0], i(4, 2))
F.nll_loss(x(2, 4), i(4, 2).to(a.dtype))
F.margin_ranking_loss(a, a.flip(0), a + 1)
F.multi_margin_loss(a[:, :, 0, 0], i(4, 2))
F.multilabel_soft_margin_loss(a[0, 0], a[0, 1])
F.triplet_margin_loss(a, a.flip(0), a.flip(1))
F.cosine_embedding_loss(a[0, 0], a[0, 1], a[0, 0, 0] + 1)
F.ctc_loss(a[0], i(3, 4, 2) + 1, L.tensor([4, 4, 4, 4]), L.tensor([2, 2, 2, 2]))
F.scaled_dot_product_attention(a, a, a)
F.scaled_dot_product_attention(a * 3 + 9, a * 5, a)
L.masked.sum(a, 1, mask=a > 2)
L.masked.prod(a[0, 0, 0], 0)
L.masked.prod(a[0, 0, 0, 1])
L.masked.mean(a, 1, mask=a > 2)
L.masked.median(a, 1, mask=a < 5)
L.masked.softmax(a, 1, mask=a > 2)
L.masked.log_softmax(a, 1)
L.masked.cumsum(a, 1, mask=a > 2)
L.masked.cumprod(a, 1)
"""

# opweave has results where torch has none of bools.
OF_NUMBERS = """
L.masked.amax(a, 1, mask=a > 2)
L.masked.var(a, 1, correction=1.3, mask=a > 2)
L.masked.std(a, 1, mask=a < 5)
L.masked.logsumexp(a, 1, mask=a > 2)
"""

# Whether torch takes integers here depends on the steps in which it computes.
OF_FLOATS = """
F.tanhshrink(a)
F.gaussian_nll_loss(a, a.flip(0), a + 1)
F.hinge_embedding_loss(a, a.flip(0))
F.soft_margin_loss(a, a.flip(0))
"""


@pytest.mark.parametrize("call", CALLS.strip().splitlines())
def test_every_dtype(call: str) -> None:
    compare(call, DTYPES)


@pytest.mark.parametrize("call", OF_NUMBERS.strip().splitlines())
def test_numbers(call: str) -> None:
    compare(call, DTYPES[1:])


@pytest.mark.parametrize("call", OF_FLOATS.strip().splitlines())
def test_floats(call: str) -> None:
    compare(call, FLOATS)


def compare(call: str, dtypes: list[str]) -> None:
    for dtype in dtypes:
        check(f"a, w = i(7, 2, 4, 6, 6).to(L.{dtype}), i(5, 4, 4, 3, 3).to(L.{dtype})\n{call}", LIKE)
