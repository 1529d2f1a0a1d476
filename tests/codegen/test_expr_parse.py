"""Reading and printing expressions, and the places of every kind of mistake."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from c_harness import Case, Library, grid
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codegen.dtypes import DTYPES, FLOAT32, INT8, INT32, UINT8, DType
from codegen.expr import (
    FUNCTIONS,
    Apply,
    Expr,
    ExpressionError,
    Literal,
    Name,
    apply,
    emit_c,
    evaluate,
    is_reserved,
    lower,
    names,
    names_in_order,
    parse,
    substitute,
    type_of,
)

# ---- reading and printing -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("a + b * 2", apply("add", Name("a"), apply("mul", Name("b"), Literal(2)))),
        ("-1", Literal(-1)),
        ("-(1.5)", Literal(-1.5)),
        ("+a", Name("a")),
        ("-a ** 2", apply("neg", apply("pow", Name("a"), Literal(2)))),
        ("a < b < c", apply("logical_and", parse("a < b"), parse("b < c"))),
        ("a and b and c", apply("logical_and", parse("a and b"), Name("c"))),
        ("a if c else b", apply("where", Name("c"), Name("a"), Name("b"))),
        ("where(c, a, b)", apply("where", Name("c"), Name("a"), Name("b"))),
        ("pi", Literal(math.pi)),
        ("-inf", Literal(-math.inf)),
        ("nan", Literal(math.nan)),
        ("True", Literal(True)),
        (" a\n  + (b\n)  # why", apply("add", Name("a"), Name("b"))),
    ],
)
def test_parse(text: str, tree: Expr) -> None:
    assert parse(text) == tree
    assert parse(str(tree)) == tree


@pytest.mark.parametrize(
    "text",
    [
        "a - (b - c)",
        "a - b - c",
        "(a ** b) ** c",
        "a ** b ** c",
        "a ** -b",
        "(-a) ** b",
        "-a ** b",
        "(-1) ** a",
        "a and (b or not c)",
        "(a < b) < c",
        "not (a and b)",
        "(a if b else c) if d else (e if f else g)",
        "a if b else c if d else e",
        "a & b | c ^ ~d << 2",
        "a & (b | c)",
        "(a + b) % c // d",
        "clamp(a, -1, 1.5)",
        "exp(-a if a > 0 else a) + 1e-30",
    ],
)
def test_printing_is_stable(text: str) -> None:
    tree = parse(text)
    assert parse(str(tree)) == tree
    assert len(str(tree)) <= len(text)


def test_equality_is_structural_but_exact() -> None:
    assert parse("a + b") == parse(" a  +  b ")
    assert hash(parse("a + b")) == hash(parse("(a + b)"))
    assert len({Literal(1), Literal(1.0), Literal(True), Literal(0.0), Literal(-0.0)}) == 5
    assert Literal(math.nan) == Literal(math.nan)
    assert parse("a") != Literal(1)
    assert parse("a") != "a"


def test_names_and_places() -> None:
    expr = parse("größe + exp(\n  x) * größe")
    assert names(expr) == {"größe", "x"}
    assert names_in_order(expr) == ("größe", "x")
    first, product = expr.children
    places = [each.span for each in (first, product.children[0].children[0], product.children[1])]
    assert [(each.offset, each.length) for each in places] == [(0, 5), (15, 1), (20, 5)]


def test_substitute_is_simultaneous() -> None:
    swapped = substitute(parse("a - b * c"), {"a": Name("b"), "b": Name("a")})
    assert str(swapped) == "b - a * c"


def test_reserved_names() -> None:
    assert is_reserved("pi")
    assert not is_reserved("self")


def test_every_function_can_be_called() -> None:
    for function in FUNCTIONS.values():
        tree = parse(f"{function.name}({', '.join(function.params)})", names=function.params)
        assert isinstance(tree, Apply)
        assert (tree.function, len(tree.args)) == (function.name, function.arity)


# ---- mistakes -----------------------------------------------------------------------------------------------

ARGUMENTS = ("self", "other", "alpha")
MISTAKES = [
    ("self + alhpa * other", "alhpa", "unknown name 'alhpa'", "did you mean 'alpha'? (self, other, alpha)"),
    ("self +\n  sef", "sef", "unknown name 'sef'", "did you mean 'self'? (self, other, alpha)"),
    ("αβγ * self", "αβγ", "unknown name 'αβγ'", None),
    ("epx(self)", "epx", "unknown function 'epx'", "did you mean 'exp'"),
    ("arctan(self)", "arctan", "unknown function 'arctan'", "it is called 'atan' here"),
    ("1 + ln(self)", "ln", "unknown function 'ln'", "it is called 'log' here"),
    ("self(other)", "self", "'self' is an argument, not a function", None),
    ("self + exp", "exp", "'exp' is a function", "call it: exp(x)"),
    ("exp()", "exp()", "exp takes 1 argument, got 0", "exp(x)"),
    ("2 * atan2(self)", "atan2(self)", "atan2 takes 2 arguments, got 1", "atan2(x, y)"),
    ("clamp(self, 0)", "clamp(self, 0)", "clamp takes 3 arguments, got 2", "clamp(x, low, high)"),
    ("exp(x=self)", "x=self", "exp takes no keyword arguments", "exp(x)"),
    ("exp(*self)", "*self", "arguments cannot be unpacked here", "exp(x)"),
    ("self.exp()", "self.exp()", "an expression has no methods", "write exp(...)"),
    ("math.exp(self)", "math.exp(self)", "an expression has no methods", "write exp(...)"),
    ("self + other.real", "other.real", "an attribute is not part of an expression", None),
    ("self[0]", "self[0]", "indexing is not part of an expression", "one element"),
    ("[self, other]", "[self, other]", "a list is not part of an expression", None),
    ("self, other", "self, other", "a tuple is not part of an expression", None),
    ("{}", "{}", "a dict is not part of an expression", None),
    ("self + 'a'", "'a'", "'a' is not part of an expression", None),
    ("self + 1j", "1j", "complex numbers are not part of an expression", None),
    ("self @ other", "self @ other", "'@' is not part of an expression", "sum(a[i, k] * b[k, j]"),
    ("self + None", "None", "None is not part of an expression", "none_means"),
    ("self in other", "self in other", "do not compare elements", "'=='"),
    ("self is other", "self is other", "do not compare elements", "'=='"),
    ("self is not None", "self is not None", "do not compare elements", "none_means"),
    ("(lambda: self)", "lambda: self", "a lambda is not part of an expression", None),
    ("(t := self)", "t := self", "an assignment is not part of an expression", None),
    ("self && other", "&&", "'&&' is not part of an expression", "use 'and' or '&'"),
    ("self || other", "||", "'||' is not part of an expression", "use 'or' or '|'"),
    ("self > 0 ? self : other", "?", "'?' is not part of an expression", "a if condition else b"),
    ("!self", "!", "'!' is not part of an expression", "use 'not'"),
    ("self + (other", "(", "'(' is never closed", None),
    ("self) + (other", ")", "unmatched ')'", None),
    ("exp(self]", "]", "unmatched ']'", None),
    ("self + * other", "*", "not an expression: invalid syntax", None),
    ("", "", "an expression is missing", None),
    ("  \n", "  \n", "an expression is missing", None),
    ("self\0", None, "not an expression", None),
    ("-" * 90 + "self", None, "nested more than 80 levels deep", None),
    ("(" * 300 + "self" + ")" * 300, None, "", None),
]


@pytest.mark.parametrize(("text", "marked", "message", "help"), MISTAKES, ids=lambda value: str(value)[:40])
def test_mistakes_are_located(text: str, marked: str | None, message: str, help: str | None) -> None:
    with pytest.raises(ExpressionError) as caught:
        parse(text, ARGUMENTS)
    error = caught.value
    assert message in error.message
    assert len(error.all) == 1
    assert 0 <= error.offset <= error.offset + error.length <= max(1, len(text))
    if marked:
        assert text[error.offset : error.offset + error.length] == marked
    if help is not None:
        assert error.help is not None
        assert help in error.help


def test_all_mistakes_are_reported_in_order() -> None:
    with pytest.raises(ExpressionError) as caught:
        parse("foo(slef) + exp(self, othre) * self.x", ARGUMENTS)
    mistakes = [(error.offset, error.message) for error in caught.value.all]
    assert mistakes == [
        (0, "unknown function 'foo'"),
        (4, "unknown name 'slef'"),
        (12, "exp takes 1 argument, got 2"),
        (22, "unknown name 'othre'"),
        (31, "an attribute is not part of an expression"),
    ]
    assert caught.value is caught.value.all[0]


TYPE_MISTAKES = [
    ("self & 1", FLOAT32, None, "self", "'&' needs integers or bool, but 'self' is float32"),
    ("1 << self * 0.5", INT32, None, "self * 0.5", "'<<' needs integers, but 'self * 0.5' is float64"),
    ("~exp(self)", INT32, None, "exp(self)", "'~' needs integers or bool, but 'exp(self)' is float64"),
    ("self + 300", INT8, None, "300", "300 does not fit in int8"),
    ("self * 2 ** 3 & -200", UINT8, None, "-200", "-200 does not fit in uint8"),
    ("self + 99999999999999999999", INT32, None, "99999999999999999999", "does not fit in int64"),
    ("self / 2", INT32, INT32, "self / 2", "the expression is float64, which a result of int32 cannot hold"),
    ("self * 0.5", INT32, INT32, "self * 0.5", "the expression is float64, which a result of int32 cannot hold"),
    ("sqrt(self)", FLOAT32, INT32, "sqrt(self)", "the expression is float32, which a result of int32 cannot hold"),
    ("self + 1", INT8, DTYPES["bool"], "self + 1", "the expression is int8, which a result of bool cannot hold"),
    ("self + missing", INT8, None, "missing", "unknown name 'missing'"),
]


@pytest.mark.parametrize(("text", "dtype", "result", "marked", "message"), TYPE_MISTAKES, ids=lambda v: str(v))
def test_type_mistakes_are_located(text: str, dtype: DType, result: DType | None, marked: str, message: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        emit_c(parse(text), {"self": dtype}, result)
    error = caught.value
    assert message in error.message
    assert text[error.offset : error.offset + error.length] == marked


def test_half_precision_has_no_kernels() -> None:
    with pytest.raises(ValueError, match="compute in float32"):
        lower(parse("self"), {"self": DTYPES["float16"]})


# ---- random trees -------------------------------------------------------------------------------------------

# Functions whose result is exact, so that C and the evaluator must agree in every bit.
_BINARY = {
    "f": ["add", "sub", "mul", "div", "minimum", "maximum", "fmin", "fmax", "remainder", "floor_divide", "copysign"],
    "i": [
        *("add", "sub", "mul", "minimum", "maximum", "bitwise_and", "bitwise_or", "bitwise_xor", "pow"),
        *("bitwise_left_shift", "bitwise_right_shift", "floor_divide", "remainder", "fmod", "trunc_divide"),
    ],
}
_UNARY = {
    "f": ["neg", "abs", "sign", "square", "relu", "floor", "round", "sqrt", "reciprocal"],
    "i": ["neg", "abs", "sign", "square", "relu", "bitwise_not", "ceil"],
}
_COMPARISONS = ["lt", "le", "gt", "ge", "eq", "ne"]


def _trees(kind: str) -> st.SearchStrategy[Expr]:
    numbers = st.sampled_from([0, 1, 2, 3, 7]).map(Literal)
    if kind == "f":
        numbers |= st.sampled_from([0.5, 0.1, 1e30, math.inf]).map(Literal)
    leaves = st.sampled_from(["x", "y"]).map(Name) | numbers

    def grow(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
        def fold(function: str, *args: Expr) -> Expr:
            if function == "neg" and isinstance(args[0], Literal):
                return args[0]  # the language reads a sign before a number as part of it
            return apply(function, *args)

        condition = st.builds(fold, st.sampled_from(_COMPARISONS), inner, inner)
        condition |= st.builds(fold, st.sampled_from(["logical_and", "logical_or"]), condition, condition)
        condition |= st.builds(fold, st.just("logical_not"), condition)
        return st.one_of(
            st.builds(fold, st.sampled_from(_UNARY[kind]), inner),
            st.builds(fold, st.sampled_from(_BINARY[kind]), inner, inner),
            st.builds(fold, st.just("where"), condition, inner, inner),
        )

    return st.recursive(leaves, grow, max_leaves=10)


@settings(max_examples=75)
@given(_trees("f") | _trees("i"))
def test_random_trees_survive_printing(tree: Expr) -> None:
    assert parse(str(tree)) == tree


@pytest.mark.parametrize("name", ["int8", "uint8", "int32", "int64", "float32", "float64"])
def test_random_trees_in_c_equal_the_evaluator(name: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    dtype = DTYPES[name]
    folder = tmp_path_factory.mktemp(name)
    count = 0

    @settings(max_examples=4, suppress_health_check=list(HealthCheck), derandomize=True, database=None)
    @given(st.lists(_trees("f" if dtype.is_floating else "i"), min_size=30, max_size=30))
    def check(trees: list[Expr]) -> None:
        nonlocal count
        cases = [_case(tree, dtype) for tree in trees if "x" in names(tree) and "y" in names(tree)]
        count += 1
        subfolder = folder / str(count)
        subfolder.mkdir()
        _compare(cases, subfolder)

    check()


def _case(tree: Expr, dtype: DType) -> Case:
    result = type_of(tree, {"x": dtype, "y": dtype}).dtype
    return Case(str(tree), (("x", dtype.name), ("y", dtype.name)), result.name)


def _compare(cases: list[Case], folder: Path) -> None:
    library = Library(cases, folder)
    for number, case in enumerate(cases):
        values = grid(case.types)
        got, failed = library.run(number, values)
        expected = evaluate(parse(case.text), values, DTYPES[case.result])
        np.testing.assert_array_equal(got[~failed], expected[~failed], err_msg=str(case))
