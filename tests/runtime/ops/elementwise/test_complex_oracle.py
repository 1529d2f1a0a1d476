"""Complex tensors and the facts about dtypes against torch: construction, casts, numbers, printed text, errors."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import opweave
import pytest
from harness import expressions, oracle
from harness.drawn import Drawn
from harness.oracle import PRINTED

EXPRESSIONS = [
    "L.tensor([1+2j, 0.5-3j])",
    "L.tensor(1j)",
    "L.tensor([1, 2j, 3.5, True])",
    "L.tensor([[1j, 2], [3, 4]], dtype=L.complex128)",
    "L.tensor([1, 2], dtype=L.chalf)",
    "L.tensor([], dtype=L.complex64)",
    "L.tensor([1j], dtype=L.bool)",
    "L.tensor(np.array([1j, 2]))",
    "L.from_numpy(np.array([1j, 2], dtype='complex64'))",
    "L.tensor([1j, 2], dtype=L.complex64).numpy()",
    "L.as_tensor([1j]).dtype",
    "L.zeros(2, dtype=L.cfloat)",
    "L.ones(2, 3, dtype=L.cdouble)",
    "L.full((2,), 1j)",
    "L.full((2,), 2, dtype=L.complex64)",
    "L.full((2,), 1j, dtype=L.float32)",
    "L.full((2,), 1j, dtype=L.chalf)",
    "L.empty(0, dtype=L.complex64)",
    "L.tensor([1+2j, 3]).tolist()",
    "L.tensor([[[1+2j], [3]]]).tolist()",
    "L.tensor([1+2j]).item()",
    "complex(L.tensor([1+2j]))",
    "float(L.tensor([1+2j]))",
    "int(L.tensor([1+2j]))",
    "float(L.tensor([1.5+0j]))",
    "bool(L.tensor(0j)), bool(L.tensor(1j))",
    "x = L.ones(2, dtype=L.complex64); x[0] = 5j; x",
    "x = L.ones(2); x[0] = 5j; x",
    "x = L.ones(2, dtype=L.complex64); x.copy_(L.tensor([1.5, 2])); x",
    "L.tensor([1+2j, 3]).type()",
    "L.tensor([1+2j, 3]).type_as(L.ones(1))",
    "L.tensor([1+2j, 3]).is_complex(), L.tensor([1+2j]).is_conj(), L.tensor([1+2j]).is_floating_point()",
    "L.tensor([[1+2j, 3], [4, 5j]]).t()",
    "L.tensor([[1+2j, 3], [4, 5j]]).t().contiguous().stride()",
    "L.tensor([[1+2j, 3], [4, 5j]]).reshape(4)[::2]",
    "L.result_type(L.ones(2), 1j), L.result_type(L.ones(2, dtype=L.float64), 1j)",
    "L.result_type(L.ones(2, dtype=L.int8), 1j), L.result_type(L.ones(2, dtype=L.half), 1j)",
    "copy.deepcopy(L.tensor([1+2j])), pickle.loads(pickle.dumps(L.tensor([1+2j])))",
    "[d.to_complex() for d in (L.half, L.bfloat16, L.float32, L.float64, L.complex64)]",
    "[d.to_real() for d in (L.int8, L.half, L.chalf, L.cfloat, L.cdouble)]",
    "L.int32.to_complex()",
    "[L.finfo(d) for d in (L.half, L.bfloat16, L.float32, L.float64, L.complex64, L.complex128)]",
    *(
        f"[getattr(L.finfo(d), {name!r}) for d in (L.half, L.bfloat16, L.float32, L.float64)]"
        for name in ("bits", "eps", "max", "min", "tiny", "smallest_normal", "resolution", "dtype")
    ),
    *(
        f"[getattr(L.iinfo(d), {name!r}) for d in (L.uint8, L.uint16, L.uint32, L.uint64, L.int8, L.int32, L.int64)]"
        for name in ("bits", "max", "min", "dtype")
    ),
    "[(i.min, i.max, i.bits) for d in (L.qint8, L.quint8, L.qint32, L.quint4x2) for i in (L.iinfo(d),)]",
    "L.finfo(), L.iinfo(L.int64), L.finfo(L.float32) == L.finfo(L.complex64)",
    "L.finfo(L.int8)",
    "L.iinfo(L.float32)",
    "L.iinfo(L.bool)",
    "L.add(a, a, alpha=1j)",
    "L.addmm(a, a[:, :2], a, alpha=1j)",
    "L.set_default_dtype(L.complex64)",
    "L.manual_seed(1); L.randn(20, dtype=L.complex64), L.randn(3, dtype=L.cdouble), L.randn(5, 5, dtype=L.chalf)",
    "L.manual_seed(1); L.rand(20, dtype=L.complex64), L.rand(3, dtype=L.cdouble), L.rand(())",
    "L.manual_seed(1); x = L.zeros(4, 5, dtype=L.cfloat); x.t().normal_(2, 3); x[:, ::2].uniform_(-1, 1); x",
    "L.zeros(2, dtype=L.cfloat).exponential_()",
    "L.zeros(2, dtype=L.cfloat).normal_(0, -1)",
    "L.tensor([2**64 - 1], dtype=L.uint64).item()",
    "L.full((2,), 2**63, dtype=L.uint64)",
    "L.tensor([-1], dtype=L.uint64)",
    "L.tensor([-1, 65535], dtype=L.uint16).tolist()",
    "L.tensor([70000], dtype=L.uint16)",
    "x = L.zeros(2, dtype=L.uint64); x.fill_(-1) if hasattr(x, 'fill_') else x.copy_(L.tensor(-1)); x",
]


def test_expression() -> None:
    expressions.check_all(EXPRESSIONS)


def test_printed_text() -> None:
    random = Drawn(0)
    notable = np.array([0, -0.0, 1, -1, 0.5, 1e-5, 1e10, 123456.75, np.inf, -np.inf, np.nan, 3, -2.25])
    for shape in ((), (3,), (2, 5), (2, 3, 2), (40,), (0, 3), (1100,), (40, 30)):
        for few, dtype in itertools.product((1, 2, 4, len(notable)), ("complex64", "complex128")):
            chosen = notable[random.permutation(len(notable))][:few]
            values = np.empty(shape, dtype)
            values.real, values.imag = random.choice(chosen, shape), random.choice(chosen, shape)
            oracle.check(lambda L, values=values: L.tensor(values), f"{shape} {few} {dtype}", PRINTED)


def test_warning() -> None:
    x = opweave.tensor([1 + 2j])
    for cast in (x.float, lambda: x.to(opweave.int8), lambda: opweave.ones(1).copy_(x)):
        with pytest.warns(UserWarning, match="Casting complex values to real discards the imaginary part"):
            cast()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        x.bool()
        x.cdouble()
