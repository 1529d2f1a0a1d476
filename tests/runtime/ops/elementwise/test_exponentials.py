"""Exponentials and logarithms with infinite, zero, denormal or exact results, at every instruction-set level."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf, nan

import opweave
import pytest
from opweave import float32, float64
from opweave._C import lib

SINGLE, DOUBLE = 2.0**-149, 2.0**-1074  # the smallest numbers
# Function, dtype, argument, result.
EXACT = [
    ("exp", float32, [-inf, -1e9, -104.0, -0.0, 0.0, 89.0, inf, nan], [0, 0, 0, 1, 1, inf, inf, nan]),
    ("exp", float64, [-inf, -1e300, -746.0, -0.0, 0.0, 710.0, inf, nan], [0, 0, 0, 1, 1, inf, inf, nan]),
    ("exp2", float32, [-inf, -1e9, -151.0, -149.0, -126.0, 0.0, 3.0, 127.0, 128.0, inf, nan],
     [0, 0, 0, SINGLE, 2.0**-126, 1, 8, 2.0**127, inf, inf, nan]),
    ("exp2", float64, [-inf, -1076.0, -1074.0, 0.0, 3.0, 1023.0, 1024.0, inf, nan],
     [0, 0, DOUBLE, 1, 8, 2.0**1023, inf, inf, nan]),
    ("expm1", float32, [-inf, -1e9, -18.0, -0.0, 0.0, SINGLE, -SINGLE, 1e-30, 89.0, inf, nan],
     [-1, -1, -1, -0.0, 0, SINGLE, -SINGLE, 1e-30, inf, inf, nan]),
    ("expm1", float64, [-inf, -1e9, -38.0, -0.0, 0.0, DOUBLE, -DOUBLE, 1e-300, 710.0, inf, nan],
     [-1, -1, -1, -0.0, 0, DOUBLE, -DOUBLE, 1e-300, inf, inf, nan]),
    ("log", float32, [0.0, -0.0, -1.0, -inf, 1.0, inf, nan], [-inf, -inf, nan, nan, 0, inf, nan]),
    ("log", float64, [0.0, -0.0, -1.0, -inf, 1.0, inf, nan], [-inf, -inf, nan, nan, 0, inf, nan]),
    ("sigmoid", float32, [-inf, -1e9, -104.0, 0.0, 17.5, inf, nan], [0, 0, 0, 0.5, 1, 1, nan]),
    ("sigmoid", float64, [-inf, -1e9, -746.0, 0.0, 38.0, inf, nan], [0, 0, 0, 0.5, 1, 1, nan]),
]  # fmt: skip
# Results that are some multiples of the smallest number, rounded to whole ones.
DENORMAL = [
    (float32, [-103.0, -100.0, -95.0, -90.0], [1, 27, 3940, 584744]),
    (float64, [-745.0, -740.0, -735.0, -730.0], [1, 85, 12583, 1867427]),
]


@pytest.fixture(params=[0, 1, 2], ids=["x86-64", "x86-64-v3", "x86-64-v4"])
def level(request: pytest.FixtureRequest) -> Iterator[None]:
    best = lib.level()
    if not lib.set_level(request.param):
        pytest.skip("the processor does not have this level")
    yield
    lib.set_level(best)


def same(x: opweave.Tensor, y: opweave.Tensor) -> bool:
    """Bit for bit, but for the signs of NaN."""
    bits = {float32: opweave.int32, float64: opweave.int64}[x.dtype]
    return bool(((x.view(bits) == y.view(bits)) | (x.isnan() & y.isnan())).all())


@pytest.mark.usefixtures("level")
@pytest.mark.parametrize(("name", "dtype", "arguments", "results"), EXACT, ids=str)
def test_exact_results(name: str, dtype: opweave.dtype, arguments: list[float], results: list[float]) -> None:
    function = getattr(opweave, name)
    for repeats in (1, 40):  # less than a vector, and many
        x = opweave.tensor(arguments, dtype=dtype).repeat(repeats)
        assert same(function(x), opweave.tensor(results, dtype=dtype).repeat(repeats)), function(x)


@pytest.mark.usefixtures("level")
@pytest.mark.parametrize(("dtype", "arguments", "units"), DENORMAL, ids=str)
def test_denormal_results_are_right_to_the_last_unit(
    dtype: opweave.dtype, arguments: list[float], units: list[int]
) -> None:
    bits = {float32: opweave.int32, float64: opweave.int64}[dtype]
    result = opweave.tensor(arguments, dtype=dtype).exp().view(bits)
    assert (result - opweave.tensor(units)).abs().max() <= 1, result


@pytest.mark.usefixtures("level")
@pytest.mark.parametrize("dtype", [float32, float64], ids=str)
@pytest.mark.parametrize("name", ["exp", "exp2", "expm1", "log", "sigmoid", "tanh"])
def test_neighbours_do_not_change_a_result(name: str, dtype: opweave.dtype) -> None:
    """What a masked element takes its own way for, others do not notice."""
    function = getattr(opweave, name)
    x = opweave.linspace(0.01, 9, 1000, dtype=dtype)
    expected = function(x)
    for special in (-inf, inf, nan, 0.0, -1e4):
        mixed = x.clone()
        mixed[::7] = special
        unmasked = opweave.arange(1000) % 7 != 0
        assert same(function(mixed)[unmasked], expected[unmasked])


@pytest.mark.usefixtures("level")
@pytest.mark.parametrize("dtype", [float32, float64], ids=str)
@pytest.mark.parametrize("mask", [-inf, -1e9])
def test_masked_rows(dtype: opweave.dtype, mask: float) -> None:
    x = opweave.zeros(3, 100, dtype=dtype)
    x[:, 64:] = mask
    expected = opweave.zeros(3, 100, dtype=dtype)
    expected[:, :64] = 1 / 64
    assert same(x.softmax(1), expected)
    logarithm = opweave.tensor([64.0], dtype=dtype).log()
    assert same(x.logsumexp(1), logarithm.repeat(3))
    assert same(x.log_softmax(1)[:, :64].contiguous(), (-logarithm).repeat(192).view(3, 64))
