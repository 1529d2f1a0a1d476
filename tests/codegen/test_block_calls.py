"""The stages of expressions that call functions of whole rows: which calls there are, and what is left for loops."""

from __future__ import annotations

import pytest

from codegen.dtypes import BOOL, COMPLEX64, FLOAT32, FLOAT64, INT32, DType
from codegen.emit.blocks import Called, Computed, Stages, stages
from codegen.expr import names, parse
from codegen.expr.kernel_text import emit_expression


def divided(texts: str, inputs: str, dtype: DType = FLOAT32) -> Stages | None:
    """The stages of expressions that semicolons separate."""
    trees = [parse(text) for text in texts.split("; ")]
    roots = [emit_expression(tree, dict.fromkeys(sorted(names(tree)), dtype), dtype).root for tree in trees]
    return stages(roots, inputs.split())


def steps(texts: str, inputs: str, dtype: DType = FLOAT32) -> list[str]:
    """The stages as C, and the last loop."""
    found = divided(texts, inputs, dtype)
    assert found is not None
    shown = [
        f"{step.function}({', '.join((step.buffer.name, *step.operands))})"
        if isinstance(step, Called)
        else f"{step.buffer.name} = {step.value.text}"
        for step in found.steps
    ]
    return [*shown, *(each.text for each in found.rest if not found.is_call)]


def test_a_call_of_an_input_is_all() -> None:
    found = divided("exp(self)", "self")
    assert found is not None
    assert found.only_call is not None
    assert (found.only_call.function, found.only_call.operands) == ("ow_exp_block", ("v_self",))
    assert not found.inner_buffers


def test_a_call_of_an_expression_is_staged() -> None:
    assert steps("0.5 * x * (1 + erf(x * (k + 0.5)))", "x") == [
        "staged = v_x * (v_k + 0.5f)",
        "ow_erf_block(staged, staged)",
        "0.5f * v_x * (1.0f + staged)",
    ]


def test_the_result_is_used_where_the_call_stood() -> None:
    found = steps("fmod(a, b) + b if fmod(a, b) < 0 else fmod(a, b)", "a b")
    assert found == ["ow_fmod_block(staged, v_a, v_b)", "staged < 0.0f ? staged + v_b : staged"]


def test_an_argument_may_have_the_name_of_the_result() -> None:
    assert steps("exp(staged) * staged", "staged")[-1] == "staged * v_staged"


def test_several_functions_are_stages() -> None:
    assert steps("sigmoid(x) * tanh(y)", "x y") == [
        "ow_sigmoid_block(staged_0, v_x)",
        "ow_tanh_block(staged_1, v_y)",
        "staged_0 * staged_1",
    ]


def test_a_call_reads_the_rows_of_others() -> None:
    found = divided("exp(tanh(x))", "x")
    assert found is not None
    assert steps("exp(tanh(x))", "x") == ["ow_tanh_block(staged_0, v_x)", "ow_exp_block(staged_1, staged_0)"]
    assert [each.name for each in found.inner_buffers] == ["staged_0"]  # the last call writes the result


def test_operands_are_computed_to_rows_of_their_own() -> None:
    assert steps("1 - igamma(a + 1, x * x)", "a x") == [
        "staged = v_a + 1.0f",
        "staged_1 = v_x * v_x",
        "ow_igamma_block(staged, staged, staged_1)",
        "1.0f - staged",
    ]


def test_what_several_stages_read_is_kept_if_it_costs_something() -> None:
    assert steps("exp(x / y + x * y) * (x / y + x * y)", "x y")[0] == "staged_0 = v_x / v_y + v_x * v_y"
    assert steps("exp(x + y) * (x + y)", "x y") == [
        "staged = v_x + v_y",
        "ow_exp_block(staged, staged)",
        "staged * (v_x + v_y)",
    ]


def test_several_results_have_their_stages_together() -> None:
    assert steps("exp(x); exp(x) * y", "x y") == ["ow_exp_block(staged, v_x)", "staged", "staged * v_y"]


def test_functions_of_equal_bits_are_not_worth_a_row() -> None:
    assert divided("sqrt(x) + fmod(x, y)", "x y") is None
    assert divided("sqrt(x); x", "x") is None
    assert steps("exp(x) / sqrt(x)", "x")[-1] == "staged / sqrtf(v_x)"


def test_a_row_function_may_take_any_length() -> None:
    for text, fills in (("igamma(a, x)", True), ("1 - igamma(a, x)", False), ("ndtri(x)", False)):
        found = divided(text, "a x")
        assert found is not None
        assert found.fills is fills


def test_each_dtype_has_its_function() -> None:
    assert steps("1 + exp(self)", "self", FLOAT64)[0] == "ow_exp_block_f64(staged, v_self)"
    assert divided("tanh(self)", "self", FLOAT64) is None
    found = divided("exp(self)", "self", COMPLEX64)
    assert found is not None
    assert found.has_complex


@pytest.mark.parametrize("text", ["x * x", "x / y"])
def test_other_expressions_have_no_stages(text: str) -> None:
    assert divided(text, "x y") is None


def test_an_argument_that_may_fail_is_left_to_the_loop() -> None:
    env = {"x": FLOAT32, "n": INT32, "m": INT32}
    after = stages([emit_expression(parse("exp(x) + n // m"), env, FLOAT32).root], ("x",))
    assert after is not None
    assert after.rest[0].uses_err
    assert not any(isinstance(step, Computed) for step in after.steps)
    assert stages([emit_expression(parse("exp(n // m)"), env, FLOAT32).root], ("x",)) is None


def test_functions_beside_elements_of_another_size_have_loops_of_their_own() -> None:
    # With a result of one byte beside those of eight the compiler would choose vectors for both.
    texts = {"sin(x)": FLOAT64, "cos(x) * y": FLOAT64, "x > y": BOOL}
    roots = [emit_expression(parse(text), {"x": FLOAT64, "y": FLOAT64}, dtype).root for text, dtype in texts.items()]
    found = stages(roots, ("x", "y"))
    assert found is not None
    assert [step.value.text for step in found.steps if isinstance(step, Computed)] == ["sin(v_x)", "cos(v_x)"]
    assert stages(roots[:2], ("x", "y")) is None
