"""autocast as it is set without a block, and beside blocks; formats of layers and of what is made of several operators.

The formats of all functions are compared in tests/runtime/ops/test_autocast_formats_oracle.py.
"""

from __future__ import annotations

import re

import opweave
from harness.programs import check, programs

PROGRAMS = programs("""
L.GradScaler is L.amp.GradScaler
---
def state():
    return L.is_autocast_enabled("cpu"), str((L.ones(2, 2) @ L.ones(2, 2)).dtype)
seen = [state(), L.set_autocast_enabled("cpu", True), state(), L.is_autocast_enabled()]
with L.autocast("cpu", enabled=False):
    seen += [state()]
    L.set_autocast_enabled("cpu", True)
    seen += [state()]
    with L.autocast("cpu", dtype=L.float16):
        seen += [state()]
        L.set_autocast_enabled("cpu", False)
        seen += [state()]
    seen += [state()]
seen += [state(), L.set_autocast_enabled("cpu", False), state()]
seen
---
L.set_autocast_enabled("cpu", True)
with L.autocast("cuda"):
    seen = [L.is_autocast_enabled("cpu"), L.is_autocast_enabled("cuda"), str((L.ones(2, 2) @ L.ones(2, 2)).dtype)]
L.set_autocast_enabled("cpu", False)
seen
---
def dtypes():
    return [str(L.get_autocast_dtype(kind)) for kind in ("cpu", "cuda", "xpu", "mps", "hpu", "xla")]
seen = [dtypes(), L.set_autocast_dtype("cpu", L.float16), L.set_autocast_dtype("cuda", L.bfloat16), dtypes()]
with L.autocast("cpu"):
    seen += [str((L.ones(2, 2) @ L.ones(2, 2)).dtype)]
    L.set_autocast_dtype("cpu", L.bfloat16)
    seen += [str((L.ones(2, 2) @ L.ones(2, 2)).dtype)]
seen += [dtypes(), L.set_autocast_dtype("cpu", L.bfloat16), L.set_autocast_dtype("cuda", L.float16)]
seen
---
seen = [L.autocast_increment_nesting(), L.autocast_increment_nesting(), L.autocast_decrement_nesting()]
with L.autocast("cpu"):
    seen += [L.autocast_increment_nesting(), L.autocast_decrement_nesting()]
seen + [L.autocast_decrement_nesting(), L.clear_autocast_cache()]
---
seen = [L.is_autocast_cpu_enabled(), L.set_autocast_cpu_enabled(True), L.is_autocast_enabled("cpu")]
seen += [L.set_autocast_cpu_enabled(False), str(L.get_autocast_cpu_dtype()), L.set_autocast_cpu_dtype(L.float16)]
seen + [str(L.get_autocast_dtype("cpu")), L.set_autocast_cpu_dtype(L.bfloat16)]
---
[L.set_autocast_enabled(True), L.is_autocast_enabled(), L.is_autocast_enabled("cpu"), L.set_autocast_enabled(False)]
---
class Seen(L.overrides.TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        dtypes.append(str(args[0].dtype))
        return func(*args, **(kwargs or {}))
dtypes, x = [], L.ones(2, 2)
with Seen():
    L.set_autocast_enabled("cpu", True)
    y = L.mm(x, x)
z = L.mm(x, x)
L.set_autocast_enabled("cpu", False)
dtypes[-1:], y, z, L.mm(x, x)
---
L.set_autocast_enabled(False, "cpu")
---
L.set_autocast_enabled("cpu")
---
L.set_autocast_enabled("cpu", 1)
---
L.set_autocast_enabled("abc", True)
---
L.set_autocast_enabled("meta", True)
---
L.is_autocast_enabled("abc")
---
L.is_autocast_enabled("meta")
---
L.is_autocast_enabled(3)
---
L.get_autocast_dtype("meta")
---
L.get_autocast_dtype(3)
---
L.set_autocast_dtype("cpu", 3)
---
L.set_autocast_cpu_dtype(3)
---
L.set_autocast_cpu_enabled(1)
---
L.set_autocast_cache_enabled(1)
---
L.autocast("meta")
""")


LAYERS = programs("""
def of(layer, *inputs, half):
    with L.autocast("cpu", half):
        results = layer(*inputs)
    results = [results[0], *results[1]] if isinstance(results, tuple) and isinstance(results[1], tuple) else results
    results = results if isinstance(results, (tuple, list)) else [results]
    sum(each.float().sum() for each in results).backward()
    grads = {str(each.grad.dtype) for each in layer.parameters()}
    return [str(each.dtype) for each in results], grads
found = []
for half in (L.bfloat16, L.float16):
    recurrent = [nn.GRU(4, 3), nn.GRU(4, 3, 2, bidirectional=True), nn.RNN(4, 3), nn.RNN(4, 3, 2)]
    for layer in (nn.LSTM(4, 3, proj_size=2), *recurrent):
        found += [of(layer, L.randn(5, 2, 4), half=half), of(layer, L.randn(5, 2, 4).to(half), half=half)]
    for layer in (nn.LSTMCell(4, 3), nn.GRUCell(4, 3), nn.RNNCell(4, 3)):
        found += [of(layer, L.randn(2, 4), half=half)]
    x = L.randn(3, 2, 4)
    found += [of(nn.MultiheadAttention(4, 2), x, x, x, half=half)]
    found += [of(nn.TransformerEncoderLayer(4, 2, 8), x, half=half), of(nn.Transformer(4, 2, 1, 1, 8), x, x, half=half)]
found
---
layer = nn.LSTM(4, 3, 2, bidirectional=True, proj_size=2)
with L.autocast("cpu"):
    y, (h, c) = layer(L.randn(5, 2, 4))
y.float().sum().backward()
[str(each.dtype) for each in (y, h, c)], all(each.grad.isfinite().all() for each in layer.parameters())
---
x = nn.utils.rnn.pack_padded_sequence(L.randn(5, 2, 4), [5, 3])
layers, found = [nn.LSTM(4, 3), nn.GRU(4, 3), nn.RNN(4, 3)], []
with L.autocast("cpu"):
    found = [layer(x)[0].data for layer in layers]
sum(each.float().sum() for each in found).backward()
[str(each.dtype) for each in found]
---
equations = ["i,i->", "i,j->ij", "ij,j->i", "ij,jk->ik", "ij->ji", "ij,ij->", "ij,ij->i", "ij,jk,kl->il", "i,ij->j"]
sizes = {"i": 2, "j": 3, "k": 4, "l": 5}
found = []
with L.autocast("cpu"):
    for equation in equations:
        terms = equation.split("->")[0].split(",")
        found.append(str(L.einsum(equation, *[L.ones([sizes[x] for x in term]) for term in terms]).dtype))
    found.append(str(L.einsum("ij,jk->ik", L.ones(2, 1), L.ones(1, 4)).dtype))
found
---
pairs = [((3,), (3,), 1), ((3,), (3, 4), 1), ((2, 3), (3,), 1), ((3,), (3,), 0)]
pairs += [((2, 3), (3, 4), 0), ((1, 3), (3, 1), 1)]
with L.autocast("cpu"):
    found = [str(L.tensordot(L.ones(a), L.ones(b), dims).dtype) for a, b, dims in pairs]
found
---
x, found = L.randn(2, 2).bfloat16(), []
with L.autocast("cpu"):
    y = L.empty(2, 2, dtype=L.bfloat16)
    L.mm(x, x, out=y)
    found += [y, x.clone().addmm_(x, x), L.prod(x, 0, dtype=L.bfloat16)]
    found += [L.cat([x, x.float()]), L.stack([x.float(), x]), L.stack([x.long(), x.long()])]
[str(each.dtype) for each in found]
---
L.autocast("cpu")(L.mm)(L.ones(2, 2), L.ones(2, 2).double())
---
L.autocast("cpu")(L.cat)([L.ones(2).half(), L.ones(2)])
---
x, found = L.randn(1, 1, 4, 4, 4).bfloat16(), []
with L.autocast("cpu"):
    for mode in ("reflect", "replicate", "circular", "constant"):
        for pad, part in (((1, 1), x[0, 0, 0]), ((1, 1, 1, 1), x[0, 0]), ((1,) * 6, x[0])):
            found.append(F.pad(part, pad, mode))
    for pool, sizes in ((F.max_pool3d, (2,)), (F.adaptive_max_pool3d, (2,)), (F.fractional_max_pool3d, (2, 2))):
        found += [pool(x, *sizes), pool(x, *sizes, return_indices=True)[0]]
    found += [F.max_unpool1d(*F.max_pool1d(x[0, 0], 2, return_indices=True), 2)]
[str(each.dtype) for each in found]
""")

CALLS = """
L.addmm(x, x, x)  L.addbmm(x, b, b)  L.baddbmm(b, b, b)  L.bmm(b, b)  L.mm(x, x)  L.matmul(x, x)
L.chain_matmul(x, x, x)
L.mv(x, x[0])  L.dot(x[0], x[0])  L.addmv(x[0], x, x[0])  L.matrix_power(x, 3)  L.linalg.multi_dot([x, x])
L.linalg.vecdot(x, x)  F.linear(x, x)  F.prelu(x, x[0])  F.bilinear(x, x, b)  L.cross(x, x)  L.kron(x, x)
F.conv1d(b, b)  F.conv2d(b[None], b[None])  F.conv3d(v, v)  F.conv_transpose1d(b, b)  F.conv_transpose3d(v, v)
F.scaled_dot_product_attention(b, b, b)  L.cat([x, x])  L.stack([x, x.float()])
L.index_copy(x, 0, L.tensor([0]), x[:1])
F.avg_pool2d(b, 2)  F.avg_pool3d(v, 2)  F.max_pool2d(b, 2)  F.max_pool3d(v, 2)  F.adaptive_avg_pool2d(b, 2)
F.adaptive_avg_pool3d(v, 2)  F.adaptive_max_pool3d(v, 2)  F.fractional_max_pool2d(b, 2, 2)  F.grid_sample(v[0], g)
F.binary_cross_entropy_with_logits(x, p)  F.cosine_embedding_loss(x, x, n)  F.cross_entropy(x, t)
F.ctc_loss(b.log_softmax(2), L.ones(3, 1).long(), [3] * 3, [1] * 3)  F.nll_loss(x, t)  F.gaussian_nll_loss(x, x, p)
F.hinge_embedding_loss(x, x.sign())  F.huber_loss(x, x)  F.kl_div(x, p)  F.l1_loss(x, x)  F.mse_loss(x, x)
F.margin_ranking_loss(x, x, x.sign())  F.multi_margin_loss(x, t)  F.multilabel_margin_loss(x, L.ones(3, 3).long())
F.multilabel_soft_margin_loss(x, p)  F.poisson_nll_loss(x, p)  F.smooth_l1_loss(x, x)  F.soft_margin_loss(x, x.sign())
F.triplet_margin_loss(x, x + 1, x)  L.cdist(x, x)  L.prod(x)  L.prod(x, 0)  L.quantile(x, 0.5)  L.nanquantile(x, 0.5)
L.trace(x)  L.polar(p, x)  L.stft(x[0].repeat(4), 4, return_complex=True)  L.fft.fft(x)  L.fft.rfft(x)
L.fft.irfft2(L.complex(x.float(), x.float()))  L.view_as_complex(x[:, :2].contiguous())  L.svd(x)  L.qr(x)  L.geqrf(x)
L.inverse(x)  L.pinverse(x)  L.linalg.inv(x)  L.linalg.svdvals(x)  L.linalg.solve(x, x)  L.linalg.cond(x)
L.linalg.eigh(x)
L.linalg.matrix_rank(x)  L.linalg.qr(x)  L.linalg.norm(x)  L.linalg.matrix_exp(x.float())  L.norm(x)  L.sum(x)
L.einsum("ij,jk,l->ikl", x, x, x[0])
L.exp(x)  L.softmax(x, 0)  L.cumsum(x, 0)  F.layer_norm(x, [3])  F.gelu(x)  L.std(x)  L.where(x > 0, x, x.float())
"""
CALLS_OF = """
L.manual_seed(0)
kept = L.float32, L.bfloat16, L.float16
x, b, v, g = [L.randn(*s).to(kept[INPUT]) for s in ((3, 3), (3, 3, 3), (1, 1, 3, 3, 3), (1, 3, 3, 2))]
p, n, t = x.sigmoid(), L.ones(3).to(x.dtype), L.tensor([0, 1, 2])
def dtypes(value):
    return str(value.dtype) if isinstance(value, L.Tensor) else [dtypes(each) for each in value]
L.autocast("cpu", kept[HALF])(lambda: dtypes(CALL))()
"""


def test_functions() -> None:
    """Each function has the formats of torch's lists, for inputs of float32 and of the half format."""
    for call in re.split(r"\s{2,}|\n", CALLS.strip()):
        for half in ("1", "2"):
            for given in ("0", half):
                check(CALLS_OF.replace("CALL", call).replace("INPUT", given).replace("HALF", half))


def test_autocast() -> None:
    for text in PROGRAMS:
        check(text)


def test_formats() -> None:
    for text in LAYERS:
        check(text)


def test_lstm_of_several_layers() -> None:
    """By hand: the library that torch hands this to refuses bfloat16 on some processors."""
    layer = opweave.nn.LSTM(4, 3, 2, bidirectional=True)
    with opweave.autocast("cpu"):
        y, (h, c) = layer(opweave.randn(5, 2, 4))
    y.float().sum().backward()
    assert {each.dtype for each in (y, h, c)} == {opweave.bfloat16}
    assert all(each.grad.isfinite().all() for each in layer.parameters())
