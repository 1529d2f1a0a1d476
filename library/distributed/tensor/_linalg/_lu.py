"""The LU factorization of sharded matrices, with row pivots, and equations with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...._base.dtypes import EXPORTS
from ...._dispatch.op import Op
from ...._dispatch.ops import ops
from .._parts import made, moved, part_of
from .._spec import Part
from ._matrices import Codes, answer, batches, by, identity, result, split, split_or_whole
from ._split import Split
from ._triangles import solved


def factorize(op: Op, args: Sequence[Any], described: Any) -> Any:
    """The factors of a matrix, the pivots and the codes."""
    (matrix,) = args
    local, columns = split(matrix, -1, batches(matrix))
    return _results(described, _factors(local.clone(), columns), columns, matrix)


def _results(described: Sequence[Any], found: Sequence[Any], columns: Split, matrix: Any) -> tuple[Any, ...]:
    """Results of a matrix: a first one of which this process has columns, and others of which each process has all."""
    (like, local), *others = zip(described, found, strict=True)
    return (
        result(like, local, columns.placements, matrix),
        *[result(like, local, by(like, None, columns.batch), matrix) for like, local in others],
    )


def _factors(local: Any, columns: Split) -> tuple[Any, Any, Any]:
    """The columns of the factors, in place, the pivots and the codes."""
    row, size = local.ndim - 2, local.size(-2)
    codes, pivots = Codes(local, columns), [local.new_empty((*local.shape[:-2], 0), dtype=EXPORTS["int32"])]
    for panel in columns.panels(min(size, columns.size)):
        rows = size - panel.start
        block = found = None
        if columns.is_own(panel):
            block, found, failed = ops.lapack_getrf(columns.of(local, panel).narrow(row, panel.start, rows))
            codes.add(failed, panel)
        block = columns.sent(panel, block, local, (*local.shape[:-2], rows, panel.width))
        shape = (*local.shape[:-2], panel.width)
        found = columns.sent(panel, found, pivots[0], shape)
        pivots.append(found + panel.start)
        remaining = local.narrow(row, panel.start, rows)
        remaining.copy_(_permuted(remaining, ops.lapack_laswp(block, found)))
        if columns.is_own(panel):
            columns.of(remaining, panel).copy_(block)
        _, rest = columns.after(remaining, panel.stop)
        top, below = rest.narrow(row, 0, panel.width), rest.narrow(row, panel.width, rows - panel.width)
        top.copy_(ops.lapack_trsm(block.narrow(row, 0, panel.width), top, False, True))
        below -= block.narrow(row, panel.width, rows - panel.width) @ top
    return local, ops.cat(pivots, -1), codes.all()


def _permuted(local: Any, order: Any) -> Any:
    """The rows of matrices in another order."""
    return local.gather(-2, order.unsqueeze(-1).expand(local.shape))


def order_of_rows(op: Op, args: Sequence[Any], described: Any) -> Any:
    """The order of the rows of a matrix that pivots give."""
    matrix, pivots = args
    placements = by(pivots, None, batches(matrix))
    found = _order(matrix.size(-2), moved(pivots, placements))
    return made(Part(found, part_of(matrix).mesh, placements), described.shape, described.stride())


def _order(rows: int, pivots: Any) -> Any:
    return ops.lapack_laswp(pivots.new_empty((*pivots.shape[:-1], rows, 0), dtype=EXPORTS["float32"]), pivots)


def _solved(factors: Any, columns: Split, pivots: Any, side: Any, trans: int) -> Any:
    """The part of the solution, by the columns of the factors; `trans` is as of `lapack_getrs`."""
    order = _order(side.size(-2), pivots)
    if not trans:
        lower = solved(factors, columns, _permuted(side, order), False, True)
        return solved(factors, columns, lower, True)
    turned = factors.mH if trans == 2 else factors.mT
    upper = solved(turned, columns.turned, side, False)
    lower = solved(turned, columns.turned, upper, True, True)
    return lower.scatter(-2, order.unsqueeze(-1).expand(lower.shape), lower)


def solve_by_factors(op: Op, args: Sequence[Any], described: Any) -> Any:
    """The solution with a matrix that is given by its factors."""
    factors, pivots, side, trans = args
    batch = batches(factors, side)
    local, columns = split_or_whole(factors, -1, batch)
    sides, of_side = split(side, -1, batch)
    found = _solved(local, columns, moved(pivots, by(pivots, None, batch)), sides, trans)
    return result(described, found, of_side.placements, side)


def solve(op: Op, args: Sequence[Any], described: Any) -> Any:
    """The solution with a matrix, and its factors."""
    matrix, side, trans = args
    batch = batches(matrix, side)
    local, columns = split_or_whole(matrix, -1, batch)
    sides, of_side = split(side, -1, batch)
    factors, pivots, codes = _factors(local.clone(), columns)
    found = _solved(factors, columns, pivots, sides, trans)
    return (
        result(described[0], found, of_side.placements, side),
        *_results(described[1:], (factors, pivots, codes), columns, matrix),
    )


def invert(op: Op, args: Sequence[Any], described: Any) -> Any:
    """The inverse of a matrix: the solution with the identity."""
    (matrix,) = args
    local, columns = split(matrix, -1, batches(matrix))
    factors, pivots, codes = _factors(local.clone(), columns)
    found = _solved(factors, columns, pivots, identity(local, columns), 0)
    return _results(described, (found, codes), columns, matrix)


def determinant(op: Op, args: Sequence[Any], described: Any) -> Any:
    """The determinant, or its sign and its logarithm, and the factors: of their columns the diagonal alone is sent."""
    (matrix,) = args
    local, columns = split(matrix, -1, batches(matrix))
    factors, pivots, _ = _factors(local.clone(), columns)
    own = factors.diagonal(-columns.first, -2, -1)
    diagonal = ops.cat(
        [
            columns.sent(part, own if columns.is_own(part) else None, own, (*own.shape[:-1], part.width))
            for part in columns.parts
        ],
        -1,
    )
    signs = ops.sign_of_exchanges(pivots)
    if op is ops.det_with_factors.op:
        found = [diagonal.prod(-1) * signs]
    else:
        found = [diagonal.sgn().prod(-1) * signs, diagonal.abs().log().sum(-1)]
    LU, of_pivots = _results(described[-2:], (factors, pivots), columns, matrix)
    values = zip(described[:-2], found, strict=True)
    return *[result(like, each, by(like, None, columns.batch), matrix) for like, each in values], LU, of_pivots


answer(determinant, ops.det_with_factors, ops.slogdet_with_factors)
answer(factorize, ops.lapack_getrf)
answer(order_of_rows, ops.lapack_laswp)
answer(solve_by_factors, ops.lapack_getrs)
answer(solve, ops.lapack_gesv)
answer(invert, ops.lapack_getri)
