"""How kernels print expressions."""

from __future__ import annotations

import pytest

from codegen.dtypes import DTYPES
from codegen.expr import parse
from codegen.expr.kernel_text import emit_expression
from codegen.expr.lower import lower
from codegen.expr.typed import certain


def printed(expression: str, dtype: str = "float64") -> str:
    return emit_expression(parse(expression), {"self": DTYPES[dtype]}, DTYPES[dtype]).text


@pytest.mark.parametrize("expression", ["cos(self) + sin(self)", "0 if self == 0 else sin(self) - cos(self)"])
def test_sine_and_cosine_stay_two_calls(expression: str) -> None:
    """Compilers make one call, which has no vector form, of those of the same argument."""
    assert "sin(v_self)" in printed(expression)
    assert "cos(v_self + 0.0)" in printed(expression)
    assert "cosf(v_self + 0.0f)" in printed(expression, "float32")


def test_a_cosine_alone_is_called_as_it_is() -> None:
    assert printed("cos(self)") == "cos(v_self)"


@pytest.mark.parametrize(
    ("expression", "expected"),
    [("where(a > b, c, d) + e", "abe"), ("c + 1 if a > 0 else where(b > 0, c, d * c)", "ac"), ("exp(a)", "a")],
)
def test_arguments_that_no_choice_leaves_out(expression: str, expected: str) -> None:
    assert certain(lower(parse(expression), dict.fromkeys("abcde", DTYPES["float64"]))) == set(expected)
