"""Cholesky's factorization of sharded matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...._dispatch.op import Op
from ...._dispatch.ops import ops
from ._matrices import Codes, answer, batches, by, result, split
from ._split import Split


def factorize(op: Op, args: Sequence[Any], described: Any) -> Any:
    """The factor of a positive definite matrix. That of its upper triangle is found of the conjugate transposed matrix,
    whose columns are split where its own rows are."""
    matrix, upper = args
    local, columns = split(matrix, -2 if upper else -1, batches(matrix))
    if upper:
        local, columns = local.mH, columns.turned
    factor, codes = _factor(local.clone(), columns)
    return (
        result(described[0], factor.mH if upper else factor, columns.placements, matrix),
        result(described[1], codes, by(described[1], None, columns.batch), matrix),
    )


def _factor(local: Any, columns: Split) -> tuple[Any, Any]:
    """The columns of the lower factor, in place, and the codes. A panel's are subtracted from those after it."""
    size, row = columns.size, local.ndim - 2
    codes = Codes(local, columns)
    for panel in columns.panels():
        block = None
        if columns.is_own(panel):
            own = columns.of(local, panel)
            top, found = ops.lapack_potrf(own.narrow(row, panel.start, panel.width), False)
            codes.add(found, panel)
            below = ops.lapack_trsm(top, own.narrow(row, panel.stop, size - panel.stop).mH, False, False).mH
            block = ops.cat([top, below], row)
            own.narrow(row, 0, panel.start).zero_()
            own.narrow(row, panel.start, size - panel.start).copy_(block)
        block = columns.sent(panel, block, local, (*local.shape[:-2], size - panel.start, panel.width))
        start, rest = columns.after(local, panel.stop)
        if start < columns.last:
            below = block.narrow(row, start - panel.start, size - start)
            rest.narrow(row, start, size - start).sub_(below @ below.narrow(row, 0, columns.last - start).mH)
    return local, codes.all()


answer(factorize, ops.lapack_potrf)
