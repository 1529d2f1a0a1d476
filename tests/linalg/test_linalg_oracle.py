"""Linear algebra against torch: types, shapes, strides, values and errors."""

from __future__ import annotations

from pathlib import Path

import opweave
import pytest

from .agreement import differences, outcome

torch = pytest.importorskip("torch")

LINES = (Path(__file__).parent / "calls.txt").read_text(encoding="utf-8").splitlines()
CALLS = [line for line in LINES if line and not line.startswith("#")]


@pytest.mark.parametrize("call", CALLS)
def test_agrees_with_torch(call: str) -> None:
    found = differences(outcome(call, opweave), outcome(call, torch))
    assert not found, found
