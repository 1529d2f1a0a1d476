"""Functions of rows (runtime/core/blocks.h): exact remainders, and elements that do not see their neighbours."""

from __future__ import annotations

import numpy as np
import opweave
import pytest

SPECIAL = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 1e-45, -1e-45, 1e-38, 3e38, -3e38, 2, 0.5], np.float32)
FUNCTIONS = ("exp", "log", "sin", "cos", "tanh", "erf", "sigmoid")


def any_numbers(count: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 2**32, count, dtype=np.uint32).view(np.float32)


def remainders_of() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    x, y = any_numbers(100_000, 1), any_numbers(100_000, 2)
    random = np.random.default_rng(3)
    exponents = random.uniform(0, 30, x.size)  # of quotients that need no loop, and some that do
    multiples = random.integers(-(2**24), 2**24, x.size)
    small = np.abs(y) < 1e30
    with np.errstate(all="ignore"):
        return {
            "any bits": (x, y),
            "near": ((y * np.exp2(exponents)).astype(np.float32), y),
            "multiples": ((y[small] * multiples[small]).astype(np.float32), y[small]),
            "special": (np.repeat(SPECIAL, SPECIAL.size), np.tile(SPECIAL, SPECIAL.size)),
        }


@pytest.mark.parametrize("what", remainders_of())
def test_remainders_are_exact(what: str) -> None:
    x, y = remainders_of()[what]
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


@pytest.mark.parametrize("name", FUNCTIONS)
def test_elements_do_not_see_their_neighbours(name: str) -> None:
    function = getattr(opweave, name)
    x = np.concatenate([any_numbers(997, 6), SPECIAL, np.linspace(-50000, 50000, 1001, dtype=np.float32)])
    whole = function(opweave.from_numpy(x)).numpy()
    alone = np.array([function(opweave.from_numpy(x[k : k + 1])).numpy()[0] for k in range(x.size)])
    np.testing.assert_array_equal(alone.view(np.uint32), whole.view(np.uint32))


@pytest.mark.parametrize(("name", "rounding"), [("sin", 2.0**-23), ("cos", 2.0**-23), ("tanh", 0), ("erf", 0)])
def test_results_do_not_exceed_one(name: str, rounding: float) -> None:
    x = np.linspace(-20, 20, 1_000_003, dtype=np.float32)
    largest = np.abs(getattr(opweave, name)(opweave.from_numpy(x)).numpy()).max()
    assert 1 <= largest <= 1 + rounding  # libmvec's sine may go one place beyond


@pytest.mark.parametrize("name", ["sin", "tanh", "erf"])
def test_odd_functions_keep_zero_and_sign(name: str) -> None:
    x = np.concatenate([SPECIAL, any_numbers(1000, 7)])
    x = x[~np.isnan(x)]
    got = getattr(opweave, name)(opweave.from_numpy(x)).numpy()
    mirrored = getattr(opweave, name)(opweave.from_numpy(-x)).numpy()
    np.testing.assert_array_equal(got[np.isfinite(x)], -mirrored[np.isfinite(x)])
    np.testing.assert_array_equal(np.signbit(got[x == 0]), np.signbit(x[x == 0]))
