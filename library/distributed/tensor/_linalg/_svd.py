"""Singular values and vectors of tall and of wide sharded matrices: those of their R."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...._dispatch.op import Op
from ...._dispatch.ops import ops
from ._matrices import answer, batches, by, result, split
from ._qr import factors_by_rows, is_tall

_FULL = 2
"""The number of the job that gives square bases."""


def decompose(op: Op, args: Sequence[Any], described: Any) -> Any:
    """Singular values and vectors, and codes. A wide matrix is the adjoint of a tall one."""
    matrix, job, driver = args
    rows, columns = matrix.shape[-2:]
    is_wide = columns > rows
    if job == _FULL or not is_tall(max(rows, columns), min(rows, columns), matrix):
        return NotImplemented
    batch = batches(matrix)
    local, parts = split(matrix, -1 if is_wide else -2, batch)
    Q, R = factors_by_rows(*((local.mH, parts.turned) if is_wide else (local, parts)))
    U, S, Vh, codes = ops.svd_with_info(R, job, driver)
    dims: list[int | None] = [None, None, None, None]
    if job:
        U, dims[0] = Q @ U, -2
    if is_wide:
        U, Vh, dims = Vh.mH, U.mH, [None, None, None if dims[0] is None else -1, None]
    placements = [by(each, dim, batch) for each, dim in zip(described, dims, strict=True)]
    pairs = zip(described, (U, S, Vh, codes), placements, strict=True)
    return tuple([result(*each, matrix) for each in pairs])


answer(decompose, ops.svd_with_info)
