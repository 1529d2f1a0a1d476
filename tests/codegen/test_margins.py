"""Tensors that are copied with margins, and which others must be finite, where zeros in these stand for terms that are
left out."""

from __future__ import annotations

from pathlib import Path

import pytest

from codegen.library import read
from codegen.model.compute import Compute
from codegen.model.margins import Margin, margins

ENTRY = """
- func: windows(Tensor self, Tensor weight) -> Tensor
  doc: Sums over windows of three elements.
  compute:
    size: {{x: self.size(-1)}}
    value[..., x]: {value}
    outside: {{self: {outside}}}
  dtypes: floating
  derivatives: none
"""
ELEMENT = "self[..., x + k - 1]"


@pytest.mark.parametrize("outside", ["0", "skip"])
@pytest.mark.parametrize(
    ("term", "expected"),
    [
        (f"{ELEMENT}", Margin(0.0)),
        (f"-{ELEMENT} * k", Margin(0.0)),
        (f"{ELEMENT} * weight[k]", Margin(0.0, frozenset({"weight"}))),
        (f"weight[k] * (weight[0] * {ELEMENT} - {ELEMENT} * k)", Margin(0.0, frozenset({"weight"}))),
        (f"({ELEMENT} if k > 0 else 0)", Margin(0.0)),
        (f"{ELEMENT} * exp(weight[k])", None),
        (f"{ELEMENT} * (weight[k] * weight[0])", None),
        (f"{ELEMENT} / weight[k]", None),
    ],
)
def test_factors_of_terms_that_are_left_out(tmp_path: Path, outside: str, term: str, expected: Margin | None) -> None:
    path = tmp_path / "windows.yaml"
    path.write_text(ENTRY.format(value=f"sum({term} for k in range(3)) + weight[0]", outside=outside))
    (operator,) = read(path, sound=True)
    assert margins(operator.body_of(Compute)) == ({} if expected is None else {"self": expected})


def test_elements_that_are_no_factors_are_numbers(tmp_path: Path) -> None:
    path = tmp_path / "windows.yaml"
    path.write_text(ENTRY.format(value=f"max({ELEMENT} for k in range(3)) + weight[0]", outside="0"))
    (operator,) = read(path, sound=True)
    assert margins(operator.body_of(Compute)) == {"self": Margin(0.0)}
