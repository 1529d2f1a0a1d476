"""Floating dtypes of eight bits against torch: every conversion, and what operators say of them."""

from __future__ import annotations

from functools import partial
from types import ModuleType
from typing import Any

import numpy as np
import opweave
import pytest
from harness import expressions, oracle
from harness.arrays import Array
from harness.outcome import Error, outcome

from codegen.dtypes import DTYPES, NARROW, DType

pytestmark = pytest.mark.filterwarnings("ignore:Casting complex values to real")

TAKEN = r"""
x == x, x != x, x == 1.0, x == 1, 1.0 == x, x == 1.06, x.eq(x), x == L.tensor(1.0), x.ne(0.5)
x.isnan(), L.isnan(L.tensor([float('nan'), 1]).to(d)), x.any(), x.all(), L.tensor([float('nan')]).to(d).all()
x.any(0), x[0].is_nonzero(), bool(x[0]), int(x[0]), float(x[0]), x[0].item(), x.tolist(), f'{x[0]}', f'{x[0]:.2f}'
x.clone(), x.contiguous(), x.expand(2, 4).contiguous(), x.reshape(2, 2).t().contiguous(), x.T, x.unfold(0, 2, 1)
x.repeat(2), x.tile(2), x.roll(1), x.split(2), x.unbind(), x.repeat_interleave(2), L.meshgrid(x, x, indexing='ij')
L.cat([x, x]), L.stack([x, x]), L.hstack([x, x]), L.cat([x, x], out=L.empty(8))
L.cat([a[1], a[1]], out=L.empty(6, dtype=d))
L.ones(2, dtype=d), L.full((2,), 1.5, dtype=d), L.full((2,), float('nan'), dtype=d), L.full((2,), True, dtype=d)
L.zeros(2, dtype=d).view(L.uint8), L.zeros_like(x).view(L.uint8), L.empty(2, dtype=d).zero_().view(L.uint8)
L.ones_like(x), L.full_like(x, 3), L.empty_like(x).shape, L.empty_strided((2,), (1,), dtype=d).shape, x.new_ones(2)
x.new_full((2,), 2.0), x.new_tensor([1.0, 2]), x.new_empty(2).shape, L.scalar_tensor(1.0, dtype=d)
L.eye(2, dtype=d).view(L.uint8)
L.tensor([1, 2.0], dtype=d), L.tensor([], dtype=d), L.tensor(3.0, dtype=d), L.as_tensor([1.0], dtype=d)
L.tensor([x[0], x[1]])
L.tensor([0.0, -0.0, -1, 1e9, float('inf'), float('nan'), 2**70], dtype=d).view(L.uint8)
L.empty(2, dtype=d).fill_(2), L.empty(2, dtype=d).fill_(1.5), x.fill_(L.tensor(1e9)).view(L.uint8)
L.empty(2, dtype=d).fill_(float('inf')).view(L.uint8)
L.empty(2, dtype=d).fill_(float('nan')).view(L.uint8)
L.empty(2, dtype=d).fill_(0.0).view(L.uint8)
L.empty(2, dtype=d).fill_(-1.0).view(L.uint8)
L.empty(2, dtype=d).fill_(-0.0).view(L.uint8)
L.empty(2, dtype=d).fill_(1e9)
L.empty(2, dtype=d).fill_(10**6)
L.empty(2, dtype=d).fill_(1j)
L.empty(1, dtype=d).fill_(1e9).view(L.uint8)
L.full((2,), 1e30, dtype=d)
x.copy_(L.tensor([1.0, 2, 3, 4])), x.copy_(L.arange(1, 5)), L.ones(4).copy_(x)
L.where(m, x, x), L.where(m, x, 1.0), L.where(m, x, 1), L.where(m, 1.0, x), L.where(m, x, L.tensor(1.0))
L.where(m, x, 0.0).view(L.uint8)
x[m], x[i], x[i, None], x[1:3], x[...], x[None], x[[0, 1]], x.index_select(0, i), x.masked_select(m)
x.narrow(0, 1, 2)
x[0] = 1e9; x.view(L.uint8)
x[:2] = 1e9; x.view(L.uint8)
x[0] = float('inf'); x.view(L.uint8)
x[0] = 0.0; x.view(L.uint8)
x[0] = True; x[1] = x[3]; x
x.diag().view(L.uint8), L.diag_embed(x).view(L.uint8), x.reshape(2, 2).diagonal(), L.block_diag(x, x).view(L.uint8)
L.combinations(x), L.cartesian_prod(x, x), L.select_scatter(x, x[0], 0, 1), L.slice_scatter(x, x[:2], 0, 0, 2)
L.nn.functional.embedding(L.tensor([0, 1]), x.reshape(2, 2)), L.nn.functional.pad(x, (1, 1), value=2.0)
x.view(L.uint8), x.view(L.int16), x.view(L.float32), L.tensor([1, 2, 3, 4], dtype=L.uint8).view(d)
x.to(L.float16), x.half(), x.bfloat16(), x.double(), x.long(), x.byte(), x.char(), x.bool(), x.to(L.complex64)
x.to(d) is x
x.sum(dtype=L.float32), x.mean(dtype=L.float32), x.prod(dtype=L.float32), x.cumsum(0, dtype=L.float32)
x.softmax(0, dtype=L.float32)
x.dtype, x.type(), x.is_floating_point(), x.is_signed(), x.is_complex(), x.element_size(), x.nbytes, x.itemsize
d.to_real()
d.is_floating_point, d.is_complex, d.is_signed, d.itemsize, pickle.loads(pickle.dumps(d)) is d, x.real, x.conj()
L.promote_types(d, d), L.result_type(x, 1.0), L.result_type(x, 1), L.result_type(x, True)
L.can_cast(d, L.float32), L.can_cast(L.float32, d), L.can_cast(d, L.int32), L.can_cast(L.complex64, d)
L.can_cast(d, L.bool)
L.finfo(d).bits, L.finfo(d).max, L.finfo(d).min, L.finfo(d).tiny, L.finfo(d).smallest_normal
L.finfo(d).resolution, L.finfo(d).dtype
x.storage()[0], x.storage().tolist(), x.storage().element_size(), x.untyped_storage().tolist(), x.storage().dtype
L.eq(x, x, out=L.empty(4, dtype=d)), L.add(L.ones(4), 1, out=L.empty(4, dtype=d)), L.ones(4) + x[0], x.eq_(x)
x.requires_grad_().clone().float().sum().backward(); x.grad
y = L.ones(4, requires_grad=True); (y.to(d).float() * 2).sum().backward(); y.grad
L.from_dlpack(x), L.asarray(x), L.asarray(x, dtype=L.float32), copy.deepcopy(x)
L.nn.Linear(2, 2).to(d).weight.dtype, L.nn.Parameter(x).dtype, L.nn.init.ones_(x)
L.frombuffer(bytearray([56, 64]), dtype=d), L.Tensor(x), len(x), list(x), 1 in x, x.type_as(a), (a + 1).type_as(x)
x.detach()
L.testing.assert_close(x, x)
repr(x), str(x[0]), L.tensor([[0.5, 1], [2, -3]]).to(d), L.zeros(2, 0, dtype=d)
L.tensor([1e-3, 448.0, 2]).to(d)
""".strip().splitlines()

REFUSED = r"""
a[0] + L.ones(3, dtype=d)
L.arange(4) + x
L.arange(4) + x[0]
x < L.ones(4)
x == L.arange(4)
x[0] == L.tensor(1.0)
L.where(m, x, L.ones(4))
L.where(m, x, 1j)
x == 1j
L.cat([x, L.ones(4)])
L.stack([x, L.arange(4)])
L.ones(4).add_(x)
L.tensor([x[0], 1.0])
L.tensor([1j], dtype=d)
L.promote_types(d, L.float32)
L.promote_types(L.int64, d)
L.promote_types(d, L.bool)
L.promote_types(d, L.complex64)
L.promote_types(d, L.uint16)
L.result_type(x, 1j)
L.result_type(x, a)
L.iinfo(d)
L.set_default_dtype(d)
d.to_complex()
x.numpy()
np.asarray(x)
x.imag
x.to_complex()
""".strip().splitlines()

NOT_IMPLEMENTED = (
    r"""
x + x; x - x; x / x; x * 2; -x; x ** 2; x < x; x < 1; x.sum(); x.mean(); x.max(); x.min(); x.argmax(); x.sort()
x.sign(); x.exp(); x.sqrt(); x.clamp(0, 1); x.round(); x.trunc(); x.logical_not(); x.logical_and(x); x.bitwise_and(x)
x.nonzero(); x.cumsum(0); x.topk(2); x.median(); x.unique(); x.flip(0); x.view(2, 2).tril()
x.gather(0, i); x.scatter_(0, i, x[:2]); x.index_add_(0, i, x[:2]); x.index_copy_(0, i, x[:2]); x.take(i)
x.index_fill_(0, i, 1.0); x.masked_fill_(m, 1.0); x.masked_scatter(m, x); x.uniform_(); x.normal_(); x.random_()
x.bernoulli_(); x.norm(); x.prod(); x.softmax(0); x.logsumexp(0); x.histc(); x.add_(x); x.mul_(2); x.angle()
L.rand(2, dtype=d); L.randn(2, dtype=d); L.arange(3, dtype=d); L.linspace(0, 1, 3, dtype=d); L.randperm(3, dtype=d)
L.maximum(x, x); L.fmod(x, 2); L.lerp(x, x, 0.5); L.addcmul(x, x, x); L.dot(x, x); x.view(2, 2) @ x.view(2, 2)
x.nan_to_num(); x.square(); L.nn.functional.relu(x)
""".strip()
    .replace("\n", "; ")
    .split("; ")
)


def setup(name: str) -> str:
    return (
        f"d = L.{name}; x = L.tensor([1, 2, 0.5, 4]).to(d); m = L.tensor([True, False, True, False]); "
        "i = L.tensor([0, 2]); "
    )


@pytest.mark.parametrize("dtype", NARROW, ids=str)
def test_calls(dtype: DType) -> None:
    expressions.check_all([*TAKEN, *REFUSED], setup(dtype.name))


@pytest.mark.parametrize("target", DTYPES)
def test_every_number(target: str) -> None:
    """All codes of all formats, to another dtype."""
    for dtype in NARROW:
        oracle.check(partial(every_number, dtype.name, target), dtype.name)


def every_number(name: str, target: str, library: Any) -> Any:
    form, bits = DTYPES[name].format, DTYPES[target].bits - 1
    assert form is not None
    # What lies outside an integer dtype is no one's.
    inside = [code for code in range(256) if not DTYPES[target].is_integer or abs(form.value(code)) < 2.0**bits]
    codes = library.tensor(inside, dtype=library.uint8)
    return codes.view(getattr(library, name)).to(getattr(library, target))


@pytest.mark.parametrize("dtype", NARROW, ids=str)
def test_every_float32(dtype: DType) -> None:
    """From which float32 on, by its bits, another code follows."""
    oracle.check(partial(runs, dtype.name), dtype.name)


def runs(name: str, library: ModuleType) -> list[tuple[int, int]]:
    low = np.arange(1 << 16, dtype=np.uint32) << np.uint32(16)
    codes = rounded(library, name, low)
    at = np.flatnonzero(codes[1:] != codes[:-1])
    low, high = low[at], low[at + 1]
    while (high - low > 1).any():
        middle = low + (high - low) // 2
        is_low = rounded(library, name, middle) == codes[at]
        low, high = np.where(is_low, middle, low), np.where(is_low, high, middle)
    return [(0, int(codes[0])), *zip(high.tolist(), rounded(library, name, high).tolist(), strict=True)]


def rounded(library: Any, name: str, bits: Array) -> Array:
    codes: Array = library.from_numpy(bits.view(np.float32)).to(getattr(library, name)).view(library.uint8).numpy()
    return codes


@pytest.mark.parametrize("source", [each.name for each in DTYPES.values() if each.numpy and not each.is_narrow])
def test_other_dtypes(source: str) -> None:
    """Numbers of all sizes are rounded by way of float32, also those of float64."""
    random = np.random.default_rng(3)
    numbers = np.ldexp(1 + np.arange(0, 64) / 16 + 2.0**-40, random.integers(-20, 20, 64)) * random.choice([-1, 1], 64)
    for dtype in NARROW:
        oracle.check(partial(converted, numbers.tolist(), source, dtype.name), dtype.name)


def converted(numbers: list[float], source: str, name: str, library: Any) -> Any:
    return library.tensor(numbers, dtype=library.float64).to(getattr(library, source)).to(getattr(library, name))


@pytest.mark.parametrize("dtype", NARROW, ids=str)
def test_what_is_not_implemented(dtype: DType) -> None:
    """torch's messages name its kernels, these the operators."""
    wrong = []
    for text in NOT_IMPLEMENTED:
        result = outcome(expressions.expression(setup(dtype.name) + text), opweave)
        if not isinstance(result, Error) or f"not implemented for '{dtype.scalar_name}'" not in result.text:
            wrong.append(f"{text}: {result}")
    assert not wrong, "\n".join(wrong)
