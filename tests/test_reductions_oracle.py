"""Reductions and scans with positions or several results, row operators and their composites, against torch.

Values agree to the rounding of the dtype, dtypes and shapes exactly, errors in type and text.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import opweave
import pytest

torch = pytest.importorskip("torch")

pytestmark = [pytest.mark.oracle, pytest.mark.filterwarnings("ignore")]

TOLERANCE = {"float16": 2e-3, "bfloat16": 1.6e-2, "float32": 4e-6, "float64": 1e-12}
SHAPES = ((), (7,), (3, 4), (2, 3, 5), (300,), (5, 700), (700, 5), (0, 3), (2, 0))
FLOATING = ("float64", "float32", "bfloat16", "float16")
EXTREMA = (*FLOATING, "int64", "uint8", "bool")
CHOICES = ("max", "min", "argmax", "argmin")
STATISTICS = ("var", "std", "nansum", "nanmean", "norm", "logsumexp")
ROWS = ("softmax", "log_softmax")
SCANS = ("cumprod", "cummax", "cummin", "logcumsumexp")


def sample(shape: tuple[int, ...], name: str) -> Any:
    """torch's tensor; small integers, so that there are equal elements."""
    random = torch.Generator().manual_seed(len(shape))
    if name in FLOATING:
        return (torch.randn(shape, generator=random, dtype=torch.float64) * 3).to(getattr(torch, name))
    return torch.randint(0, 5, shape, generator=random).to(getattr(torch, name))


def twin(tensor: Any) -> opweave.Tensor:
    """The same elements with the same strides."""
    if tensor.dtype is torch.bfloat16:
        return twin(tensor.float()).to(opweave.bfloat16)
    return opweave.from_numpy(tensor.numpy())


def outcome(call: Callable[[Any, Any], Any], library: Any, tensor: Any) -> Any:
    try:
        result = call(library, tensor)
    except (RuntimeError, IndexError, ValueError, NotImplementedError) as error:
        return type(error).__name__, str(error)
    return list(result) if isinstance(result, (tuple, list)) else [result]


def agree(call: Callable[[Any, Any], Any], tensor: Any, what: str) -> None:
    want, got = outcome(call, torch, tensor), outcome(call, opweave, twin(tensor))
    if isinstance(want, tuple) or isinstance(got, tuple):
        assert got == want, what
        return
    assert len(got) == len(want), what
    for ours, theirs in zip(got, want, strict=True):
        dtype = str(theirs.dtype).partition(".")[2]
        assert (str(ours.dtype).partition(".")[2], tuple(ours.shape)) == (dtype, tuple(theirs.shape)), what
        bound = TOLERANCE.get(dtype, 0)
        values = (ours.double().numpy(), theirs.double().numpy())
        np.testing.assert_allclose(*values, rtol=bound, atol=bound / 5, equal_nan=True, err_msg=what)


@pytest.mark.parametrize("dtype", EXTREMA)
@pytest.mark.parametrize("name", CHOICES)
def test_extrema_and_positions(name: str, dtype: str) -> None:
    for shape in SHAPES:
        x = sample(shape, dtype)
        agree(lambda _, t: getattr(t, name)(), x, f"{name} {shape}")
        for dim in (0, -1, 1, 5) if dtype != "bool" else (0, -1):
            for keepdim in (False, True):
                agree(lambda _, t, d=dim, k=keepdim: getattr(t, name)(d, k), x, f"{name} {shape} {dim} {keepdim}")
    turned = sample((2, 3, 5), dtype).permute(2, 0, 1)
    for call in ((), (0,), (1,), (2,)):
        agree(lambda _, t, c=call: getattr(t, name)(*c), turned, f"{name} permuted {call}")


@pytest.mark.parametrize("name", CHOICES)
def test_first_nan_and_first_of_equals(name: str) -> None:
    for count in (5, 70, 700, 200_000):
        for special in (float("nan"), float("inf"), -float("inf"), 9.0):
            values = torch.zeros(count, 2)
            values[count // 2 :, 0] = special
            agree(lambda _, t: getattr(t, name)(0), values, f"{name} {count} {special}")
            agree(lambda _, t: getattr(t, name)(-1), values.t().contiguous(), f"{name} {count} {special}")
            agree(lambda _, t: getattr(t, name)(), values[:, 0].contiguous(), f"{name} {count} {special}")


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("name", STATISTICS)
def test_statistics(name: str, dtype: str) -> None:
    if name == "logsumexp" and dtype in ("float16", "bfloat16"):
        pytest.skip("torch rounds every step of it to halves")
    for shape in SHAPES:
        x = sample(shape, dtype)
        if name != "logsumexp":
            agree(lambda _, t: getattr(t, name)(), x, f"{name} {shape}")
        for dim in (0, -1, 1, (0, 1), (-1, 0)):
            if shape == () and isinstance(dim, tuple):
                continue
            for keepdim in (False, True):
                agree(lambda _, t, d=dim, k=keepdim: getattr(t, name)(dim=d, keepdim=k), x, f"{name} {shape} {dim}")
    turned = sample((2, 3, 5), dtype).permute(2, 0, 1)
    for dim in (0, 1, 2, (0, 2)):
        agree(lambda _, t, d=dim: getattr(t, name)(dim=d), turned, f"{name} permuted {dim}")


@pytest.mark.parametrize("name", ["var", "std"])
def test_variance_far_from_zero(name: str) -> None:
    """The deviations are a thousandth of the mean: one pass in single precision would lose them."""
    x = sample((200_000,), "float32") / 3 + 1000
    agree(lambda _, t: getattr(t, name)(), x, name)
    agree(lambda _, t: getattr(t, name)(1), x.reshape(100, 2000), name)
    agree(lambda _, t: getattr(t, name)(0), x.reshape(100, 2000), name)
    agree(lambda library, t: getattr(library, name + "_mean")(t, 1), x.reshape(100, 2000), name)


@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_spellings_of_variances(dtype: str) -> None:
    x = sample((4, 6), dtype)
    agree(lambda _, t: t.var(False), x, "unbiased alone")
    agree(lambda _, t: t.std(0, False), x, "dim and unbiased")
    agree(lambda _, t: t.std(0, True, True), x, "dim, unbiased and keepdim")
    agree(lambda _, t: t.var(dim=1, correction=2), x, "correction")
    agree(lambda _, t: t.var(axis=1, keepdims=True), x, "NumPy's names")
    agree(lambda library, t: library.var_mean(t, (0, 1), correction=0), x, "var_mean")
    agree(lambda library, t: library.std_mean(t, unbiased=False), x, "std_mean")
    agree(lambda _, t: t.var(1, correction=6), x, "no degrees of freedom")
    agree(lambda library, t: library.aminmax(t, dim=0, keepdim=True), x, "aminmax")
    agree(lambda _, t: t.aminmax(), x, "aminmax")


@pytest.mark.parametrize("order", [0, 1, 2, 3, -1, 0.5, float("inf"), -float("inf"), "fro", None])
def test_norms(order: Any) -> None:
    for dtype in ("float64", "float32", "bfloat16", "int64"):
        for shape in SHAPES:
            x = sample(shape, dtype)
            agree(lambda _, t: t.norm(order), x, f"norm {order} {dtype} {shape}")
            agree(lambda _, t: t.norm(order, dim=-1, keepdim=True), x, f"norm {order} {dtype} {shape}")
    agree(lambda _, t: t.dist(t * 2, 3), sample((3, 4), "float32"), "dist")


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("name", [*ROWS, *SCANS])
def test_rows_and_scans(name: str, dtype: str) -> None:
    if name == "log_softmax" and dtype in ("float16", "bfloat16"):
        pytest.skip("torch rounds every step of it to halves")
    for shape in SHAPES:
        if name == "cumprod" and shape[:1] == (300,):
            continue
        x = sample(shape, dtype)
        for dim in range(-len(shape), len(shape)):
            agree(lambda _, t, d=dim: getattr(t, name)(d), x / 8 if name == "cumprod" else x, f"{name} {shape} {dim}")
    turned = sample((2, 3, 5), dtype).permute(2, 0, 1)
    for dim in (0, 1, 2):
        agree(lambda _, t, d=dim: getattr(t, name)(d), turned, f"{name} permuted {dim}")


@pytest.mark.parametrize("name", ["cummax", "cummin", "cumprod"])
@pytest.mark.parametrize("dtype", ["int64", "uint8", "bool"])
def test_scans_of_integers(name: str, dtype: str) -> None:
    for shape in ((7,), (3, 4), (2, 3, 5)):
        for dim in range(len(shape)):
            agree(lambda _, t, d=dim: getattr(t, name)(d), sample(shape, dtype), f"{name} {shape} {dim}")


def test_special_values_in_rows() -> None:
    inf, nan = float("inf"), float("nan")
    x = torch.tensor([[1, inf, 2], [-inf, -inf, -inf], [nan, 1, 2], [-inf, 0, 1], [inf, -inf, nan]])
    for name in (*ROWS, "logsumexp", "logcumsumexp", "cummax", "cummin", "var"):
        agree(lambda _, t, n=name: getattr(t, n)(1), x, name)
        agree(lambda _, t, n=name: getattr(t, n)(0), x, name)
    agree(lambda _, t: t.softmax(1, dtype=None), x.double(), "float64")
    agree(lambda library, t: t.log_softmax(0, dtype=library.float64), x.int(), "dtype")


def test_long_rows_are_divided() -> None:
    x = sample((300_000,), "float64")
    for call in (lambda _, t: t.softmax(0), lambda _, t: t.logsumexp(0), lambda _, t: t.var(), lambda _, t: t.norm(3)):
        agree(call, x, "long")


def test_results_with_names() -> None:
    x, y = torch.tensor([[1.0, 5.0], [3.0, 2.0]]), torch.tensor([[2.0, 2.0], [2.0, 2.0]])
    for call in (lambda t: t.max(0), lambda t: t.aminmax(), lambda t: t.cummin(1)):
        assert repr(call(twin(x))).replace("opweave.", "torch.") == repr(call(x))
    agree(lambda library, t: t.max(t * 0 + 2), x, "pairwise")
    agree(lambda library, t: library.min(t, other=t * 0 + 2), x, "pairwise")
    values, indices = opweave.empty(0), opweave.empty(0, dtype=opweave.int64)
    result = opweave.max(twin(x), 1, out=(values, indices))
    assert result.values is values
    assert result.indices is indices
    assert indices.tolist() == [1, 0]
    assert twin(y).max(1).indices.tolist() == [0, 0]


def test_differences_and_areas() -> None:
    x = sample((5, 7), "float64")
    points = torch.tensor([0.0, 1.0, 2.5, 3.0, 4.0, 7.0, 8.0], dtype=torch.float64)
    for n in (0, 1, 2, 9, 2**40):
        for dim in (0, -1):
            agree(lambda _, t, n=n, d=dim: t.diff(n, d), x, f"diff {n} {dim}")
    agree(lambda _, t: t.diff(), x > 0, "diff of bool")
    for dim in (0, 1, -1):
        agree(lambda library, t, d=dim: library.trapezoid(t, dx=0.5, dim=d), x, "trapezoid")
        agree(lambda library, t, d=dim: library.cumulative_trapezoid(t, dim=d), x, "cumulative_trapezoid")
    ours = twin(points)
    agree(lambda library, t: library.trapz(t, points if library is torch else ours), x, "trapz")
    agree(lambda library, t: library.trapz(t, t), x, "trapz")
    for order in (1, 2, 3):
        agree(lambda library, t, o=order: library.gradient(t, edge_order=o), x, "gradient")
        agree(lambda library, t, o=order: library.gradient(t, spacing=0.5, dim=1, edge_order=o), x, "gradient")
        places = {torch: (points,), opweave: (ours,)}
        agree(lambda lib, t, o=order, p=places: lib.gradient(t, spacing=p[lib], dim=1, edge_order=o), x, "places")


def test_counts_and_refusals() -> None:
    for shape in SHAPES:
        agree(lambda _, t: t.count_nonzero(), sample(shape, "int64"), "count_nonzero")
    agree(lambda _, t: t.count_nonzero((0, 1)), sample((3, 4), "float32").round(), "count_nonzero")
    for name in ("var", "std", "norm", "nanmean"):
        agree(lambda _, t, n=name: getattr(t, n)(), sample((3,), "int64"), name)
    for name in ("argmax", "argmin"):
        agree(lambda _, t, n=name: getattr(t, n)(), sample((3,), "bool"), name)
