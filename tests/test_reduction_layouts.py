"""Reductions over axes that cannot be merged and are longer together than the core's buffers."""

from __future__ import annotations

import numpy as np
import opweave
import pytest


@pytest.mark.parametrize("columns", [1, 3, 37, 255, 256, 300])
@pytest.mark.parametrize("rows", [2, 15, 700])
@pytest.mark.parametrize("name", ["sum", "amax", "any"])
def test_rows_with_gaps(name: str, rows: int, columns: int) -> None:
    """Buffers end inside of rows. Every element counts: one that is read twice or never changes the sum."""
    values = np.random.default_rng(rows * columns).integers(-1000, 1000, (2, rows, columns + 3))[:, :, :columns]
    x = opweave.from_numpy(values.copy().repeat(2, 2))[:, :, ::2]
    result = getattr(opweave, name)(x, (1, 2))
    assert result.tolist() == getattr(np, name)(values, (1, 2)).tolist()
