"""Choices in formulas of derivatives: what the arms see in the places that do not take them."""

from __future__ import annotations

from pathlib import Path

import pytest

from codegen import library
from codegen.emit import guards

ENTRY = """
- func: tried(Tensor self) -> Tensor
  doc: Tried.
  elementwise: '{expression}'
  dtypes: floating
  reference: none
  derivatives: {{self: '{formula}'}}
"""
BEYOND = "self if self > 1 else 2.0"


@pytest.mark.parametrize(
    ("expression", "formula", "expected"),
    [
        (
            "self if self > 0 else exp(self)",
            "grad * (1 if self > 0 else exp(self))",
            "grad * (1 if self > 0 else exp(0.5 if self > 0 else self))",
        ),
        (
            "log(self) if self > 0 else self",
            "where(self > 0, grad / self, grad)",
            "grad / (self if self > 0 else 0.5) if self > 0 else grad",
        ),
        # Half is outside the domain: the next number is tried.
        (
            "acosh(self) if self > 1 else self",
            "grad * (1 / sqrt(self * self - 1) if self > 1 else 1)",
            f"grad * (1 / sqrt(({BEYOND}) * ({BEYOND}) - 1) if self > 1 else 1)",
        ),
        # Multiples of grad by numbers have finite derivatives, whatever the inputs are, and conditions have none.
        ("self if self > 0 else 2 * self", "where(self > 0, grad, grad * 2)", "where(self > 0, grad, grad * 2)"),
        ("maximum(self, 1)", "auto", "grad * (0.5 if self == 1 else 0 if self < 1 else 1)"),
    ],
)
def test_arms_see_safe_numbers(tmp_path: Path, expression: str, formula: str, expected: str) -> None:
    path = tmp_path / "ops.yaml"
    path.write_text(ENTRY.format(expression=expression, formula=formula), encoding="utf-8")
    (operator,) = library.read(path)
    assert guards.guarded(operator, operator.derivatives["self"]) == expected
