"""Symbolic derivatives against finite differences, simplification, and the check of declared formulas."""

from __future__ import annotations

import math

import numpy as np
import pytest
from c_harness import REAL_DTYPES, grid
from hypothesis import given, settings
from hypothesis import strategies as st

from codegen.dtypes import DType
from codegen.expr import (
    FUNCTIONS,
    ExpressionError,
    Literal,
    check_derivative,
    derive,
    evaluate,
    parse,
    simplify,
    substitute,
)

# Points inside the domain, away from kinks and jumps.
POINTS = {
    "acosh": ([1.3, 2.7, 9.0],),
    "asin": ([-0.8, 0.1, 0.6],),
    "acos": ([-0.8, 0.1, 0.6],),
    "atanh": ([-0.8, 0.1, 0.6],),
    "pow": ([0.4, 1.7, 2.2, 3.0], [-1.3, 0.5, 2.0, 0.0]),
    "clamp": ([-2.2, 0.3, 2.4, 0.1], [-1.0, -0.7, -0.4, 0.6], [1.0, 0.9, 0.7, -0.5]),
}
POSITIVE = {"log", "log2", "log10", "log1p", "sqrt", "rsqrt"}
DERIVED = [name for name, function in FUNCTIONS.items() if function.derivatives is not None]
DISCRETE = {"bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not", "bitwise_left_shift", "bitwise_right_shift"}


def _points(name: str) -> dict[str, np.ndarray]:
    params = FUNCTIONS[name].params
    default = ([0.3, 0.9, 1.8, 2.6] if name in POSITIVE else [-2.3, -0.4, 0.7, 1.9], [1.1, -0.6, 2.2, -1.7])
    chosen = POINTS.get(name, (*default, [0.2, 1.4, -0.3, 0.8]))
    return {param: np.array(values) for param, values in zip(params, chosen, strict=False)}


@pytest.mark.parametrize("name", [name for name in DERIVED if name not in DISCRETE])
def test_derivatives_against_central_differences(name: str) -> None:
    params = FUNCTIONS[name].params
    expr = parse(f"{name}({', '.join(params)})")
    values = _points(name)
    for param in params:
        symbolic = evaluate(derive(expr, param), values).astype("float64")
        step = 1e-5
        up, down = ({**values, param: values[param] + sign * step} for sign in (1, -1))
        high, low = (evaluate(expr, moved).astype("float64") for moved in (up, down))
        np.testing.assert_allclose(
            symbolic, (high - low) / (2 * step), rtol=1e-6, atol=1e-9, err_msg=f"{name} by {param}"
        )


# Along the imaginary axis there is no cancellation, so that these are exact to rounding.
COMPLEX = {
    "exp": np.exp, "log": np.log, "sqrt": np.sqrt, "sin": np.sin, "cos": np.cos, "tan": np.tan,
    "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "asin": np.arcsin, "acos": np.arccos,
    "atan": np.arctan, "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh, "exp2": np.exp2,
    "log1p": np.log1p, "expm1": np.expm1, "log2": np.log2, "log10": np.log10,
    "sigmoid": lambda z: 1 / (1 + np.exp(-z)), "reciprocal": lambda z: 1 / z, "square": lambda z: z * z,
    "rsqrt": lambda z: 1 / np.sqrt(z),
}  # fmt: skip


@pytest.mark.parametrize("name", COMPLEX)
def test_derivatives_by_complex_step(name: str) -> None:
    x = _points(name)["x"]
    symbolic = evaluate(derive(parse(f"{name}(x)"), "x"), {"x": x})
    np.testing.assert_allclose(symbolic, COMPLEX[name](x + 1e-30j).imag / 1e-30, rtol=1e-13)


def test_bits_have_derivative_zero() -> None:
    for name in DISCRETE:
        params = FUNCTIONS[name].params
        assert derive(parse(f"{name}({', '.join(params)})"), params[0]) == Literal(0)


def test_without_a_known_derivative() -> None:
    with pytest.raises(ExpressionError, match="the derivative of lgamma is not known") as caught:
        derive(parse("x + lgamma(x * 2)"), "x")
    assert (caught.value.offset, caught.value.length) == (4, 13)
    assert derive(parse("lgamma(y) * x"), "x") == parse("lgamma(y)")


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        ("self + alpha * other", "self", "1"),
        ("self + alpha * other", "other", "alpha"),
        ("self - alpha * other", "other", "-alpha"),
        ("self * other", "self", "other"),
        ("self / other", "self", "1 / other"),
        ("self / other", "other", "-(self / other / other)"),
        ("reciprocal(self * self)", "self", "-(2 * (self * reciprocal(self * self) * reciprocal(self * self)))"),
        ("self * self * self", "self", "3 * (self * self)"),
        ("rate * log(self)", "self", "rate / self"),
        ("self ** 3", "self", "3 * self ** 2"),
        ("self ** 2", "self", "2 * self"),
        ("2 ** self", "self", "2 ** self * log(2)"),
        ("exp(2 * self)", "self", "2 * exp(2 * self)"),
        ("self if self > 0 else exp(self) - 1", "self", "1 if self > 0 else exp(self)"),
        ("self if c else other", "self", "1 if c else 0"),
        ("relu(self) * w", "self", "0 if self <= 0 else w"),
        ("floor(self) + (self < 1) + sign(self)", "self", "0"),
        ("w", "self", "0"),
        ("--self", "self", "1"),
        ("clamp(self, -1, 1)", "self", "1 if (self >= -1) & (self <= 1) else 0"),
    ],
)
def test_derivatives_read_well(text: str, name: str, expected: str) -> None:
    assert str(derive(parse(text), name)) == expected


# ---- simplification -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "exact", "loose"),
    [
        ("x * 1", "x", "x"),
        ("1 * x", "x", "x"),
        ("x * 1.0", "x * 1.0", "x"),  # a float would make an integer result floating
        ("x + 0", "x + 0", "x"),  # -0.0 + 0 is 0.0
        ("0 + x", "0 + x", "x"),
        ("x - 0", "x", "x"),
        ("0 - x", "0 - x", "-x"),
        ("x * 0", "x * 0", "0"),  # NaN, infinities, -0.0
        ("x / 1", "x / 1", "x"),  # integers divide to floating point
        ("x ** 1", "x", "x"),
        ("x ** 0", "x ** 0", "1"),
        ("--x", "x", "x"),
        ("x - x", "x - x", "0"),
        ("2 * 3 + x", "6 + x", "6 + x"),
        ("100 * 2 + x", "100 * 2 + x", "200 + x"),  # 200 would not fit in int8
        ("0.1 * 3 * x", "0.30000000000000004 * x", "0.30000000000000004 * x"),
        ("2 ** 0.5 * x", "2 ** 0.5 * x", "2 ** 0.5 * x"),
        ("1 / 0 + x", "1 / 0 + x", "1 / 0 + x"),
        ("self + 1 * other", "self + other", "self + other"),
        ("x + -y", "x + -y", "x - y"),
        ("x - -y", "x - -y", "x + y"),
        ("-x * y", "-x * y", "-(x * y)"),
        ("x * 2", "x * 2", "2 * x"),
        ("2 * (3 * x)", "2 * (3 * x)", "6 * x"),
        ("2 * x * (3 * y)", "2 * x * (3 * y)", "6 * (x * y)"),
        ("x * (y * z)", "x * (y * z)", "x * y * z"),  # y * z may overflow where x * y does not
        ("x * (1 / y)", "x * (1 / y)", "x / y"),
        ("x + x", "x + x", "2 * x"),
        ("2 * x * y - y * x", "2 * x * y - y * x", "2 * (x * y) - y * x"),
        ("0.5 * x + 0.5 * x", "0.5 * x + 0.5 * x", "x"),
        ("3 * x - x", "3 * x - x", "2 * x"),
        ("x if c else x", "x if c else x", "x"),
        ("y if 1 == 2 else x", "y if 1 == 2 else x", "x"),
    ],
)
def test_simplify(text: str, exact: str, loose: str) -> None:
    assert str(simplify(parse(text), exact=True)) == exact
    assert str(simplify(parse(text))) == loose


@pytest.mark.parametrize("dtype", [dtype for dtype in REAL_DTYPES if not dtype.is_bool], ids=str)
def test_exact_specialisation_changes_no_bit(dtype: DType) -> None:
    values = grid({"self": dtype, "other": dtype})
    one = np.ones(1, dtype=dtype.numpy)
    for text in ("self + alpha * other", "self - alpha * other", "other * alpha", "(self - 0) ** 1 - (--other)"):
        general = parse(text)
        special = simplify(substitute(general, {"alpha": Literal(1)}), exact=True)
        before = evaluate(general, {**values, "alpha": one})
        after = evaluate(special, values)
        assert before.dtype == after.dtype
        np.testing.assert_array_equal(before, after)
        if dtype.is_floating:
            number = ~np.isnan(before)
            np.testing.assert_array_equal(np.signbit(before[number]), np.signbit(after[number]))


_LEAVES = st.sampled_from(["x", "y", "0", "1", "-1", "2", "0.5"])
_TEXTS = st.recursive(
    _LEAVES,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "*"]), inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
        inner.map(lambda t: f"(-{t})"),
        st.tuples(inner, inner, inner).map(lambda t: f"({t[0]} if {t[1]} > 0.3 else {t[2]})"),
    ),
    max_leaves=12,
)


@settings(max_examples=50)
@given(_TEXTS)
def test_loose_rules_hold_for_real_numbers(text: str) -> None:
    values = {"x": np.array([0.7, -1.3, 2.1]), "y": np.array([-0.4, 1.9, 0.6])}
    expr = parse(text)
    np.testing.assert_allclose(evaluate(simplify(expr), values), evaluate(expr, values), rtol=1e-12, atol=1e-12)


@settings(max_examples=50)
@given(_TEXTS)
def test_exact_rules_hold_for_every_value(text: str) -> None:
    special = [0.0, -0.0, 1.0, -1.5, math.inf, -math.inf, math.nan, 5e-324]
    x, y = np.meshgrid(special, special)
    expr = parse(text)
    for dtype in ("float64", "int8"):
        with np.errstate(all="ignore"):
            values = {"x": x.astype(dtype).ravel(), "y": y.astype(dtype).ravel()}
        before, after = evaluate(expr, values), evaluate(simplify(expr, exact=True), values)
        np.testing.assert_array_equal(before, after)
        if before.dtype.kind == "f" and after.dtype.kind == "f":
            kept = ~np.isnan(before)
            np.testing.assert_array_equal(np.signbit(before[kept]), np.signbit(after[kept]))


# ---- declared formulas --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("forward", "name", "formula"),
    [
        ("self + alpha * other", "other", "grad * alpha"),
        ("self / other", "other", "-grad * self / (other * other)"),
        ("self ** exponent", "exponent", "grad * result * log(self)"),
        ("tanh(self)", "self", "grad * (1 - result * result)"),
        ("sigmoid(self)", "self", "grad * (1 - result) * result"),
        ("sqrt(self)", "self", "grad / (2 * result)"),
        ("erf(self)", "self", "grad * 2 / sqrt(pi) * exp(-self * self)"),
        ("relu(self)", "self", "grad if result > 0 else 0"),
        ("minimum(maximum(self, min), max)", "self", "where((self >= min) & (self <= max), grad, 0)"),
        ("floor(self)", "self", "0"),
        ("acosh(self)", "self", "grad / sqrt(self * self - 1)"),
        ("log1p(exp(self))", "self", "grad * sigmoid(self)"),
        ("self if condition else other", "other", "where(condition, 0, grad)"),
    ],
)
def test_right_formulas_pass(forward: str, name: str, formula: str) -> None:
    assert check_derivative(parse(forward), name, parse(formula)) is None


@pytest.mark.parametrize(
    ("forward", "name", "formula"),
    [
        ("self + alpha * other", "other", "grad"),
        ("self * other", "self", "grad * self"),
        ("tanh(self)", "self", "grad * (1 - result)"),
        ("sqrt(self)", "self", "grad / result"),
        ("relu(self)", "self", "grad"),
        ("exp(self)", "self", "result"),  # forgets grad
        ("exp(self)", "self", "grad * grad * result"),  # only right for grad = 1
        ("asin(self)", "self", "grad / sqrt(1 + self * self)"),
        ("self / other", "other", "grad * self / (other * other)"),
        ("abs(self)", "self", "grad * log(self)"),  # undefined where the expression is not
        ("floor(self)", "self", "grad"),
    ],
)
def test_wrong_formulas_are_found(forward: str, name: str, formula: str) -> None:
    mismatch = check_derivative(parse(forward), name, parse(formula))
    assert mismatch is not None
    values = dict(mismatch.point)
    grad = values.pop("grad", 1.0)
    env = {key: np.array([value]) for key, value in values.items()}
    value = evaluate(parse(forward), env)
    exact = grad * evaluate(derive(parse(forward), name), env)[0]
    assert mismatch.expression == pytest.approx(exact)
    mine = evaluate(parse(formula), {**env, "result": value, "grad": np.array([grad])})[0]
    assert mismatch.formula == pytest.approx(mine, nan_ok=True)


def test_mismatch_reads_well() -> None:
    mismatch = check_derivative(parse("self * other * 2"), "other", parse("grad * self"))
    assert str(mismatch) == (
        "derivative of 'other' contradicts the expression: at self=0.7, other=-1.3: "
        "formula gives 0.7, expression gives 1.4"
    )
    assert mismatch == check_derivative(parse("self * other * 2"), "other", parse("grad * self"))


def test_nothing_to_check_is_a_mistake() -> None:
    with pytest.raises(ExpressionError, match=r"0 of \d+ sample points") as caught:
        check_derivative(parse("log(-1 - self * self)"), "self", parse("grad"))
    assert (caught.value.offset, caught.value.length) == (0, 21)


def test_a_formula_that_cannot_be_evaluated_is_located() -> None:
    with pytest.raises(ExpressionError, match="needs integers") as caught:
        check_derivative(parse("exp(self)"), "self", parse("grad * (self & 1)"))
    assert (caught.value.offset, caught.value.length) == (8, 4)
