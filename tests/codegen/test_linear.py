"""Of which variables an expression is a linear function."""

from __future__ import annotations

import pytest

from codegen.expr import is_linear, parse


@pytest.mark.parametrize(
    ("text", "variables"),
    [
        ("self + alpha * other", "self other"),
        ("-self", "self"),
        ("self * other", "self"),
        ("self * other", "other"),
        ("self / exp(other) - self", "self"),
        ("self + weight * (end - self)", "self end"),
        ("self if condition else other", "self other"),
        ("self * scale if condition else 0", "self"),
    ],
)
def test_linear(text: str, variables: str) -> None:
    assert is_linear(parse(text), variables.split())


@pytest.mark.parametrize(
    ("text", "variables"),
    [
        ("self + alpha * other", "self"),
        ("self * other", "self other"),
        ("self / other", "other"),
        ("self + 1", "self"),
        ("exp(self)", "self"),
        ("self if self > 0 else 0", "self"),
        ("self if condition else 1", "self"),
        ("self if condition else other", "self"),
        ("other", "self"),
    ],
)
def test_not_linear(text: str, variables: str) -> None:
    assert not is_linear(parse(text), variables.split())
