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


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
def test_rows_where_they_lie(dtype: str) -> None:
    """Rows without gaps, of which kernels take addresses, and copies of rows with gaps give the same gradients."""
    ow_dtype, layer_norm = getattr(opweave, dtype), opweave.nn.functional.layer_norm
    random = np.random.default_rng(1)
    for length in (0, 1, 2, 31, 32, 33, 63, 64, 65, 255, 256, 257, 2048, 2049):
        values = random.standard_normal((5, 4, length + 1, 2))
        if length:
            values[1, 2, length // 2], values[3, 0, 0] = np.inf, np.nan
        gaps = opweave.from_numpy(values).to(ow_dtype)[..., 0]
        weight, bias = gaps[2, 1, :length].contiguous(), gaps[2, 3, :length].contiguous()
        for number in (0, 1, 3, 4):
            # With one element between rows, and with others between the rows of two dimensions as well.
            strided = gaps[:, :number, :length]
            dense = gaps.contiguous()[:, :number, :length]
            results = [_with_gradients(layer_norm, x, weight, bias) for x in (strided, dense, dense.contiguous())]
            assert results[0] == results[1] == results[2], f"5 x {number} x {length}"


def _with_gradients(layer_norm: Callable[..., Any], *given: Any) -> list[bytes]:
    x, weight, bias = (each.detach().requires_grad_() for each in given)
    result = layer_norm(x, weight.shape, weight, bias)
    return list(map(bits, (result.detach(), *opweave.autograd.grad(result, (x, weight, bias), result.detach().cos()))))
