"""Which kernels call a function of rows, and what is left of their expression."""

from __future__ import annotations

from codegen.emit.blocks import RESULT, BlockCall, block_call
from codegen.expr import Emitted


def emitted(value: str, *statements: str, uses_err: bool = False) -> Emitted:
    return Emitted(statements, value, uses_err)


def found(of: Emitted, inputs: list[str], params: list[str]) -> BlockCall:
    call = block_call(of, inputs, params)
    assert call is not None
    return call


def test_a_call_of_an_input_is_all() -> None:
    assert found(emitted("ow_expf(self)"), ["self"], []) == BlockCall(
        "ow_expf(self)", "ow_exp_block", ("self",), None, None
    )


def test_a_call_of_an_expression_is_staged() -> None:
    rest = emitted(f"0.5f * x * (1.0f + {RESULT})")
    call = found(emitted("0.5f * x * (1.0f + erff(x * (k + 0.5f)))"), ["x"], ["k"])
    assert call == BlockCall("erff(x * (k + 0.5f))", "ow_erf_block", (), "x * (k + 0.5f)", rest)


def test_a_call_in_a_statement_is_staged() -> None:
    rest = emitted("t0 < 0 ? t0 + b : t0", f"const float t0 = {RESULT};")
    call = found(emitted("t0 < 0 ? t0 + b : t0", "const float t0 = fmodf(a, b);"), ["a", "b"], [])
    assert call == BlockCall("fmodf(a, b)", "ow_fmod_block", ("a", "b"), None, rest)


def test_the_same_call_twice_is_one() -> None:
    rest = emitted(f"{RESULT} * ({RESULT} + 2.0f)")
    assert found(emitted("ow_expf(x) * (ow_expf(x) + 2.0f)"), ["x"], []).rest == rest


def test_what_cannot_be_staged() -> None:
    assert block_call(emitted("x * x"), ["x"], []) is None
    assert block_call(emitted("ow_expf(x) * logf(x)"), ["x"], []) is None
    assert block_call(emitted("ow_expf(t0) + t0", "const float t0 = x * x;"), ["x"], []) is None
    assert block_call(emitted("fmodf(x + 1.0f, y)"), ["x", "y"], []) is None
    assert block_call(emitted("ow_hermite_polynomial_h(x + 1.0, n)"), ["x", "n"], []) is None
    assert block_call(emitted("ow_expf(x)", uses_err=True), ["x"], []) is None
    assert block_call(emitted("my_ow_expf(x)"), ["x"], []) is None
