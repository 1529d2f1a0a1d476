"""Row operators on several rows at once give what they give for each row alone, to the bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import opweave
import pytest

OPERATORS: dict[str, Callable[[Any, int], Any]] = {
    "softmax": lambda x, dim: x.softmax(dim),
    "log_softmax": lambda x, dim: x.log_softmax(dim),
    "logsumexp": lambda x, dim: x.logsumexp(dim),
    "var": lambda x, dim: x.var(dim),
    "std_mean": lambda x, dim: opweave.stack(opweave.std_mean(x, dim), dim),
    "norm": lambda x, dim: x.norm(3, dim),
}
NUMBERS = (1, 7, 8, 16, 17, 37)
LENGTHS = (1, 2, 3, 15, 16, 17, 63, 64, 65, 130, 255, 256, 257, 2048, 2049)


def bits(x: Any) -> bytes:
    held = x.to(opweave.float32) if x.dtype is opweave.bfloat16 else x
    return held.contiguous().numpy().tobytes()


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "float16"])
@pytest.mark.parametrize("name", OPERATORS)
def test_as_each_row_alone(name: str, dtype: str) -> None:
    ow_dtype, run = getattr(opweave, dtype), OPERATORS[name]
    random = np.random.default_rng(0)
    for length in LENGTHS:
        values = random.standard_normal((max(NUMBERS), length)) * 3
        values[1, length // 2], values[2, 0] = np.inf, np.nan
        whole = opweave.from_numpy(values).to(ow_dtype)
        alone = [run(row.reshape(1, -1), 1) for row in whole]
        for number in NUMBERS:
            rows, want = whole[:number], bits(opweave.cat(alone[:number]))
            columns = rows.t().contiguous()
            strided = opweave.stack((rows, rows), 2)[:, :, 1]
            for layout, x, dim in (("rows", rows, 1), ("columns", columns.t(), 1), ("strided", strided, 1)):
                assert bits(run(x, dim)) == want, f"{layout} {number} x {length}"
            across = run(columns, 0)
            assert bits(across.t() if across.ndim == 2 else across) == want, f"dim 0, {number} x {length}"
            batch = opweave.stack((rows, rows))
            assert bits(run(batch, 2)[1]) == want, f"a batch of {number} x {length}"
