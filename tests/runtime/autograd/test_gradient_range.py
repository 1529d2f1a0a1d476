"""Gradients of every elementwise operator beside derivatives in arithmetic that does not overflow, over the whole range
of exponents.

A gradient has to be right wherever the value is finite, and the derivative is a number of the dtype: a formula that
overflows, underflows or divides by zero on the way is a mistake. Forgiven are what rounding an input, or a result that
the formula is written in terms of, does to the derivative. The formulas are tried both as kernels and as operators.
"""

from __future__ import annotations

import inspect
import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import opweave as ow
import pytest
from harness.catalog import differentiable, operators
from opweave import _operators

from codegen.dtypes import FLOAT64
from codegen.expr import Expr, names
from codegen.model.operator import End, Operator

mp = pytest.importorskip("mpmath").mp
exact = pytest.importorskip("exact")

EPS, TINY = 2.0**-23, 2.0**-126
RELATIVE = 2e-5
CANCELLING = {
    "gelu": "far below zero 1 + erf has no digits left, as in the value",
    "scaled_modified_bessel_k0": "a difference of functions that approach each other",
    "scaled_modified_bessel_k1": "a difference of functions that approach each other",
}
"""Operators whose gradients are right to rounding errors of numbers near one only, and why."""
SLOW = {"bessel_y0", "bessel_y1", "modified_bessel_k0", "modified_bessel_k1", "zeta", "igamma", "igammac"}
SLOW |= CANCELLING.keys() - {"gelu"}
"""Operators whose exact values take long."""

_STEPS = "the gradient is meant to differ from that of its steps"
_MANY = "of so many inputs there are too many combinations; its parts are tried"
LEFT_OUT = {
    "fake_quantize_per_tensor_affine": _STEPS,
    "fake_quantized": _STEPS,
    "normalized_slope": _MANY,
    "binary_entropy_terms": "torch bounds the gradient where a probability is almost 0 or 1, as it does the logarithm",
    "sinc": "far out, pi times the argument has no digits left of which a sine or a cosine is",
    "where": "it computes nothing",
}

MODERATE = (0.001, 0.1, 0.3, 0.5001, 0.9, 0.9999, 1.0001, 1.7, 4, 9.5, 12, 19, 20.5, 25, 60, 85, 89, 110, 400)


TRIED = [
    pytest.param(operator["name"], marks=[pytest.mark.slow] * (operator["name"] in SLOW))
    for operator in differentiable("elementwise")
    if operator["name"] not in LEFT_OUT and not operator["schema"].endswith(")")
]
"""Operators of one result; gradients of several are compared with differences, in test_derivatives.py."""


def points(count: int, special: bool, step: int) -> list[tuple[float, ...]]:
    """Values of so many inputs: combinations of signs and of exponents that are `step` apart, and moderate numbers."""
    low, high = (-30, 30) if special else (-44, 38)
    if count == 1:
        sizes = [*(1.3 * 10.0**exponent for exponent in range(low, high, step)), *MODERATE]
        sizes += [] if special else [3e38]
        return [(float(np.float32(sign * size)),) for size in sizes for sign in (1, -1)]
    exponents = (-4, -1, 0, 1, 3) if special else (-38, -30, -20, -4, 0, 4, 19, 30, 38)
    if step > 1:
        exponents = exponents[1::2] if count == 2 else exponents[1::3]
    results = []
    for each in itertools.product(exponents, repeat=count):
        for signs in itertools.product((1, -1), repeat=count):
            sizes = [s * m * 10.0**e for s, m, e in zip(signs, (1.3, 1.7, 1.1), each, strict=False)]
            results.append(tuple(map(float, np.float32(sizes))))
    return results


def parameters(operator: Operator) -> dict[str, Any]:
    """Their defaults, or 0.5."""
    defaults = inspect.signature(getattr(_operators, operator.name)).parameters
    given = {each.name: defaults[each.name].default for each in operator.params}
    return {name: 0.5 if value is inspect.Parameter.empty else value for name, value in given.items()}


def as_numbers(operator: Operator, given: Mapping[str, Any]) -> dict[str, float]:
    """With what stands for parameters that are None."""
    ends = {End.LOWEST: -math.inf, End.HIGHEST: math.inf}
    absent = operator.body.absent  # type: ignore[union-attr]
    return {
        name: float(value) if value is not None else float(ends.get(absent[name], absent[name]))  # type: ignore[call-overload]
        for name, value in given.items()
    }


def gradients(operator: Operator, columns: Sequence[Any], given: Mapping[str, Any], recorded: bool) -> list[Any]:
    """The value, and the gradient by each input that has one."""
    differentiated = [each.name for each in operator.inputs if is_differentiated(operator, each.name)]
    tensors = [
        ow.tensor(column, requires_grad=each.name in differentiated)
        for each, column in zip(operator.inputs, columns, strict=True)
    ]
    value = getattr(_operators, operator.name)(*tensors, **given)
    by = [tensor for tensor in tensors if tensor.requires_grad]
    results = ow.autograd.grad(value, by, ow.ones_like(value), create_graph=recorded)
    return [value.detach().numpy(), *(each.detach().numpy() for each in results)]


def is_differentiated(operator: Operator, name: str) -> bool:
    return name in operator.derivatives and operator.derivatives[name].text != "none"


@pytest.mark.parametrize("name", TRIED)
def test_some_of_the_range(name: str) -> None:
    compare(name, step=7)


@pytest.mark.slow
@pytest.mark.parametrize("name", TRIED)
def test_the_whole_range(name: str) -> None:
    compare(name, step=1)


def compare(name: str, step: int) -> None:
    operator = next(each for each in operators() if each.name == name)
    tree = operator.body.expression(FLOAT64).tree  # type: ignore[union-attr]
    inputs = [each.name for each in operator.inputs]
    chosen = points(len(inputs), exact.is_special(tree), step)
    columns = [np.array(column, np.float32) for column in zip(*chosen, strict=True)]
    given = parameters(operator)
    fixed = as_numbers(operator, given)
    by_kernels, by_operators = (gradients(operator, columns, given, recorded) for recorded in (False, True))
    differentiated = [name for name in inputs if is_differentiated(operator, name)]
    wrong = []
    for index, point in enumerate(chosen):
        if not np.isfinite(by_kernels[0][index]):
            continue
        values = dict(zip(inputs, point, strict=True))
        for name, *results in zip(differentiated, by_kernels[1:], by_operators[1:], strict=True):
            gradient = [float(each[index]) for each in results]
            derivative = operator.derivatives[name].tree
            assert derivative is not None
            if not is_right(tree, derivative, {**values, **fixed}, name, gradient, operator.name in CANCELLING):
                right = exact.derivative(tree, {**values, **fixed}, name)
                wrong.append(f"by {name} at {values}: {gradient}, right is {mp.nstr(right, 8)}")
    assert not wrong, "\n".join(wrong[:10])


def is_right(
    tree: Expr, formula: Expr, values: Mapping[str, float], name: str, results: Sequence[float], cancelling: bool
) -> bool:
    right = exact.derivative(tree, values, name)
    if mp.isnan(right) or abs(right) > 3.4e38:
        return True
    error = max(abs(mp.mpf(each) - right) if math.isfinite(each) else math.inf for each in results)
    allowed = RELATIVE * abs(right) + 4 * TINY + (8 * EPS if cancelling else 0)
    return bool(error <= allowed or error <= allowed + rounding(tree, formula, values, name, right))


def rounding(tree: Expr, formula: Expr, values: Mapping[str, float], name: str, right: Any) -> Any:
    """What rounding an input does to the derivative, and rounding the result to a formula that is written by it."""
    moved = []
    for each, sign in itertools.product(values, (1, -1)):
        moved.append(exact.derivative(tree, {**values, each: values[each] * (1 + sign * 4 * EPS)}, name))
    if "result" in names(formula):
        with mp.workprec(300):
            result = exact.evaluate(tree, {each: mp.mpf(value) for each, value in values.items()})
            for sign in (1, -1):
                given = {**{each: mp.mpf(value) for each, value in values.items()}, "grad": mp.mpf(1)}
                moved.append(exact.evaluate(formula, {**given, "result": result * (1 + sign * 2 * EPS)}))
    return max((abs(each - right) for each in moved if not mp.isnan(each)), default=0)
