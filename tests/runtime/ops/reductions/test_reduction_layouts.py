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


@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("count", [*range(1, 20), 255, 256, 257, 600])
def test_scans_combine_in_one_order(name: str, dtype: str, count: int) -> None:
    x = (1 + opweave.arange(2.0 * count, dtype=getattr(opweave, dtype)).sin() / 3).reshape(2, count)
    scan = getattr(opweave, name)
    wanted = scan(x, 1)
    assert opweave.equal(scan(opweave.stack((x, x), 2)[..., 1], 1), wanted)
    assert opweave.equal(scan(x.flip(1).flip(1), 1), wanted)
    out = opweave.zeros(2, count, 3, dtype=x.dtype)[..., 1]
    assert opweave.equal(scan(x, 1, out=out), wanted)
    assert opweave.equal(getattr(x.clone(), f"{name}_")(1), wanted)
