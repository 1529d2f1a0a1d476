"""Recurrent layers, attention and transformers beside torch's: first values, outputs and gradients."""

from __future__ import annotations

import pytest
from harness import oracle
from harness.programs import LIKE, check, programs

from .side_by_side import results

MODULES = """
nn.RNN(3, 4) | g(5, 2, 3)
nn.RNN(3, 4, 2, nonlinearity='relu', bias=False) | g(5, 2, 3), g(2, 2, 4)
nn.LSTM(3, 4) | g(5, 2, 3)
nn.LSTM(3, 4, 2, bidirectional=True, batch_first=True) | g(2, 5, 3)
nn.LSTM(3, 4, 2, dropout=0.5, proj_size=2) | g(5, 2, 3), (g(2, 2, 2), g(2, 2, 4))
nn.LSTM(3, 4) | g(5, 3)
nn.LSTM(3, 17, bias=False) | g(1, 1, 3)
nn.LSTM(3, 4, bidirectional=True) | g(4, 0, 3)
nn.LSTM(3, 4, bidirectional=True) | g(4, 3, 3).masked_fill(i(4, 3, 3) == 2, float('nan'))
nn.GRU(3, 4) | g(5, 2, 3), g(1, 2, 4)
nn.GRU(3, 4, num_layers=2, bidirectional=True, dropout=0.25).eval() | g(5, 2, 3)
nn.GRU(3, 4, dtype=L.float64) | g(5, 3, dtype='float64'), g(1, 4, dtype='float64')
nn.RNNCell(3, 4) | g(2, 3)
nn.RNNCell(3, 4, bias=False, nonlinearity='relu') | g(3), g(4)
nn.LSTMCell(3, 4) | g(2, 3), (g(2, 4), g(2, 4))
nn.GRUCell(3, 4) | g(2, 3), g(2, 4)
nn.GRUCell(3, 4, bias=False) | g(3)
nn.MultiheadAttention(4, 2) | g(5, 3, 4), g(6, 3, 4), g(6, 3, 4)
nn.MultiheadAttention(4, 2, batch_first=True, bias=False) | g(3, 5, 4), g(3, 6, 4), g(3, 6, 4), i(2, 3, 6) > 0
nn.MultiheadAttention(4, 2, kdim=3, vdim=5, add_bias_kv=True, add_zero_attn=True) | g(5, 3, 4), g(6, 3, 3), g(6, 3, 5)
nn.MultiheadAttention(4, 2) | g(5, 4), g(6, 4), g(6, 4), None, False
nn.MultiheadAttention(4, 2) | g(5, 1, 4), g(6, 1, 4), g(6, 1, 4), None, True, i(3, 5, 6) > 1, False
nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0) | g(5, 3, 4)
nn.TransformerEncoderLayer(4, 2, 8, 0.0, 'gelu', norm_first=True, batch_first=True) | g(3, 5, 4), None, i(3, 3, 5) > 1
nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8, 0.0), 2, nn.LayerNorm(4)) | g(5, 3, 4)
nn.TransformerDecoderLayer(4, 2, 8, dropout=0.0, bias=False) | g(5, 3, 4), g(6, 3, 4)
nn.TransformerDecoder(nn.TransformerDecoderLayer(4, 2, 8, 0.0), 2) | g(5, 3, 4), g(6, 3, 4)
nn.Transformer(4, 2, 1, 1, 8, dropout=0.0) | g(5, 3, 4), g(6, 3, 4)
nn.AdaptiveLogSoftmaxWithLoss(6, 12, [3, 7], div_value=2.0) | g(5, 6), i(12, 5)
nn.AdaptiveLogSoftmaxWithLoss(6, 12, [4]).eval() | g(6), L.tensor(9)
"""


@pytest.mark.parametrize("case", MODULES.strip().splitlines())
def test_module(case: str) -> None:
    module, _, inputs = case.partition(" | ")
    oracle.check(lambda library: results(library, module, inputs), case, LIKE)


PROGRAMS = programs("""
R = nn.utils.rnn
packed = R.pack_padded_sequence(g(5, 3, 2), [5, 3, 2])
output, (h, c) = nn.LSTM(2, 3, 2, bidirectional=True)(packed)
packed.data, packed.batch_sizes, output.data, h, c, R.pad_packed_sequence(output)
---
R = nn.utils.rnn
packed = R.pack_padded_sequence(x(3, 5, 2), L.tensor([2, 5, 3]), batch_first=True, enforce_sorted=False)
output, h = nn.GRU(2, 3)(packed, x(1, 3, 3))
list(packed), output.data, h, R.pad_packed_sequence(output, batch_first=True, padding_value=7.0, total_length=6)
---
R = nn.utils.rnn
a = R.pack_sequence([x(3, 2), x(2, 2), x(1, 2)])
a, R.unpack_sequence(a), a.double().data.dtype is L.float64
---
R = nn.utils.rnn
R.pad_sequence([x(2), x(4), x(1)]), R.pad_sequence([x(2, 2), x(3, 2)], True, 9.0, 'left')
---
nn.utils.rnn.pack_padded_sequence(x(5, 3, 2), [2, 5, 3])
---
nn.utils.rnn.pack_padded_sequence(x(5, 3, 2), [3, 2, 0])
---
nn.utils.rnn.pack_padded_sequence(x(5, 3, 2), [3, 2])
---
nn.utils.rnn.pad_sequence([])
---
nn.LSTM(3, 4)(x(5, 2, 7))
---
nn.LSTM(3, 4)(x(5, 2, 3), (x(1, 2, 4), x(1, 3, 4)))
---
nn.GRU(3, 4)(x(5, 2, 3), x(2, 2, 4))
---
nn.RNN(3, 4)(x(5, 2, 3), x(2, 4))
---
nn.RNN(3, 4)(x(3))
---
nn.LSTM(3, 4, dropout=1.5)
---
nn.LSTM(3, 4, proj_size=4)
---
nn.LSTM(3, 'a')
---
nn.LSTM(3, 0)
---
nn.RNN(3, 4, nonlinearity='other')
---
nn.LSTMCell(3, 4)(x(2, 5))
---
nn.GRUCell(3, 4)(x(2, 3), x(3, 4))
---
m = nn.LSTM(2, 3, 2, bidirectional=True, proj_size=1); list(m.state_dict()), [len(each) for each in m.all_weights]
---
a = g(4, 2, 2, dtype='float64')
m = nn.LSTM(2, 3, dtype=L.float64)
first, = L.autograd.grad(m(a)[0].square().sum(), a, create_graph=True)
L.autograd.grad(first.square().sum(), [a, *m.parameters()])
---
nn.MultiheadAttention(5, 2)
---
nn.MultiheadAttention(4, 2)(x(5, 3, 4), x(6, 3, 4), x(7, 3, 4))
---
nn.MultiheadAttention(4, 2)(x(5, 3, 4), x(6, 4), x(6, 4))
---
nn.MultiheadAttention(4, 2)(x(5, 3, 4), x(6, 3, 4), x(6, 3, 4), attn_mask=x(3, 3))
---
m = nn.MultiheadAttention(4, 2, dropout=0.3)
m(x(5, 3, 4), x(6, 3, 4), x(6, 3, 4)), m(x(5, 3, 4), x(6, 3, 4), x(6, 3, 4), need_weights=False)
---
mask = nn.Transformer.generate_square_subsequent_mask(5)
m = nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8, 0.0), 2, enable_nested_tensor=False)
mask, m(x(5, 3, 4), mask), m(x(5, 3, 4), mask, is_causal=True), m(x(5, 4))
---
m = nn.Transformer(4, 2, 1, 1, 8, batch_first=True).eval()
m(x(3, 5, 4), x(3, 6, 4), tgt_mask=m.generate_square_subsequent_mask(6)), repr(m)
---
nn.Transformer(4, 2, 1, 1, 8)(x(5, 3, 4), x(6, 2, 4))
---
nn.TransformerEncoderLayer(4, 2, activation='other')
---
m = nn.AdaptiveLogSoftmaxWithLoss(6, 12, [3, 7]); m.log_prob(x(2, 6)), m.predict(x(2, 6)), m
---
nn.AdaptiveLogSoftmaxWithLoss(6, 12, [7, 3])
---
nn.AdaptiveLogSoftmaxWithLoss(6, 12, [3])(x(2, 6), L.tensor([1, 12]))
""")


@pytest.mark.parametrize("text", PROGRAMS, ids=[f"{number}" for number in range(len(PROGRAMS))])
def test_program(text: str) -> None:
    check(text)
