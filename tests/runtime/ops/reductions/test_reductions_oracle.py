"""Reductions and scans with positions or several results, row operators and their composites, against torch.

Values agree to the rounding of the dtype, dtypes and shapes exactly, errors in type and text.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import opweave
import pytest
from harness import oracle
from harness.arrays import cast
from harness.drawn import Drawn
from harness.layouts import first_layout
from harness.oracle import CLOSE, Call, Like, Twin

from codegen.dtypes import DTYPES

LIKE = Like(rtol=CLOSE, atol={name: error / 5 for name, error in CLOSE.items()}, strides=False, few=16)
SHAPES = ((), (7,), (3, 4), (2, 3, 5), (300,), (5, 700), (700, 5), (0, 3), (2, 0))
FLOATING = ("float64", "float32", "bfloat16", "float16")
EXTREMA = (*FLOATING, "int64", "uint8", "bool")
CHOICES = ("max", "min", "argmax", "argmin")
STATISTICS = ("var", "std", "nansum", "nanmean", "norm", "logsumexp")
ROWS = ("softmax", "log_softmax")
SCANS = ("cumprod", "cummax", "cummin", "logcumsumexp")


def sample(shape: tuple[int, ...], name: str, view: Call = lambda x: x) -> Call:
    """Small integers, so that there are equal elements."""
    drawn = Drawn(len(shape))
    values = drawn.normal(shape) * 3 if name in FLOATING else drawn.integers(0, 5, shape)
    return of_values(cast(values, DTYPES[name]), name, view)


def of_values(values: Any, name: str, view: Call = lambda x: x) -> Call:
    values = np.asarray(values)
    twin = Twin(values, first_layout(values.shape), DTYPES[name])
    return lambda library: view(twin.of(library))


def turned(name: str) -> Call:
    return sample((2, 3, 5), name, lambda x: x.permute(2, 0, 1))


def agree(call: Callable[[Any, Any], Any], x: Call, what: str) -> None:
    def of(library: Any) -> Any:
        result = call(library, x(library))
        return [*result] if isinstance(result, tuple) else result

    oracle.check(of, what, LIKE)


@pytest.mark.parametrize("dtype", EXTREMA)
@pytest.mark.parametrize("name", CHOICES)
def test_extrema_and_positions(name: str, dtype: str) -> None:
    for shape in SHAPES:
        x = sample(shape, dtype)
        agree(lambda _, t: getattr(t, name)(), x, f"{name} {shape}")
        for dim in (0, -1, 1, 5) if dtype != "bool" else (0, -1):
            for keepdim in (False, True):
                agree(lambda _, t, d=dim, k=keepdim: getattr(t, name)(d, k), x, f"{name} {shape} {dim} {keepdim}")
    x = turned(dtype)
    for call in ((), (0,), (1,), (2,)):
        agree(lambda _, t, c=call: getattr(t, name)(*c), x, f"{name} permuted {call}")


@pytest.mark.parametrize("name", CHOICES)
def test_first_nan_and_first_of_equals(name: str) -> None:
    for count in (5, 70, 700, 200_000):
        for special in (float("nan"), float("inf"), -float("inf"), 9.0):
            values = np.zeros((count, 2), np.float32)
            values[count // 2 :, 0] = special
            agree(lambda _, t: getattr(t, name)(0), of_values(values, "float32"), f"{name} {count} {special}")
            agree(lambda _, t: getattr(t, name)(-1), of_values(values.T.copy(), "float32"), f"{name} {count} {special}")
            agree(
                lambda _, t: getattr(t, name)(), of_values(values[:, 0].copy(), "float32"), f"{name} {count} {special}"
            )


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
    x = turned(dtype)
    for dim in (0, 1, 2, (0, 2)):
        agree(lambda _, t, d=dim: getattr(t, name)(dim=d), x, f"{name} permuted {dim}")


@pytest.mark.parametrize("name", ["var", "std"])
def test_variance_far_from_zero(name: str) -> None:
    """The deviations are a thousandth of the mean: one pass in single precision would lose them."""
    x = of_values((Drawn(1).normal((100, 2000)) + 1000).astype(np.float32), "float32")
    agree(lambda _, t: getattr(t.reshape(-1), name)(), x, name)
    agree(lambda _, t: getattr(t, name)(1), x, name)
    agree(lambda _, t: getattr(t, name)(0), x, name)
    agree(lambda library, t: getattr(library, name + "_mean")(t, 1), x, name)


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
            scale = 8 if name == "cumprod" else 1
            agree(lambda _, t, d=dim, s=scale: getattr(t / s, name)(d), x, f"{name} {shape} {dim}")
    x = turned(dtype)
    for dim in (0, 1, 2):
        agree(lambda _, t, d=dim: getattr(t, name)(d), x, f"{name} permuted {dim}")


@pytest.mark.parametrize("name", ["cummax", "cummin", "cumprod"])
@pytest.mark.parametrize("dtype", ["int64", "uint8", "bool"])
def test_scans_of_integers(name: str, dtype: str) -> None:
    for shape in ((7,), (3, 4), (2, 3, 5)):
        for dim in range(len(shape)):
            agree(lambda _, t, d=dim: getattr(t, name)(d), sample(shape, dtype), f"{name} {shape} {dim}")


def test_special_values_in_rows() -> None:
    inf, nan = float("inf"), float("nan")
    x = of_values([[1, inf, 2], [-inf, -inf, -inf], [nan, 1, 2], [-inf, 0, 1], [inf, -inf, nan]], "float32")
    for name in (*ROWS, "logsumexp", "logcumsumexp", "cummax", "cummin", "var"):
        agree(lambda _, t, n=name: getattr(t, n)(1), x, name)
        agree(lambda _, t, n=name: getattr(t, n)(0), x, name)
    agree(lambda _, t: t.double().softmax(1, dtype=None), x, "float64")
    agree(lambda library, t: t.nan_to_num(0, 1, -1).int().log_softmax(0, dtype=library.float64), x, "dtype")


def test_long_rows_are_divided() -> None:
    x = sample((300_000,), "float64")
    for call in (lambda _, t: t.softmax(0), lambda _, t: t.logsumexp(0), lambda _, t: t.var(), lambda _, t: t.norm(3)):
        agree(call, x, "long")


def test_results_with_names() -> None:
    x = of_values([[1.0, 5.0], [3.0, 2.0]], "float32")
    for name, arguments in (("max", (0,)), ("aminmax", ()), ("cummin", (1,))):
        oracle.check(lambda L, n=name, a=arguments: repr(getattr(x(L), n)(*a)), name)
    agree(lambda library, t: t.max(t * 0 + 2), x, "pairwise")
    agree(lambda library, t: library.min(t, other=t * 0 + 2), x, "pairwise")
    values, indices = opweave.empty(0), opweave.empty(0, dtype=opweave.int64)
    result = opweave.max(x(opweave), 1, out=(values, indices))
    assert result.values is values
    assert result.indices is indices
    assert indices.tolist() == [1, 0]
    assert opweave.full((2, 2), 2.0).max(1).indices.tolist() == [0, 0]


def test_differences_and_areas() -> None:
    x = sample((5, 7), "float64")
    points = of_values([0.0, 1.0, 2.5, 3.0, 4.0, 7.0, 8.0], "float64")
    for n in (0, 1, 2, 9, 2**40):
        for dim in (0, -1):
            agree(lambda _, t, n=n, d=dim: t.diff(n, d), x, f"diff {n} {dim}")
    agree(lambda _, t: (t > 0).diff(), x, "diff of bool")
    for dim in (0, 1, -1):
        agree(lambda library, t, d=dim: library.trapezoid(t, dx=0.5, dim=d), x, "trapezoid")
        agree(lambda library, t, d=dim: library.cumulative_trapezoid(t, dim=d), x, "cumulative_trapezoid")
    agree(lambda library, t: library.trapz(t, points(library)), x, "trapz")
    agree(lambda library, t: library.trapz(t, t), x, "trapz")
    for order in (1, 2, 3):
        agree(lambda library, t, o=order: library.gradient(t, edge_order=o), x, "gradient")
        agree(lambda library, t, o=order: library.gradient(t, spacing=0.5, dim=1, edge_order=o), x, "gradient")
        agree(lambda lib, t, o=order: lib.gradient(t, spacing=(points(lib),), dim=1, edge_order=o), x, "places")


def test_counts_and_refusals() -> None:
    for shape in SHAPES:
        agree(lambda _, t: t.count_nonzero(), sample(shape, "int64"), "count_nonzero")
    agree(lambda _, t: t.round().count_nonzero((0, 1)), sample((3, 4), "float32"), "count_nonzero")
    for name in ("var", "std", "norm", "nanmean"):
        agree(lambda _, t, n=name: getattr(t, n)(), sample((3,), "int64"), name)
    for name in ("argmax", "argmin"):
        agree(lambda _, t, n=name: getattr(t, n)(), sample((3,), "bool"), name)
