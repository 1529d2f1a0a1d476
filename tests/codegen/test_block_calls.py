"""Which kernels call a function of rows, and what is left of their expression."""

from __future__ import annotations

import pytest

from codegen.dtypes import FLOAT32, FLOAT64, INT32, DType
from codegen.emit.blocks import BlockCall, block_call
from codegen.expr import names, parse
from codegen.expr.kernel_text import emit_expression


def called(text: str, inputs: tuple[str, ...], dtype: DType = FLOAT32) -> BlockCall | None:
    tree = parse(text)
    return block_call(emit_expression(tree, dict.fromkeys(sorted(names(tree)), dtype), dtype), inputs)


def parsed_call(text: str, *inputs: str, dtype: DType = FLOAT32) -> BlockCall:
    call = called(text, inputs, dtype)
    assert call is not None
    return call


def test_a_call_of_an_input_is_all() -> None:
    call = parsed_call("exp(self)", "self")
    assert (call.function, call.inputs, call.expression, call.rest) == ("ow_exp_block", ("v_self",), None, None)
    assert call.ctype == "float"


def test_a_call_of_an_expression_is_staged() -> None:
    call = parsed_call("0.5 * x * (1 + erf(x * (k + 0.5)))", "x")
    assert (call.function, call.inputs, call.expression) == ("ow_erf_block", (), "v_x * (v_k + 0.5f)")
    assert call.rest is not None
    assert call.rest.text == "0.5f * v_x * (1.0f + staged)"


def test_the_result_is_used_where_the_call_stood() -> None:
    call = parsed_call("fmod(a, b) + b if fmod(a, b) < 0 else fmod(a, b)", "a", "b")
    assert (call.function, call.inputs, call.expression) == ("ow_fmod_block", ("v_a", "v_b"), None)
    assert call.rest is not None
    assert call.rest.text == "staged < 0.0f ? staged + v_b : staged"


def test_an_argument_may_have_the_name_of_the_result() -> None:
    call = parsed_call("exp(staged) * staged", "staged")
    assert call.rest is not None
    assert call.rest.text == "staged * v_staged"


def test_a_row_function_may_take_any_length() -> None:
    assert parsed_call("igamma(a, x)", "a", "x").fills
    assert not parsed_call("1 - igamma(a, x)", "a", "x").fills
    assert not parsed_call("ndtri(x)", "x").fills


def test_each_dtype_has_its_function() -> None:
    call = parsed_call("exp(self)", "self", dtype=FLOAT64)
    assert (call.function, call.ctype) == ("ow_exp_block_f64", "double")
    assert called("tanh(self)", ("self",), FLOAT64) is None


@pytest.mark.parametrize(
    ("text", "inputs"),
    [
        ("x * x", "x"),
        ("exp(x) * log(x)", "x"),  # two functions of rows
        ("exp(x * x) + x * x", "x"),  # the loop computes the argument for itself as well
        ("exp((x + 1) * (x + 1))", "x"),  # and here for it alone, but with a temporary
        ("fmod(x + 1, y)", "x y"),  # an expression, of two operands
        ("fmod(x, k)", "x"),  # a parameter, of two operands
    ],
)
def test_what_cannot_be_staged(text: str, inputs: str) -> None:
    assert called(text, tuple(inputs.split())) is None


def test_a_loop_that_may_fail_is_not_staged() -> None:
    tree = parse("exp(x) + n // m")
    env = {"x": FLOAT32, "n": INT32, "m": INT32}
    assert block_call(emit_expression(tree, env, FLOAT32), ("x",)) is None
