"""Printed C: golden lines, and every function in every dtype against the evaluator."""

from __future__ import annotations

import math
import shutil

import numpy as np
import pytest
from c_harness import REAL_DTYPES, Case, grid, outcomes
from folders import shared_folder

from codegen.dtypes import BOOL, DTYPES, FLOAT32, FLOAT64, INT8, INT32, INT64, UINT8, DType
from codegen.expr import FUNCTIONS, C, ExpressionError, Target, emit_c, evaluate, parse, type_of
from codegen.expr.kernel_text import is_inexact
from codegen.expr.targets import c_number

needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="no C compiler")


def _cases() -> list[Case]:
    cases = []
    for function in FUNCTIONS.values():
        text = f"{function.name}({', '.join(function.params)})"
        for dtype in () if function.gives else REAL_DTYPES:  # bits of floating numbers are for the core's headers
            env = dict.fromkeys(function.params, dtype)
            try:
                kind = type_of(parse(text), env)
            except ExpressionError:
                assert dtype.is_floating  # bits of floating point numbers
                continue
            if kind.dtype.is_complex:
                continue  # the harness passes real numbers; tests of operators cover these
            result = BOOL if dtype.is_bool and kind.weak and not kind.dtype.is_floating else kind.dtype
            cases.append(Case(text, tuple((name, each.name) for name, each in env.items()), result.name))
    return cases


CASES = _cases()
MIXED = [
    Case("self + alpha * other", (("self", "int8"), ("alpha", "int64"), ("other", "uint8")), "int64"),
    Case("self * 2 + other", (("self", "uint8"), ("other", "bool")), "uint8"),
    Case("self > -1", (("self", "uint8"),), "bool"),
    Case("self < 300", (("self", "int8"),), "bool"),
    Case("self + 0.5", (("self", "int64"),), "float32"),
    Case("self * 0.1", (("self", "float32"),), "float32"),
    Case("self == 0.1", (("self", "float32"),), "bool"),
    Case("self - other - self", (("self", "bool"), ("other", "bool")), "bool"),
    Case("not self and other or self", (("self", "float32"), ("other", "int64")), "bool"),
    Case("0 if other == 0 else self // other", (("self", "int32"), ("other", "int32")), "int32"),
    Case("(self // other) * (self // other) + 1", (("self", "int64"), ("other", "int64")), "int64"),
    Case("self << 3 | self >> 2", (("self", "int8"),), "int8"),
    Case("self << 31 ^ self >> 31", (("self", "int32"),), "int32"),
    Case("-(self * self * self) - 7", (("self", "int16"),), "int16"),
    Case("-self * self + self * 3", (("self", "int64"),), "int64"),
    Case("self ** 2 + self ** 3", (("self", "int32"),), "int32"),
    Case("where(self, 3, -4) if other else 7", (("self", "bool"), ("other", "int8")), "int8"),
    Case("maximum(self, -1)", (("self", "uint8"),), "int16"),
    Case("abs(self) + abs(-self)", (("self", "int64"),), "int64"),
    Case("inf if self > 1 else -inf if self < 1 else nan", (("self", "float64"),), "float64"),
]


Outcomes = list[tuple[np.ndarray, np.ndarray]]


@pytest.fixture(scope="module")
def computed(tmp_path_factory: pytest.TempPathFactory) -> Outcomes:
    """What the printed C of each case gives, without undefined behaviour."""
    return outcomes([*CASES, *MIXED], shared_folder(tmp_path_factory, "cases"))


@needs_gcc
@pytest.mark.parametrize("number", range(len(CASES) + len(MIXED)), ids=lambda k: str([*CASES, *MIXED][k]))
def test_c_equals_evaluator(computed: Outcomes, number: int) -> None:
    case = [*CASES, *MIXED][number]
    values = grid(case.types)
    got, failed = computed[number]
    expected = evaluate(parse(case.text), values, DTYPES[case.result])
    assert got.dtype == expected.dtype
    if "//" in case.text and " if " in case.text:
        assert not failed.any()  # the condition guards the division
    got, expected = got[~failed], expected[~failed]
    function = case.text.split("(")[0]
    if function in FUNCTIONS and FUNCTIONS[function].is_special:
        # SciPy is no reference of all their range, for which the tests of operators have one: here is only the call.
        sizes = [np.abs(values[name].astype(float)) for name in case.types]
        usual = np.all([(size == 0) | ((size > 1e-300) & (size <= 4)) for size in sizes], axis=0)
        eps = np.finfo(expected.dtype).eps
        np.testing.assert_allclose(got[usual], expected[usual], rtol=128 * eps, atol=4 * eps)
    elif expected.dtype.kind == "f" and is_inexact(emit_c(parse(case.text), case.types)):
        eps = np.finfo(expected.dtype).eps
        atol = np.finfo(expected.dtype).smallest_subnormal * 4
        np.testing.assert_allclose(got, expected, rtol=8 * eps, atol=float(atol))
    else:
        np.testing.assert_array_equal(got, expected)
        if expected.dtype.kind == "f":
            number_mask = ~np.isnan(expected)
            np.testing.assert_array_equal(np.signbit(got[number_mask]), np.signbit(expected[number_mask]))


@needs_gcc
def test_error_flag_is_set_exactly_by_zero_divisors(computed: Outcomes) -> None:
    for number, case in enumerate(CASES):
        if case.text.split("(")[0] in ("floor_divide", "remainder", "fmod", "trunc_divide"):
            values = grid(case.types)
            _, failed = computed[number]
            integer = not case.types["x"].is_floating
            np.testing.assert_array_equal(failed, (values["y"] == 0) & integer)


GOLDEN = [
    ("self + alpha * other", FLOAT32, "self + alpha * other"),
    ("self + alpha * other", INT8, "(int8_t)(self + (int8_t)(alpha * other))"),
    ("self + alpha * other", INT32, "(int32_t)((uint32_t)self + (uint32_t)alpha * (uint32_t)other)"),
    ("self + alpha * other", INT64, "(int64_t)((uint64_t)self + (uint64_t)alpha * (uint64_t)other)"),
    ("self + alpha * other", BOOL, "self + alpha * other"),
    ("self - (other - alpha)", FLOAT64, "self - (other - alpha)"),
    ("self - other - alpha", FLOAT64, "self - other - alpha"),
    ("(self + other) * alpha", FLOAT32, "(self + other) * alpha"),
    ("-self", INT64, "(int64_t)(-(uint64_t)self)"),
    ("-self", INT8, "(int8_t)-self"),
    ("--self", FLOAT32, "-(-self)"),
    ("self / 3", FLOAT32, "self / 3.0f"),
    ("self / 3", INT32, "(double)self / 3.0"),
    ("self * 0.1", FLOAT32, "self * 0.1f"),
    ("self * 0.1", FLOAT64, "self * 0.1"),
    ("self * 2", INT64, "(int64_t)((uint64_t)self * (uint64_t)INT64_C(2))"),
    ("exp(self)", FLOAT32, "expf(self)"),
    ("exp(self)", FLOAT64, "exp(self)"),
    ("exp(self)", INT8, "exp((double)self)"),
    ("round(self)", FLOAT32, "rintf(self)"),
    ("abs(self)", FLOAT32, "fabsf(self)"),
    ("abs(self)", UINT8, "self"),
    ("abs(self)", INT8, "self < 0 ? (int8_t)-self : self"),
    ("minimum(self, other)", FLOAT32, "(other < self) | (other != other) ? other : self"),
    ("minimum(self, other)", INT32, "self < other ? self : other"),
    ("relu(self)", FLOAT32, "self < 0.0f ? 0.0f : self"),
    ("0 < self <= other", FLOAT32, "(0.0f < self) & (self <= other)"),
    ("self and not other", FLOAT32, "(self != 0.0f) & !(other != 0.0f)"),
    ("self and not other", BOOL, "self & !other"),
    ("~self", BOOL, "!self"),
    ("~self", INT32, "~self"),
    ("~self", UINT8, "(uint8_t)~self"),
    ("self & other | alpha", INT32, "(self & other) | alpha"),
    ("self if alpha else other", FLOAT32, "alpha != 0.0f ? self : other"),
    ("1 if self > 0 else -1", FLOAT32, "self > 0.0f ? 1 : -1"),
    ("1 if self > 0 else exp(self) if self else 0", FLOAT32, "self > 0.0f ? 1.0f : (self != 0.0f ? expf(self) : 0.0f)"),
    ("floor(self) if 0 == 0 else self", FLOAT32, "floorf(self)"),
    ("self // other", INT32, "ow_floordiv_i32(self, other, err)"),
    ("self % other", UINT8, "ow_rem_u8(self, other, err)"),
    ("self ** other", INT64, "ow_ipow_i64(self, other)"),
    ("self ** other", FLOAT32, "powf(self, other)"),
    ("self ** 2", FLOAT32, "self * self"),
    ("self << other", INT32, "ow_shl_i32(self, other)"),
    ("self << 3", INT32, "(int32_t)((uint32_t)self << 3)"),
    ("self >> 3", INT64, "self >> 3"),
    ("self << 40", INT32, "ow_shl_i32(self, 40)"),
    ("isnan(self)", FLOAT32, "self != self"),
    ("isnan(self)", INT32, "0"),
    ("isinf(self)", FLOAT64, "fabs(self) == (double)INFINITY"),
    ("signbit(self)", FLOAT32, "signbit(self) != 0"),
    ("self > -1", UINT8, "(int16_t)self > -1"),
    ("floor(self)", INT32, "self"),
]


@pytest.mark.parametrize(("text", "dtype", "line"), GOLDEN, ids=lambda value: str(value))
def test_golden_lines(text: str, dtype: DType, line: str) -> None:
    emitted = emit_c(parse(text), {"self": dtype, "other": dtype, "alpha": dtype})
    assert (emitted.statements, emitted.value) == ((), line)


def test_golden_temporaries() -> None:
    emitted = emit_c(parse("sigmoid(self)"), {"self": FLOAT32}, FLOAT32)
    assert emitted.statements == ("const float t0 = expf(-fabsf(self));",)
    assert emitted.value == "(self < 0.0f ? t0 : 1.0f) / (1.0f + t0)"
    assert not emitted.uses_err
    emitted = emit_c(parse("exp(t0) * exp(t0) if t0 > 1 else 0"), {"t0": FLOAT64}, FLOAT64)
    assert emitted.statements == ("const double t1 = exp(t0);",)  # t0 is taken
    emitted = emit_c(parse("1 if t0 > 0 else -1 if t0 < 0 else 0"), {"t0": FLOAT32}, FLOAT32)
    assert emitted.statements == ("const float t1 = t0 < 0.0f ? -1.0f : 0.0f;",)  # a choice within a choice comes first
    assert emitted.value == "t0 > 0.0f ? 1.0f : t1"
    emitted = emit_c(parse("(a < b) | ~(a < b) ^ a"), {"a": BOOL, "b": BOOL}, BOOL)
    assert emitted.statements == ("const int t0 = a < b;",)


def test_guarded_division_stays_guarded() -> None:
    env = {"a": INT32, "b": INT32}
    emitted = emit_c(parse("0 if b == 0 else (a // b) * (a // b)"), env, INT32)
    assert emitted.statements == ()
    assert emitted.uses_err
    emitted = emit_c(parse("a // b if a // b > 0 else -(a // b)"), env, INT32)
    assert emitted.statements == ("const int32_t t0 = ow_floordiv_i32(a, b, err);",)


def test_names_and_prefix_can_be_chosen() -> None:
    emitted = emit_c(parse("exp(self) * exp(self)"), {"self": FLOAT32}, names={"self": "x[i]"}, prefix="tmp")
    assert (emitted.statements, emitted.value) == (("const float tmp0 = expf(x[i]);",), "tmp0 * tmp0")


def test_result_conversion() -> None:
    assert emit_c(parse("self + other"), {"self": BOOL, "other": BOOL}, BOOL).value == "self + other != 0"
    assert emit_c(parse("self"), {"self": FLOAT64}, FLOAT32).value == "(float)self"
    assert emit_c(parse("self < 1"), {"self": FLOAT64}, BOOL).value == "self < 1.0"
    assert emit_c(parse("0"), {}, FLOAT32).value == "0.0f"
    assert emit_c(parse("self"), {"self": INT64}, INT8).value == "(int8_t)self"


def test_a_target_may_have_a_function_of_its_own() -> None:
    cuda = Target("cuda", c_number, {("rsqrt", "float32"): "rsqrtf({0})", ("exp", "float32"): "__expf({0})"})
    assert emit_c(parse("rsqrt(x)"), {"x": FLOAT32}, target=cuda).value == "rsqrtf(x)"
    assert emit_c(parse("rsqrt(x)"), {"x": FLOAT64}, target=cuda).value == "1.0 / sqrt(x)"
    assert emit_c(parse("exp(x)"), {"x": FLOAT32}, target=cuda).value == "__expf(x)"
    assert emit_c(parse("rsqrt(x)"), {"x": FLOAT32}, target=C).value == "1.0f / sqrtf(x)"


def test_never_short_circuits() -> None:
    for text in ("a and b or c and not a", "a < b < c", "isfinite(a) or b != c"):
        emitted = emit_c(parse(text), {"a": FLOAT32, "b": FLOAT32, "c": FLOAT32})
        assert "&&" not in emitted.value
        assert "||" not in emitted.value


@pytest.mark.parametrize(
    ("value", "dtype", "text"),
    [
        (1, FLOAT32, "1.0f"),
        (1e5, FLOAT32, "100000.0f"),
        (1e30, FLOAT32, "1e+30f"),
        (1e300, FLOAT32, "INFINITY"),
        (-math.inf, FLOAT64, "-(double)INFINITY"),
        (math.nan, FLOAT32, "NAN"),
        (math.pi, FLOAT32, "3.1415927f"),
        (math.pi, FLOAT64, "3.141592653589793"),
        (-0.0, FLOAT32, "-0.0f"),
        (1e-45, FLOAT32, "1e-45f"),
        (5, INT8, "5"),
        (-5, INT64, "-INT64_C(5)"),
        (-(1 << 63), INT64, "INT64_MIN"),
        (-(1 << 31), INT32, "INT32_MIN"),
        (True, BOOL, "1"),
    ],
)
def test_numbers(value: float, dtype: DType, text: str) -> None:
    assert c_number(value, dtype) == text


def test_float32_numbers_round_trip() -> None:
    bits = np.random.default_rng(3).integers(0, 1 << 32, 500, dtype=np.uint32)
    for number in bits.view(np.float32):
        if np.isfinite(number):
            assert np.float32(c_number(float(number), FLOAT32).rstrip("f")) == number
