"""Linear algebra against torch: types, shapes, strides, values and errors."""

from __future__ import annotations

import opweave
import pytest

from .agreement import differences, outcome
from .calls_of_linalg import CALLS

torch = pytest.importorskip("torch")


@pytest.mark.parametrize("call", CALLS.strip().splitlines())
def test_agrees_with_torch(call: str) -> None:
    found = differences(outcome(call, opweave), outcome(call, torch))
    assert not found, found
