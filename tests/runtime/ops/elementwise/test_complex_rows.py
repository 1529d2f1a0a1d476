"""Functions of rows of complex numbers (complex_math.h of the core): their digits, special values, and neighbours."""

from __future__ import annotations

import cmath
import itertools
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import opweave
import pytest

NAMES = ("exp", "sin", "cos", "tan", "sinh", "cosh", "tanh", "log")
DTYPES = (np.complex64, np.complex128)
PARTS = (0.0, -0.0, 1.0, -1.0, 0.5, 30.0, -100.0, 1e3, 3e38, -3e38, 1e-45, np.inf, -np.inf, np.nan)
SPECIAL = np.array([complex(*parts) for parts in itertools.product(PARTS, repeat=2)])


def function_of(name: str) -> Callable[[np.ndarray], np.ndarray]:
    return lambda z: getattr(opweave, name)(opweave.from_numpy(z)).numpy()


def usual(dtype: type[np.complexfloating]) -> np.ndarray:
    """Ordinary numbers, small ones, and those beside the unit circle and the poles of tangents."""
    random = np.random.default_rng(1)
    sizes, angles = np.exp(random.uniform(-20, 2, 2000)), np.exp(1j * random.uniform(-np.pi, np.pi, 2000))
    return np.concatenate([
        random.uniform(-15, 15, 2000) + 1j * random.uniform(-15, 15, 2000),
        sizes * angles, angles, angles * (1 + sizes * 1e-3), np.pi / 2 + sizes * 1e-2 * angles,
        1j * np.pi / 2 + sizes * 1e-2 * angles,
    ]).astype(dtype)  # fmt: skip


def parts(z: np.ndarray) -> np.ndarray:
    return np.stack([z.real, z.imag])


@pytest.mark.parametrize("name", NAMES)
def test_complex64_rounds_what_double_precision_gives(name: str) -> None:
    z = usual(np.complex64)
    got, exact = parts(function_of(name)(z)), parts(getattr(np, name)(z.astype(np.clongdouble)))
    step = np.spacing(np.abs(exact).astype(np.float32)).astype(np.longdouble)
    assert (np.abs(got - exact) / step).max() < 0.501


@pytest.mark.parametrize("name", NAMES)
def test_complex128_has_its_digits(name: str) -> None:
    z = usual(np.complex128)
    got, exact = parts(function_of(name)(z)), parts(getattr(np, name)(z.astype(np.clongdouble)))
    step = np.spacing(np.abs(exact).astype(np.float64)).astype(np.longdouble)
    # Closer to the unit circle extended precision, too, loses the digits of logarithms.
    within = np.abs(exact) > 1e-11 if name == "log" else True
    assert (np.abs(got - exact) / step * within).max() < 9


def test_logarithm_beside_the_unit_circle() -> None:
    """log |z| is half of what the squares exceed 1 by, which no sum of rounded squares has."""
    z = [0.402502080580372 + 0.9154190707694874j, 0.9999999940531672 + 0.00010905808348047253j, 1j, -1 + 0j, 0.6 - 0.8j]
    exact = [float((Fraction(x.real) ** 2 + Fraction(x.imag) ** 2 - 1) / 2) for x in z]
    np.testing.assert_allclose(function_of("log")(np.array(z)).real, exact, rtol=1e-15)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", NAMES)
def test_special_values_are_those_of_the_c_standard(name: str, dtype: type[np.complexfloating]) -> None:
    """As NumPy has them, whose functions are the C library's: infinities, NaN, signs of zeros."""
    with np.errstate(all="ignore"):
        z = SPECIAL.astype(dtype)
        expected = parts(getattr(np, name)(z))
    got = parts(function_of(name)(z))
    np.testing.assert_allclose(got, expected, rtol=2e-6 if dtype is np.complex64 else 1e-14, atol=3e-45)
    zeros = (expected == 0) & np.isfinite(parts(z)).all(0)
    np.testing.assert_array_equal(np.signbit(got[zeros]), np.signbit(expected[zeros]))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", [*NAMES, "sigmoid", "exp2", "log2"])
def test_elements_do_not_see_their_neighbours(name: str, dtype: type[np.complexfloating]) -> None:
    with np.errstate(all="ignore"):
        z = np.concatenate([usual(dtype)[::5], SPECIAL.astype(dtype)])
    z = z[np.random.default_rng(2).permutation(z.size)]
    whole = function_of(name)(z)
    alone = np.array([function_of(name)(z[k : k + 1])[0] for k in range(z.size)])
    np.testing.assert_array_equal(alone, whole)
    in_place = opweave.from_numpy(z.copy())
    np.testing.assert_array_equal(getattr(in_place, f"{name}_")().numpy(), whole)


@pytest.mark.parametrize("dtype", DTYPES)
def test_sigmoid_beside_its_poles_and_far_out(dtype: type[np.complexfloating]) -> None:
    random = np.random.default_rng(3)
    near = 1j * np.pi + 10.0 ** random.uniform(-6, -1, 500) * np.exp(1j * random.uniform(-3, 3, 500))
    z = np.concatenate([near, random.uniform(-40, 40, 500) + 1j * random.uniform(-9, 9, 500)]).astype(dtype)
    exact = 1 / (1 + np.exp(z.astype(np.clongdouble) * -1))
    if dtype is np.complex128:
        z, exact = z[500:], exact[500:]  # extended precision loses its digits beside the poles
    error = np.abs(function_of("sigmoid")(z) - exact) / np.abs(exact)
    assert error.max() < 12 * np.finfo(dtype).eps / 2
    far = np.array([complex(np.inf, 1), complex(-np.inf, 1), complex(500, np.pi), complex(-500, 2)]).astype(dtype)
    np.testing.assert_allclose(function_of("sigmoid")(far), [1, 0, 1, 0], atol=1e-200)
    assert cmath.isnan(complex(function_of("sigmoid")(np.array([np.nan], dtype))[0]))
