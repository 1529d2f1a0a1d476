"""A Python number beside half tensors keeps its precision wherever it stands; only results are halves."""

import math

import opweave
import pytest

HALF, BFLOAT = opweave.float16, opweave.bfloat16


def halves(*values, dtype=HALF):
    return opweave.tensor(list(values), dtype=dtype)


def nearest(*values, dtype=HALF):
    """Halves nearest to numbers, infinite beyond them."""
    return opweave.tensor(list(values), dtype=opweave.float64).to(dtype).tolist()


CASES = {
    "mul": (lambda x, n: n * x, lambda x, n: n * x),
    "mul_right": (lambda x, n: x * n, lambda x, n: n * x),
    "div": (lambda x, n: n / x, lambda x, n: n / x),
    "div_right": (lambda x, n: x / n, lambda x, n: x / n),
    "add": (lambda x, n: x + n, lambda x, n: x + n),
    "sub": (lambda x, n: x - n, lambda x, n: x - n),
    "sub_left": (lambda x, n: n - x, lambda x, n: n - x),
    "rsub": (lambda x, n: opweave.rsub(x, n), lambda x, n: n - x),
    "pow": (lambda x, n: x**n, lambda x, n: x**n),
    "remainder": (lambda x, n: x % n, lambda x, n: x % n),
    "remainder_left": (lambda x, n: n % x, lambda x, n: n % x),
    "fmod": (lambda x, n: x.fmod(n), math.fmod),
    "floor_divide": (lambda x, n: x // n, lambda x, n: x // n),
    "floor_divide_left": (lambda x, n: n // x, lambda x, n: n // x),
    "div_trunc": (lambda x, n: x.div(n, rounding_mode="trunc"), lambda x, n: math.trunc(x / n)),
    "lerp": (lambda x, n: x.lerp(2 * x, n), lambda x, n: x + n * x),
    "addcmul_value": (lambda x, n: x.addcmul(x, x, value=n), lambda x, n: x + n * x * x),
    "clamp": (lambda x, n: x.clamp(n), max),
    "clamp_max": (lambda x, n: x.clamp(max=n), min),
    "xlogy": (lambda x, n: x.xlogy(n), lambda x, n: x * math.log(n)),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize(("dtype", "number"), [(HALF, 1.0007), (HALF, 3.1415926), (BFLOAT, 1.005), (BFLOAT, 100.3)])
def test_keeps_precision(name, dtype, number):
    function, meant = CASES[name]
    x = halves(0.4, 2.0, 7.0, 1.3, dtype=dtype)
    got = function(x, number)
    assert got.dtype is dtype
    # Powers and logarithms may be a unit of float32 off, which shows where a result lies between two halves.
    want = nearest(*(meant(each, number) for each in x.tolist()), dtype=dtype)
    assert got.tolist() == pytest.approx(want, rel=opweave.finfo(dtype).eps * (name in ("pow", "xlogy", "lerp")))


def test_larger_than_halves():
    assert (1e5 * halves(1e-5)).item() == pytest.approx(1.0014, abs=1e-3)
    assert (70000.0 / halves(2.0)).item() == 35008
    assert (70000.0 ** halves(0.5)).item() == 264.5
    assert (halves(60000.0) - 70000).item() == -10000
    assert (70000 - halves(60000.0)).item() == 10000
    assert (70000.0 // halves(3.0)).item() == 23328
    assert (70000 % halves(60000.0)).item() == 10000
    assert (halves(60000.0) % 70000).item() == 60000
    assert halves(1.0).lerp(halves(1.5), 70000.0).item() == 35008
    assert opweave.addcmul(halves(1.0), halves(0.001), halves(0.01), value=1e5).item() == pytest.approx(2, abs=2e-3)
    assert opweave.add(halves(1.0), halves(0.5), alpha=65504).item() == 32752
    assert halves(2.0).pow(65504).item() == math.inf


def test_in_place_and_out():
    x, out = halves(1e-3, 0.5), halves(0.0, 0.0)
    opweave.mul(x, 1e5, out=out)
    assert out.tolist() == nearest(*(1e5 * each for each in x.tolist()))
    assert x.clone().mul_(1e5).tolist() == out.tolist()
    assert halves(60000.0).sub_(70000).item() == -10000
    assert halves(60000.0).remainder_(60000.7).item() == 60000


@pytest.mark.parametrize("layout", ["row", "steps", "broadcast"])
def test_in_every_layout(layout):
    whole = opweave.full((40, 6), 1e-3, dtype=HALF)
    x = {"row": whole, "steps": whole[:, ::2], "broadcast": whole[:1].expand(40, 6)}[layout]
    assert set((x * 1e5).flatten().tolist()) == set((1e5 * x).flatten().tolist()) == {100.0625}
    assert set(opweave.where(x > 1, x, 1e5).flatten().tolist()) == {math.inf}
    x = x.to(BFLOAT)
    assert set(x.clamp(min=1.006).flatten().tolist()) == {1.0078125}


def test_comparisons_round():
    x = halves(0.1, 0.2)
    assert (x == 0.1).tolist() == [True, False]
    assert (x >= 0.1).tolist() == [True, True]
    assert (x.to(BFLOAT) < 0.1).tolist() == [False, False]


def test_rounds_where_elements_are_compared():
    assert opweave.nn.functional.hardshrink(halves(0.3, 0.4, dtype=BFLOAT), 0.3).tolist() == nearest(
        0, 0.4, dtype=BFLOAT
    )
    assert opweave.nn.functional.hardshrink(halves(0.3, 0.4), 0.3).tolist() == nearest(0, 0.4)


def test_quotients_of_halves_round_first():
    left, right = halves(1, -3, 7, 6, dtype=BFLOAT), halves(0.1, 0.3, 0.7, 0.1, dtype=BFLOAT)
    assert left.div(right, rounding_mode="trunc").tolist() == [10, -10, 10, 60]
    assert halves(0.9, 1).div(halves(0.3, 1), rounding_mode="trunc").tolist() == [3, 1]
    assert left.clone().div_(right, rounding_mode="trunc").tolist() == [10, -10, 10, 60]


def test_tensors_are_rounded_as_torch_rounds_them():
    x, single = halves(1e-5, 0.1), opweave.tensor(70000.0)
    assert (x * single).tolist() == (x * 70000.0).tolist()
    assert (single * x).tolist() == [math.inf, math.inf]
    assert (x + opweave.tensor(70000)).tolist() == [math.inf, math.inf]


def test_integers_wrap_as_ever():
    assert (opweave.tensor([1], dtype=opweave.uint8) + 300).item() == 45
    assert (300 ** opweave.tensor([2], dtype=opweave.uint8)).item() == 144
