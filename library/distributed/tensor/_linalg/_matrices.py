"""Calls of operators of matrices that lie on several processes: what they are given, and what they give."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from ...._base.dtypes import EXPORTS
from ...._base.handles import tensors_in
from ...._dispatch.infer import infer
from ...._dispatch.op import NEW, Op
from .. import _answers
from .._call import REPLICATE
from .._parts import made, moved, part_of
from .._redistribute import redistributed
from .._spec import Part
from ..placement_types import Placement, Shard
from ._split import Panel, Split

__all__ = [
    "Codes",
    "Placements",
    "answer",
    "batches",
    "by",
    "identity",
    "is_split",
    "result",
    "split",
    "split_or_whole",
]

Placements: TypeAlias = tuple[Placement, ...]


def answer(function: Callable[[Op, Sequence[Any], Any], Any], *operators: Any) -> None:
    """Let a function answer calls with matrices that are split. It is given the operator, the arguments and what the
    call results in, without elements; where it returns NotImplemented, the rules of sharding answer."""

    def of_split(op: Op, args: Sequence[Any], mode: int) -> Any:
        if mode != NEW or not any(is_split(each) for each in tensors_in(args)):
            return NotImplemented
        return function(op, args, infer(op, args, None, NEW))

    _answers.answer(of_split, *operators)


def is_split(tensor: Any) -> bool:
    """Return whether rows or columns of matrices lie on several processes."""
    return any(not (each == REPLICATE or _is_batch(each, tensor.ndim)) for each in part_of(tensor).placements)


def _is_batch(placement: Placement, ndim: int) -> bool:
    return isinstance(placement, Shard) and placement.dim < ndim - 2


# ---- placements ----------------------------------------------------------------------------------------------


def batches(*matrices: Any) -> list[Placement | None]:
    """Return, by dimension of the mesh, the placement of a batch of matrices that one of these tensors has; None where
    it has none."""
    columns = zip(*[part_of(each).placements for each in matrices], strict=True)
    return [next((each for each in column if _is_batch(each, matrices[0].ndim)), None) for column in columns]


def by(tensor: Any, dim: int | None, batch: Sequence[Placement | None]) -> Placements:
    """Return the placements at which a dimension of matrices is split over the processes that do not have parts of the
    batch instead; None: at which each of them has whole matrices."""
    wanted = REPLICATE if dim is None else Shard(dim % tensor.ndim)
    return tuple([wanted if each is None else each for each in batch])


def split(tensor: Any, dim: int, batch: Sequence[Placement | None]) -> tuple[Any, Split]:
    """Return the part of this process where a dimension of matrices is split, and how it is."""
    return _at(tensor, by(tensor, dim, batch), dim)


def split_or_whole(tensor: Any, dim: int, batch: Sequence[Placement | None]) -> tuple[Any, Split]:
    """Return the same, but for matrices that each process has whole, which stay so."""
    return _at(tensor, by(tensor, dim if is_split(tensor) else None, batch), dim)


def _at(tensor: Any, placements: Placements, dim: int) -> tuple[Any, Split]:
    return moved(tensor, placements), Split(part_of(tensor).mesh, tensor.shape, placements, dim % tensor.ndim)


def result(described: Any, local: Any, placements: Placements, like: Any) -> Any:
    """Return a distributed tensor with the part of this process. Where `like` has shards of as many dimensions, the
    result is brought to them."""
    part = part_of(like)
    found = Part(local, part.mesh, placements)
    if described.ndim == like.ndim:
        pairs = zip(part.placements, placements, strict=True)
        wanted = tuple([own if isinstance(own, Shard) else other for own, other in pairs])
        found = Part(redistributed(local, described.shape, part.mesh, placements, wanted), part.mesh, wanted)
    return made(found, described.shape, described.stride())


def identity(local: Any, columns: Split) -> Any:
    """Return the columns of this process of the identity, in as many rows as a matrix has."""
    found = local.new_zeros((*local.shape[:-1], columns.last - columns.first))
    found.diagonal(-columns.first, -2, -1).fill_(1)
    return found


# ---- codes ---------------------------------------------------------------------------------------------------

_NONE = 2**31 - 1


class Codes:
    """LAPACK's codes of matrices: the first column at which each has failed, counted from one; 0: at none."""

    def __init__(self, local: Any, columns: Split) -> None:
        self._columns = columns
        self._first = local.new_full(local.shape[:-2], _NONE, dtype=EXPORTS["int32"])

    def add(self, codes: Any, panel: Panel) -> None:
        """Note the codes of a panel, which only the process that has it knows."""
        found = (codes + panel.start).where(codes > 0, codes).masked_fill(codes == 0, _NONE)
        self._first = self._first.minimum(found)

    def all(self) -> Any:
        """Return the codes, in all processes."""
        first = self._columns.smallest(self._first)
        return first.masked_fill(first == _NONE, 0)
