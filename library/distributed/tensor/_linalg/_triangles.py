"""Triangles of sharded matrices, and equations with them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...._dispatch.op import Op
from ...._dispatch.ops import ops
from .._parts import made, part_of
from .._spec import extents
from ..placement_types import Partial
from ._matrices import answer, batches, by, result, split, split_or_whole
from ._split import Split

__all__ = ["solved"]


def triangle(op: Op, args: Sequence[Any], described: Any) -> Any:
    """A triangle of each matrix; that of a block begins at another diagonal."""
    matrix, diagonal = args
    part = part_of(matrix)
    if any(isinstance(each, Partial) for each in part.placements):
        return NotImplemented
    *_, row, column = extents(matrix.shape, part.mesh, part.placements)[1]
    function = ops.tril if op is ops.tril.op else ops.triu
    local = function(part.local, diagonal + row - column)
    return made(part._replace(local=local, view=None), described.shape, described.stride())


def solved(matrix: Any, panels: Split, side: Any, upper: bool, unit: bool = False) -> Any:
    """Return the part of a solution with a triangular matrix. The columns, or the rows, of the matrix are split; of the
    right side this process has some columns.

    By columns each panel of the solution is subtracted from the sides that remain, by rows what was found before is
    subtracted from a panel's sides.
    """
    by_rows, size = panels.dim == matrix.ndim - 2, panels.size
    across = matrix.ndim - 1 if by_rows else matrix.ndim - 2
    found = side.clone()
    for panel in sorted(panels.panels(), reverse=upper):
        begin, end = (panel.start, size) if upper == by_rows else (0, panel.stop)
        first, last = (panel.stop, size) if upper == by_rows else (0, panel.start)
        block = panels.shared(panel, matrix, across, begin, end)
        diagonal = block.narrow(across, panel.start - begin, panel.width)
        others = block.narrow(across, first - begin, last - first)
        own, rest = found.narrow(-2, panel.start, panel.width), found.narrow(-2, first, last - first)
        if by_rows:
            own -= others @ rest
        own.copy_(ops.lapack_trsm(diagonal, own, upper, unit))
        if not by_rows:
            rest -= others @ own
    return found


def solve_triangle(op: Op, args: Sequence[Any], described: Any) -> Any:
    """The solution with a triangular matrix, whose rows are used as they are split if that is how they are."""
    matrix, side, upper, unit = args
    batch = batches(matrix, side)
    is_by_rows = part_of(matrix).placements == by(matrix, -2, batch)
    local, panels = split_or_whole(matrix, -2 if is_by_rows else -1, batch)
    columns, of_side = split(side, -1, batch)
    return result(described, solved(local, panels, columns, upper, unit), of_side.placements, side)


def solve_by_cholesky(op: Op, args: Sequence[Any], described: Any) -> Any:
    """The solution with a matrix that is given by its Cholesky factor."""
    factor, side, upper = args
    batch = batches(factor, side)
    local, panels = split_or_whole(factor, -1, batch)
    found, of_side = split(side, -1, batch)
    for is_adjoint in (upper, not upper):
        matrix, parts = (local.mH, panels.turned) if is_adjoint else (local, panels)
        found = solved(matrix, parts, found, upper != is_adjoint)
    return result(described, found, of_side.placements, side)


answer(triangle, ops.tril, ops.triu)
answer(solve_triangle, ops.lapack_trsm)
answer(solve_by_cholesky, ops.lapack_potrs)
