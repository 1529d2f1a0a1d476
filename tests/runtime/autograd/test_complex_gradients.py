"""Gradients of complex numbers beside differences of values, in all quadrants, beside the cuts and far out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import opweave as ow
import pytest
from autograd.test_derivatives import with_numbers
from harness.catalog import described
from opweave import _operators

SIZES = (0.4, 1.7)
NEAR = 1e-3
POINTS = np.array(
    [complex(s * a, t * b) for a in SIZES for b in SIZES for s in (1, -1) for t in (1, -1)]
    + [complex(s * a, t * NEAR) for a in SIZES for s in (1, -1) for t in (1, -1)]
    + [complex(s * NEAR, t * a) for a in SIZES for s in (1, -1) for t in (1, -1)]
)
STEP = 1e-6
FAR = ("asin", "acos", "atan", "asinh", "acosh", "atanh", "log", "sqrt", "div", "sgn", "angle")


def tried() -> Iterator[Any]:
    for operator in described():
        if operator["family"] == "elementwise" and "complex128" in operator["dtypes"] and operator["name"] != "where":
            inputs = [name for name, formula in operator["derivatives"].items() if formula is not None]
            if inputs:
                yield pytest.param(operator["name"], inputs, id=operator["name"])


@pytest.mark.parametrize(("name", "inputs"), list(tried()))
def test_beside_differences(name: str, inputs: list[str]) -> None:
    function = with_numbers(getattr(_operators, name), inputs)
    random = np.random.default_rng(3)
    given = [POINTS, *(random.permutation(POINTS) for _ in inputs[1:])]
    weights = random.standard_normal(POINTS.shape) + 1j * random.standard_normal(POINTS.shape)

    def value(arrays: list[Any]) -> Any:
        values = function(*map(ow.tensor, arrays)).numpy()
        return (weights.conj() * values).real

    tensors = [ow.tensor(each, requires_grad=True) for each in given]
    result = function(*tensors)
    gradients = ow.autograd.grad(result, tensors, ow.tensor(weights if result.is_complex() else weights.real))
    for index, gradient in enumerate(gradients):
        expected = 0
        for direction in (1, 1j):
            ends = [value([*given[:index], given[index] + s * STEP * direction, *given[index + 1 :]]) for s in (1, -1)]
            expected = expected + direction * (ends[0] - ends[1]) / (2 * STEP)
        np.testing.assert_allclose(gradient.numpy(), expected, rtol=1e-5, atol=1e-5, err_msg=f"by {inputs[index]}")


@pytest.mark.parametrize("name", FAR)
@pytest.mark.parametrize("size", [1e200, 1e-200])
def test_far_out(name: str, size: float) -> None:
    points = np.array([1 + 1j, -1 + 1j, 1 - 2j, -2 - 1j]) * size
    tensors = [ow.tensor(points, requires_grad=True) for _ in range(2 if name == "div" else 1)]
    value = getattr(_operators, name)(*tensors)
    for gradient in ow.autograd.grad(value, tensors, ow.ones_like(value)):
        assert bool(gradient.isfinite().all())


def test_sign_of_acosh() -> None:
    z = ow.tensor([-0.8 - 0.15j, 0.8 - 0.15j, -0.8 + 0.15j], dtype=ow.complex128, requires_grad=True)
    gradient = ow.autograd.grad(z.acosh().sum(), z, ow.tensor(1 + 0j, dtype=ow.complex128))[0]
    expected = [1 / (np.sqrt(each - 1) * np.sqrt(each + 1)) for each in z.tolist()]
    np.testing.assert_allclose(gradient.tolist(), np.conj(expected), rtol=1e-12)


def test_real_base_and_complex_exponent() -> None:
    base = ow.tensor([2.0, -2.0, 0.0], dtype=ow.float64)
    exponent = ow.tensor([1 + 1j] * 3, dtype=ow.complex128, requires_grad=True)
    (gradient,) = ow.autograd.grad((base**exponent).real.sum(), exponent)
    expected = [(2 + 0j) ** (1 + 1j) * np.log(2), (-2 + 0j) ** (1 + 1j) * np.log(-2 + 0j), 0]
    np.testing.assert_allclose(gradient.tolist(), np.conj(expected), rtol=1e-12)
