"""Which expressions over indices are computed as products of matrices."""

from __future__ import annotations

from pathlib import Path

import pytest

from codegen.errors import Diagnostics
from codegen.library import Entries
from codegen.model.compute import Compute
from codegen.model.contraction import contraction
from codegen.read import adjoints

ENTRIES = Path(__file__).parents[2] / "ops.yaml"


@pytest.mark.parametrize("name", ["convolve2d", "convolve3d", "convolve_channels2d"])
def test_convolutions_and_their_gradients(name: str) -> None:
    operator = Entries(ENTRIES).operator(name)
    made = adjoints.follow(operator, operator.body_of(Compute), Diagnostics())
    bodies = {each.name: each.body for each in made}
    for ending in ("", "_backward_self", "_backward_weight"):
        body = bodies[name + ending]
        assert isinstance(body, Compute)
        assert contraction(body) is not None, name + ending
