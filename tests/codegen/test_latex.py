"""LaTeX of expressions: as few parentheses as possible, and every form belongs to a function of the table."""

from __future__ import annotations

import pytest

from codegen.expr import parse
from codegen.expr.functions import ROWS
from codegen.expr.latex import FORMS, name_latex, to_latex

CASES = {
    "a + b * c": r"a + b \cdot c",
    "(a + b) * c": r"(a + b) \cdot c",
    "a - (b - c)": r"a - (b - c)",
    "1 / (1 + exp(-x))": r"\frac{1}{1 + \exp(-x)}",
    "(a / b) ** 2": r"\left(\frac{a}{b}\right)^{2}",
    "(-x) ** (y + 1)": r"(-x)^{y + 1}",
    "square(x + 1)": r"(x + 1)^2",
    "sqrt(abs(x - 1))": r"\sqrt{\left|x - 1\right|}",
    "x if x > 0 else alpha * expm1(x)": r"\begin{cases} x & \text{if } x > 0 \\ "
    r"\alpha \cdot \operatorname{expm1}(x) & \text{otherwise} \end{cases}",
    "1 if x > 0 else -1 if x < 0 else 0": r"\begin{cases} 1 & \text{if } x > 0 \\ -1 & \text{if } x < 0 \\ "
    r"0 & \text{otherwise} \end{cases}",
    "2 * (x if x > 0 else 0)": r"2 \cdot \left(\begin{cases} x & \text{if } x > 0 \\ 0 & \text{otherwise} "
    r"\end{cases}\right)",
    "1 if (x > 0) & (x < 2) else 0": r"\begin{cases} 1 & \text{if } x > 0 \land x < 2 \\ 0 & \text{otherwise} "
    r"\end{cases}",
    "x & y": r"x \;\&\; y",
    "not x or y": r"\lnot x \lor y",
    "maximum(x, 0.5)": r"\max(x, 0.5)",
    "0.6931471805599453 * x": r"\log 2 \cdot x",
    "1e-08 * x": r"1 \cdot 10^{-8} \cdot x",
    "copysign(x, inf)": r"\operatorname{copysign}(x, \infty)",
    "float_from_bits(x)": r"\operatorname{float\_from\_bits}(x)",
    "hermite_polynomial_he(x, n)": r"\mathit{He}_{n}(x)",
}


@pytest.mark.parametrize("text", CASES)
def test_forms(text: str) -> None:
    assert to_latex(parse(text)) == CASES[text]


def test_names() -> None:
    assert name_latex("lambd") == r"\lambda"
    assert name_latex("min_value") == r"\mathit{min\_value}"
    assert name_latex("x_1") == "x_{1}"
    assert to_latex(parse("grad * self"), {"grad": "g", "self": "x"}) == r"g \cdot x"


def test_forms_are_those_of_functions() -> None:
    assert FORMS.keys() - ROWS.keys() == set()
