"""Indices that stand for whole rows, as they are expanded: each is checked once, and every row is added."""

from __future__ import annotations

from typing import Any

import opweave
import pytest


def _expanded(index: Any, by: str) -> Any:
    return {
        "rows": lambda: index[:, None].expand(-1, 3),
        "columns": lambda: index[None, :].expand(4, -1),
        "steps": lambda: index.repeat_interleave(2)[::2, None].expand(-1, 3),
        "one": lambda: index[:1].view(1, 1).expand(5, 3),
        "nothing": lambda: index[:0, None].expand(-1, 3),
    }[by]()


@pytest.mark.parametrize("dtype", [opweave.int64, opweave.int32])
@pytest.mark.parametrize("by", ["rows", "columns", "steps", "one", "nothing"])
@pytest.mark.parametrize("count", [1, 2, 511, 512, 513, 40_000])
def test_sums_are_those_of_materialized_indices(count: int, by: str, dtype: Any) -> None:
    dim = 1 if by == "columns" else 0
    index = _expanded((opweave.arange(count) * 7 % 5).to(dtype), by)
    source = opweave.arange(index.numel(), dtype=opweave.float64).view(index.shape)
    base = opweave.ones(5, 3, dtype=source.dtype) if dim == 0 else opweave.ones(4, 5, dtype=source.dtype)
    assert base.scatter_add(dim, index, source).equal(base.scatter_add(dim, index.contiguous(), source))


@pytest.mark.parametrize("by", ["rows", "columns", "steps"])
@pytest.mark.parametrize("bad", [-1, 5, 2**40])
@pytest.mark.parametrize("at", [0, 256, 599])
def test_each_index_is_checked_before_anything_is_written(at: int, bad: int, by: str) -> None:
    values = opweave.arange(600) % 5
    values[at] = bad
    dim = 1 if by == "columns" else 0
    index = _expanded(values, by)
    base = opweave.zeros(5, 3) if dim == 0 else opweave.zeros(4, 5)
    with pytest.raises(RuntimeError, match=f"index {bad} is out of bounds for dimension {dim} with size 5"):
        base.scatter_add_(dim, index, opweave.ones(index.shape))
    assert not base.any()
