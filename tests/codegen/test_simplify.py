"""The table of rewrites: both sides of each are the same number, and what is simple already stays as it is."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from codegen.dtypes import DTYPES
from codegen.expr import evaluate, names, parse, simplify, type_of
from codegen.expr.simplify import EXACT, LOOSE

FLOATS = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 3.25, -2.5, 1e-310])
FINITE = (0.75, -1.5, 2.0, 3.0)


@pytest.mark.parametrize(("pattern", "result"), EXACT)
def test_exact_rewrites_hold_for_every_number(pattern: str, result: str) -> None:
    """To the bit, and the dtype with them."""
    for dtype in DTYPES.values():
        if not dtype.compute or dtype.is_bool or dtype.is_complex:
            continue
        values = FLOATS if dtype.is_floating else np.array([0, 1, 2, 3, 100])
        x = values.astype(dtype.numpy)
        left, right = (evaluate(parse(text), {"x": x}) for text in (pattern, result))
        assert left.dtype == right.dtype
        np.testing.assert_array_equal(left, right)
        if dtype.is_floating:
            np.testing.assert_array_equal(np.signbit(left), np.signbit(right))
        assert type_of(parse(pattern), {"x": dtype}) == type_of(parse(result), {"x": dtype})


@pytest.mark.parametrize(("pattern", "result"), LOOSE)
def test_loose_rewrites_hold_for_finite_numbers(pattern: str, result: str) -> None:
    left, right = parse(pattern), parse(result)
    used = sorted(names(left))
    assert names(right) <= set(used)
    for values in itertools.product(FINITE, repeat=len(used)):
        env = {name: np.float64(value) for name, value in zip(used, values, strict=True)}
        env |= {name: np.bool_(value > 0) for name, value in env.items() if name == "c" or " and " in pattern}
        env |= {name: np.bool_(True) for name in used if "&" in pattern}
        got, expected = (
            np.float64(evaluate(tree, {name: env[name] for name in names(tree)})) for tree in (left, right)
        )
        np.testing.assert_allclose(got, expected, rtol=1e-14)


@pytest.mark.parametrize(
    ("text", "simple"),
    [
        ("2 * (3 * x)", "6 * x"),
        ("x * 2 * (y * 3)", "6 * (x * y)"),
        ("x * (y * z)", "x * y * z"),
        ("x + x - 3 * x", "-x"),
        ("(1 / x) * y", "y / x"),
        ("grad * (0 if x > 0 else 1)", "0 if x > 0 else grad"),
        ("-(-x) ** 1 * -1", "-x"),
        ("x ** 0 + -2", "-1"),
        ("y if 2 == 2 else x", "y"),
        ("x * 0.5 * 4", "2.0 * x"),
        ("1e300 * 1e300 * x", "1e+300 * 1e+300 * x"),  # not infinite
    ],
)
def test_derivatives_come_out_simple(text: str, simple: str) -> None:
    assert str(simplify(parse(text))) == simple
    assert str(simplify(parse(simple))) == simple


@pytest.mark.parametrize(
    ("text", "simple"),
    [
        ("1 * x ** 1 - 0", "x"),
        ("1.0 * x", "1.0 * x"),  # makes integers floating
        ("x + 0", "x + 0"),  # is +0 of -0
        ("0 * x", "0 * x"),  # is NaN of infinity
        ("100 + 20", "120"),
        ("100 + 100", "100 + 100"),  # wraps in int8
        ("2 < 3", "2 < 3"),
    ],
)
def test_kernels_keep_what_is_not_exact(text: str, simple: str) -> None:
    assert str(simplify(parse(text), exact=True)) == simple
