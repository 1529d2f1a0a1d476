"""Functions of layers as PyTorch has them at top level: orders of arguments, numbers for words, few defaults."""

from __future__ import annotations

import pytest
from harness.programs import check, programs

SETUP = """
x, y, z, s = L.randn(4, 3), L.randn(4, 3), L.randn(4, 3), L.tensor([1., -1., 1., -1.])
images, volumes, rows = L.randn(2, 4, 5, 6), L.randn(2, 3, 4, 5, 6), L.randn(3, 4)
def weights(gates, inputs=3, size=2, layers=1, directions=1, biases=True, projected=0):
    made = []
    for layer in range(layers):
        for _ in range(directions):
            made += [L.randn(gates * size, inputs if layer == 0 else (projected or size) * directions)]
            made += [L.randn(gates * size, projected or size)]
            made += [L.randn(gates * size), L.randn(gates * size)] if biases else []
            made += [L.randn(projected, size)] if projected else []
    return made
"""
PROGRAMS = programs("""
[L.kl_div(x, y.softmax(-1), r) for r in (0, 1, 2)], L.kl_div(x, y, log_target=True)
---
[L.poisson_nll_loss(x, y.exp(), True, True, 1e-8, r) for r in (0, 1, 2)]
---
[L.triplet_margin_loss(x, y, z, swap=True, reduction=r) for r in (0, 1, 2)], L.triplet_margin_loss(x, y, z, 0.5, 1.0)
---
[L.hinge_embedding_loss(x, s.unsqueeze(1), 0.5, r) for r in (0, 1, 2)], L.hinge_embedding_loss(x, s.unsqueeze(1))
---
[L.margin_ranking_loss(x[:, 0], y[:, 0], s, 0.5, r) for r in (0, 1, 2)]
---
[L.cosine_embedding_loss(x, y, s, 0.1, r) for r in (0, 1, 2)]
---
[L.binary_cross_entropy_with_logits(x, y.sigmoid(), rows[:, :3].abs()[:1], z.exp(), r) for r in (0, 1, 2)]
---
[L.binary_cross_entropy_with_logits(x, y.sigmoid(), reduction=r) for r in (0, 1, 2)]
---
p = L.randn(6, 2, 5).log_softmax(-1); t = L.tensor([[1, 2, 3], [4, 1, 1]])
[L.ctc_loss(p, t, (6, 5), (3, 2), 0, r) for r in (0, 1, 2)], L.ctc_loss(p, t, L.tensor([6, 6]), L.tensor([3, 1]))
---
L.hinge_embedding_loss(x, x, 1.0, "mean")
---
L.kl_div(x, x, 1.5)
---
d = x.clone(); L.dropout_(d, 0.5, True) is d, d, L.dropout_(d, 0.5, False) is d
---
L.alpha_dropout(x, 0.3, True), L.alpha_dropout(x, 0.3, False), L.feature_dropout(images, 0.5, True)
---
L.feature_alpha_dropout(images, 0.5, True), L.feature_alpha_dropout(images, 1, True)
---
d = x.clone(); L.alpha_dropout_(d, 0.3, True) is d, d, L.feature_dropout_(d, 0.5, True) is d, d
---
L.feature_alpha_dropout_(images, 0.5, True), images
---
L.alpha_dropout(x, 1.5, True)
---
L.dropout_(x, -1, False)
---
L.feature_dropout(x[0], 0.5, True)
---
w, h, c = weights(4), L.randn(4, 2), L.randn(4, 2)
L.lstm_cell(x, (h, c), *w), L.lstm_cell(x, [h, c], w[0], w[1])
---
w, h = weights(3), L.randn(4, 2)
L.gru_cell(x, h, *w), L.gru_cell(x, h, w[0], w[1])
---
w, h = weights(1), L.randn(4, 2)
L.rnn_tanh_cell(x, h, *w), L.rnn_relu_cell(x, h, w[0], w[1])
---
i, w, h = L.randn(5, 4, 3), weights(4, layers=2, directions=2), L.randn(4, 4, 2)
L.lstm(i, (h, h * 2), w, True, 2, 0.0, False, True, False)
---
i, w, h = L.randn(4, 5, 3), weights(4, biases=False), L.randn(1, 4, 2)
L.lstm(i, [h, h * 2], w, has_biases=False, num_layers=1, dropout=0.0, train=True, bidirectional=False, batch_first=True)
---
i, w = L.randn(5, 4, 3), weights(4, projected=1)
L.lstm(i, (L.randn(1, 4, 1), L.randn(1, 4, 2)), w, True, 1, 0.0, False, False, False)
---
i, w, h = L.randn(5, 4, 3), weights(3, layers=2), L.randn(2, 4, 2)
L.gru(i, h, w, True, 2, 0.5, False, False, False)
---
i, w, h = L.randn(4, 5, 3), weights(1, directions=2), L.randn(2, 4, 2)
L.rnn_tanh(i, h, w, True, 1, 0.0, False, True, True), L.rnn_relu(i, h, w, True, 1, 0.0, False, True, True)
---
packed = nn.utils.rnn.pack_padded_sequence(L.randn(5, 4, 3), L.tensor([5, 3, 3, 1])); h = L.randn(1, 4, 2)
found = [L.lstm(packed.data, packed.batch_sizes, (h, h * 2), weights(4), True, 1, 0.0, False, False)]
found + [L.gru(packed.data, packed.batch_sizes, h, weights(3), True, 1, 0.0, False, False)]
---
L.embedding(rows, L.tensor([[0, 2], [1, 1]])), L.embedding(rows, L.tensor([2]), 1, True, False)
---
w = rows.clone().requires_grad_(); L.embedding(w, L.tensor([0, 1, 1, 2]), 1, True).sum().backward(); w.grad
---
w = rows.clone().requires_grad_(); L.embedding(w, L.tensor([0, 1, 1]), sparse=True).sum().backward(); w.grad.to_dense()
---
mean, var = L.zeros(4), L.ones(4)
L.batch_norm(images, L.ones(4), L.zeros(4), mean, var, True, 0.1, 1e-5, False), mean, var
---
L.batch_norm(images, None, None, L.zeros(4), L.ones(4), False, 0.1, 1e-5, True)
---
mean, var = L.zeros(4), L.ones(4)
L.instance_norm(images, L.ones(4), None, mean, var, True, 0.1, 1e-5, False), mean, var
---
L.bilinear(x, y, L.randn(2, 3, 3), L.randn(2)), L.bilinear(x, y, L.randn(2, 3, 3))
---
L.constant_pad_nd(x, (1, 2)), L.constant_pad_nd(x, [1, -1, 0, 1], 2.5)
---
L.constant_pad_nd(L.ones(2, 2).long(), (1, 0), 3), L.constant_pad_nd(L.complex(x, y), (1, 0), 2 + 1j)
---
L.convolution(images, L.randn(3, 2, 3, 3), L.randn(3), [2, 1], [1, 0], [1, 2], False, [0, 0], 2)
---
L.convolution(images, L.randn(4, 3, 3, 3), None, [2, 2], [1, 1], [1, 1], True, [1, 0], 1)
---
L.convolution(volumes, L.randn(2, 3, 2, 2, 2), None, [1] * 3, [0] * 3, [1] * 3, False, [0] * 3, 1)
---
L.convolution(volumes[:, :, 0, 0], L.randn(2, 3, 2), None, (1,), (0,), (1,), False, (0,), 1)
---
L.affine_grid_generator(L.randn(2, 2, 3), (2, 1, 3, 4), True)
---
L.affine_grid_generator(L.randn(1, 3, 4), [1, 1, 2, 3, 2], False)
---
L.grid_sampler_2d(images, L.rand(2, 3, 3, 2) * 2 - 1, 0, 1, False)
---
L.grid_sampler_3d(volumes, L.rand(2, 2, 2, 2, 3), 1, 0, True)
---
L.pixel_shuffle(images, 2), L.pixel_unshuffle(L.randn(1, 2, 4, 6), 2), L.channel_shuffle(images, 2)
---
L.native_channel_shuffle(images, 2), L.pixel_shuffle(x, 2)
---
L.norm_except_dim(volumes), L.norm_except_dim(volumes, 1, 2), L.norm_except_dim(x, 2, 1), L.norm_except_dim(x, 2, -1)
---
L.norm_except_dim(x[0]), L.norm_except_dim(x, 3, -2)
---
L.norm_except_dim(x, 2, 4)
---
L.frobenius_norm(x, 1), L.frobenius_norm(x, (0, 1), True), L.frobenius_norm(x, []), L.frobenius_norm(images, [1, 3])
---
L.frobenius_norm(images, [0, 1, 2])
---
L.nuclear_norm(x), L.nuclear_norm(x, True)
---
L.nuclear_norm(images), L.nuclear_norm(images, (1, 2)), L.nuclear_norm(images, dim=(0, 3), keepdim=True)
---
L.nuclear_norm(images, (1,))
---
L.margin_ranking_loss(x[:, 0], y[:, 0], s), L.cosine_embedding_loss(x, y, s), L.binary_cross_entropy_with_logits(x, y)
---
L.nuclear_norm(x[0])
---
L.native_layer_norm(images, [5, 6], None, None, 1e-5), L.native_layer_norm(x, [3], x[0], y[0], 1e-3)
---
h = x.bfloat16()
L.native_layer_norm(h, [3], None, None, 1e-5), L.native_layer_norm(h, [3], x[0], None, 1e-5), \
    L.native_layer_norm(h, [3], h[0], h[1], 1e-5)
---
a, w, b = x.clone().requires_grad_(), x[0].clone().requires_grad_(), y[0].clone().requires_grad_()
found = L.native_layer_norm(a, [3], w, b, 1e-5)
(found[0] * z).sum().backward(); [t.requires_grad for t in found], a.grad, w.grad, b.grad
---
L.native_layer_norm(x, [4], None, None, 1e-5)
---
L.native_group_norm(images, None, None, 2, 4, 30, 2, 1e-5), L.native_group_norm(images, s, s, 4, 2, 30, 1, 1e-5)
---
L.native_group_norm(images.half(), None, None, 2, 4, 30, 2, 1e-5), \
    L.native_group_norm(images.half(), s, None, 2, 4, 30, 4, 1e-5)
---
L.native_group_norm(images, None, None, 2, 4, 30, 3, 1e-5)
---
try:
    kind = L.native_group_norm(images, None, None, 2, 4, 31, 2, 1e-5)
except RuntimeError as error:
    kind = type(error).__name__
kind
---
mean, var, a, w = L.zeros(4), L.ones(4), images.clone().requires_grad_(), s.clone().requires_grad_()
found = L.native_batch_norm(a, w, L.zeros(4), mean, var, True, 0.1, 1e-5)
found[0].square().sum().backward(); found, mean, var, a.grad, w.grad
---
L.native_batch_norm(images, None, s, s, s * s, False, 0.1, 1e-5), \
    L.native_batch_norm(L.ones(1, 3), None, None, None, None, True, 0.1, 1e-5)
---
L.native_batch_norm(images.half(), s, s, s.clone(), s * s, True, 0.1, 1e-5)
---
L.native_batch_norm(images[:0], None, None, None, None, True, 0.1, 1e-5)
---
mean, var = L.zeros(4), L.ones(4)
L.batch_norm_update_stats(images, mean, var, 0.1), mean, var, \
    L.batch_norm_update_stats(images.bfloat16(), None, None, 0.5)
---
a = x.clone().requires_grad_(); found = L.native_dropout(a, 0.3, True)
found[0].sum().backward(); found, a.grad, L.native_dropout(x, 0.5, None), L.native_dropout(x, 0.5, False)
---
L.native_dropout(x, 1, True), L.native_dropout(x, 0, True)
---
L.native_dropout(x, 2, True)
---
L.native_dropout(x.long(), 0.5, True)
---
i, o = L.tensor([0, 1, 2, 1, 2]), L.tensor([0, 2, 2])
[L.embedding_bag(rows, i, o, False, mode)[0] for mode in (0, 1, 2)], L.embedding_bag(rows, i, o, mode=1), \
    L.embedding_bag(rows, i, o, False, 2, False, None, False, 1), \
    L.embedding_bag(rows, i, o, False, 1, False, None, False, -1)
---
i, o, w = L.tensor([0, 1, 2, 1, 2]), L.tensor([0, 2, 5]), rows.clone().requires_grad_()
found = L.embedding_bag(w, i, o, False, 0, False, L.tensor([1., 2., 3., 4., 5.]), True, None)
found[0].square().sum().backward(); found[0], found[2:], w.grad
---
L.embedding_bag(rows, L.tensor([0, 3]), L.tensor([0]))
""")


@pytest.mark.parametrize("text", PROGRAMS, ids=[f"{number}" for number in range(len(PROGRAMS))])
def test_program(text: str) -> None:
    check(SETUP + text)
