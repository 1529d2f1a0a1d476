"""QR factorizations of sharded matrices: by rows if they are tall, else by Householder reflections of panels.

J. Demmel, L. Grigori, M. Hoemmen and J. Langou, "Communication-optimal parallel and sequential QR and LU
factorizations" (2012): the R of a tall matrix is that of the R of all its parts, one upon the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...._dispatch.op import Op
from ...._dispatch.ops import ops
from .._call import REPLICATE
from .._parts import moved, part_of
from ._matrices import answer, batches, by, identity, result, split, split_or_whole
from ._split import Split

__all__ = ["factors_by_rows", "is_tall"]


# ---- by rows -------------------------------------------------------------------------------------------------


def is_tall(rows: int, columns: int, matrix: Any) -> bool:
    """Return whether each process of the mesh of a matrix can have as many of the rows as there are columns."""
    return rows >= columns * part_of(matrix).mesh.size()


def factors_by_rows(local: Any, rows: Split) -> tuple[Any, Any]:
    """Return the rows of Q of this process, and R."""
    columns = local.size(-1)
    Q, R = ops.linalg_qr(local)
    sizes = [(*R.shape[:-2], min(part.width, columns), columns) for part in rows.parts]
    blocks = [
        rows.sent(part, R if rows.is_own(part) else None, R, size) for part, size in zip(rows.parts, sizes, strict=True)
    ]
    rotation, whole = ops.linalg_qr(ops.cat(blocks, -2))
    above = sum(size[-2] for part, size in zip(rows.parts, sizes, strict=True) if part.start < rows.first)
    return Q @ rotation.narrow(-2, above, Q.size(-1)), whole


def factorize(op: Op, args: Sequence[Any], described: Any) -> Any:
    """Q and R of a tall matrix; those of others are made of reflections."""
    matrix, mode = args
    if mode == "complete" or not is_tall(matrix.size(-2), matrix.size(-1), matrix):
        return NotImplemented
    local, rows = split(matrix, -2, batches(matrix))
    Q, R = factors_by_rows(local, rows)
    placements = rows.placements
    if mode == "r":
        Q, placements = Q.new_empty((0,)), (REPLICATE,) * len(placements)
    return (
        result(described[0], Q, placements, matrix),
        result(described[1], R, by(described[1], None, rows.batch), matrix),
    )


# ---- by reflections ------------------------------------------------------------------------------------------


def reflect(op: Op, args: Sequence[Any], described: Any) -> Any:
    """The reflections and their factors, and so many rows of R."""
    matrix, rows = args
    local, columns = split(matrix, -1, batches(matrix))
    found, factors = _reflections(local.clone(), columns)
    R = found.narrow(-2, 0, rows).triu(-columns.first)
    placements = columns.placements, by(described[1], None, columns.batch), by(described[2], -1, columns.batch)
    pairs = zip(described, (found, factors, R), placements, strict=True)
    return tuple([result(*each, matrix) for each in pairs])


def _reflections(local: Any, columns: Split) -> tuple[Any, Any]:
    """The columns of the reflections, in place, and all factors."""
    row, size = local.ndim - 2, local.size(-2)
    factors = [local.new_empty((*local.shape[:-2], 0))]
    for panel in columns.panels(min(size, columns.size)):
        remaining = local.narrow(row, panel.start, size - panel.start)
        block = tau = None
        if columns.is_own(panel):
            block, tau, _ = ops.lapack_geqrf(columns.of(remaining, panel), 0)
            columns.of(remaining, panel).copy_(block)
        block = columns.sent(panel, block, local, (*remaining.shape[:-1], panel.width))
        tau = columns.sent(panel, tau, local, (*local.shape[:-2], panel.width))
        factors.append(tau)
        _, rest = columns.after(remaining, panel.stop)
        rest.copy_(ops.lapack_ormqr(block, tau, rest, True, True))
    return local, ops.cat(factors, -1)


def _applied(local: Any, columns: Split, factors: Any, side: Any, adjoint: bool) -> Any:
    """The product of reflections, or its adjoint, times the columns of this process."""
    row, size = local.ndim - 2, local.size(-2)
    found = side.clone()
    for panel in sorted(columns.panels(factors.size(-1)), reverse=not adjoint):
        block = columns.shared(panel, local, row, panel.start, size)
        own = found.narrow(row, panel.start, size - panel.start)
        own.copy_(ops.lapack_ormqr(block, factors.narrow(-1, panel.start, panel.width), own, True, adjoint))
    return found


def orthogonal(op: Op, args: Sequence[Any], described: Any) -> Any:
    """The first columns of a product of reflections, which is applied to those of the identity."""
    reflections, factors, _ = args
    batch = batches(reflections)
    local, columns = split(reflections, -1, batch)
    placements = by(described, -1, batch)
    own = Split(part_of(reflections).mesh, described.shape, placements, described.ndim - 1)
    tau = moved(factors, by(factors, None, batch))
    return result(described, _applied(local, columns, tau, identity(local, own), False), placements, reflections)


def apply(op: Op, args: Sequence[Any], described: Any) -> Any:
    """A product of reflections times a matrix. From the right it is the adjoint of that from the left."""
    reflections, factors, matrix, left, transpose = args
    batch = batches(reflections, matrix)
    local, columns = split_or_whole(reflections, -1, batch)
    dim = -1 if left else -2
    own, of_matrix = split(matrix, dim, batch)
    tau = moved(factors, by(factors, None, batch))
    found = _applied(local, columns, tau, own if left else own.mH, transpose == left)
    return result(described, found if left else found.mH, of_matrix.placements, matrix)


answer(factorize, ops.linalg_qr)
answer(reflect, ops.lapack_geqrf)
answer(orthogonal, ops.lapack_orgqr)
answer(apply, ops.lapack_ormqr)
