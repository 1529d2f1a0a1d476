"""Functions of rows (vector_math.h, special.h): exact remainders, and elements that see no neighbours."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import opweave
import pytest

SPECIAL = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 1e-45, -1e-45, 1e-38, 3e38, -3e38, 2, 0.5], np.float32)
DTYPES = (np.float32, np.float64)
FUNCTIONS = [
    *((name, np.float32) for name in ("exp", "exp2", "expm1", "log", "sin", "cos", "tanh", "erf", "sigmoid", "sqrt")),
    *((name, np.float64) for name in ("exp", "log", "sqrt", "erfinv")),
    *((name, dtype) for name in ("ndtri", "bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1") for dtype in DTYPES),
]
POLYNOMIALS = [name for name in dir(opweave.special) if "_polynomial_" in name]


def function_of(name: str) -> Callable[..., opweave.Tensor]:
    return getattr(opweave, name, None) or getattr(opweave.special, name)


def bits_of(x: np.ndarray) -> np.ndarray:
    return x.view(np.uint32 if x.dtype == np.float32 else np.uint64)


def any_numbers(count: int, seed: int, dtype: type[np.floating] = np.float32) -> np.ndarray:
    bits = bits_of(np.empty(0, dtype)).dtype
    return np.random.default_rng(seed).integers(0, np.iinfo(bits).max, count, dtype=bits).view(dtype)


def remainders_of(dtype: type[np.floating]) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    x, y = any_numbers(100_000, 1, dtype), any_numbers(100_000, 2, dtype)
    random = np.random.default_rng(3)
    digits = np.finfo(dtype).nmant + 1
    exponents = random.uniform(0, digits + 6, x.size)  # of quotients that need no loop, and some that do
    multiples = random.integers(-(2**digits), 2**digits, x.size)
    small = np.abs(y) < np.finfo(dtype).max ** 0.75
    special = SPECIAL.astype(dtype)
    with np.errstate(all="ignore"):
        return {
            "any bits": (x, y),
            "near": ((y * np.exp2(exponents)).astype(dtype), y),
            "multiples": ((y[small] * multiples[small]).astype(dtype), y[small]),
            "special": (np.repeat(special, special.size), np.tile(special, special.size)),
        }


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("what", remainders_of(np.float32))
def test_remainders_are_exact(what: str, dtype: type[np.floating]) -> None:
    x, y = remainders_of(dtype)[what]
    with np.errstate(all="ignore"):
        truncated, floored = np.fmod(x, y), np.remainder(x, y)
    for got, expected in (
        (opweave.fmod(opweave.from_numpy(x), opweave.from_numpy(y)).numpy(), truncated),
        (opweave.remainder(opweave.from_numpy(x), opweave.from_numpy(y)).numpy(), floored),
    ):
        np.testing.assert_array_equal(got, expected)
    signs = np.signbit(opweave.fmod(opweave.from_numpy(x), opweave.from_numpy(y)).numpy())
    np.testing.assert_array_equal(signs[~np.isnan(truncated)], np.signbit(truncated)[~np.isnan(truncated)])


def test_remainder_in_place() -> None:
    x, y = any_numbers(1000, 4), any_numbers(1000, 5)  # some quotients are long
    expected = opweave.fmod(opweave.from_numpy(x), opweave.from_numpy(y)).numpy()
    np.testing.assert_array_equal(opweave.from_numpy(x.copy()).fmod_(opweave.from_numpy(y)).numpy(), expected)


@pytest.mark.parametrize(("name", "dtype"), FUNCTIONS)
def test_elements_do_not_see_their_neighbours(name: str, dtype: type[np.floating]) -> None:
    function = function_of(name)
    steps = np.linspace(-50000, 50000, 1001, dtype=dtype)
    near = np.random.default_rng(10).uniform(-2, 10, 1000).astype(dtype)
    unit = np.random.default_rng(11).uniform(0, 1, 1000).astype(dtype) ** np.repeat([1, 50], 500)
    numbers = any_numbers(997, 6, dtype)
    x = np.concatenate([numbers, SPECIAL.astype(dtype), steps, near, unit, near[::7], unit[::3]])
    whole = function(opweave.from_numpy(x)).numpy()
    alone = np.array([function(opweave.from_numpy(x[k : k + 1])).numpy()[0] for k in range(x.size)])
    np.testing.assert_array_equal(bits_of(alone), bits_of(whole))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", POLYNOMIALS)
def test_polynomials_do_not_see_their_neighbours(name: str, dtype: type[np.floating]) -> None:
    random = np.random.default_rng(12)
    usual = random.uniform(-2, 2, 1600).astype(dtype), random.integers(0, 9, 1600).astype(dtype)
    others = random.choice([*SPECIAL, 9, 1e30], 400), random.choice([*SPECIAL, 16, 17, 64, 65, 300], 400)
    x, n = (np.concatenate([a, b.astype(dtype), a[::5]]) for a, b in zip(usual, others, strict=True))
    mixed = random.permutation(x.size)
    whole = function_of(name)(opweave.from_numpy(x), opweave.from_numpy(n)).numpy()
    shuffled = function_of(name)(opweave.from_numpy(x[mixed]), opweave.from_numpy(n[mixed])).numpy()
    np.testing.assert_array_equal(shuffled, whole[mixed])
    np.testing.assert_array_equal(np.signbit(shuffled), np.signbit(whole[mixed]))


def test_square_roots_of_float32_are_rounded_correctly() -> None:
    significands = np.arange(2**23, dtype=np.uint32) | np.uint32(0x3F800000)  # of [1, 2), whose doubles lie in [2, 4)
    unit = significands.view(np.float32)
    x = np.concatenate([unit, 2 * unit, any_numbers(100_000, 13), SPECIAL])
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(opweave.sqrt(opweave.from_numpy(x)).numpy(), np.sqrt(x))


def test_square_roots_are_rounded_correctly() -> None:
    # Squares of numbers with one digit more than float64 has, and what is next to them: halfway between two roots.
    halves = np.random.default_rng(8).integers(2**52, 2**53, 100_000).astype(np.longdouble) + 0.5
    middle = (halves * halves).astype(np.float64)
    near = [(bits_of(middle) + np.uint64(step)).view(np.float64) for step in (0, 1, 2**64 - 1)]
    x = np.concatenate([*near, any_numbers(100_000, 9, np.float64), SPECIAL.astype(np.float64)])
    with np.errstate(all="ignore"):
        expected = np.sqrt(x)
    got = opweave.sqrt(opweave.from_numpy(x)).numpy()
    np.testing.assert_array_equal(got, expected)
    np.testing.assert_array_equal(np.signbit(got[x == 0]), np.signbit(x[x == 0]))


@pytest.mark.parametrize(("name", "rounding"), [("sin", 2.0**-23), ("cos", 2.0**-23), ("tanh", 0), ("erf", 0)])
def test_results_do_not_exceed_one(name: str, rounding: float) -> None:
    x = np.linspace(-20, 20, 1_000_003, dtype=np.float32)
    largest = np.abs(getattr(opweave, name)(opweave.from_numpy(x)).numpy()).max()
    assert 1 <= largest <= 1 + rounding  # libmvec's sine may go one place beyond


def test_expm1_keeps_zeros_and_small_numbers() -> None:
    x = np.array([0.0, -0.0, 1e-45, -1e-45, 1e-30, -1e-30], np.float32)
    np.testing.assert_array_equal(bits_of(opweave.expm1(opweave.from_numpy(x)).numpy()), bits_of(x))


@pytest.mark.parametrize("name", ["sin", "tanh", "erf"])
def test_odd_functions_keep_zero_and_sign(name: str) -> None:
    x = np.concatenate([SPECIAL, any_numbers(1000, 7)])
    x = x[~np.isnan(x)]
    got = getattr(opweave, name)(opweave.from_numpy(x)).numpy()
    mirrored = getattr(opweave, name)(opweave.from_numpy(-x)).numpy()
    np.testing.assert_array_equal(got[np.isfinite(x)], -mirrored[np.isfinite(x)])
    np.testing.assert_array_equal(np.signbit(got[x == 0]), np.signbit(x[x == 0]))
