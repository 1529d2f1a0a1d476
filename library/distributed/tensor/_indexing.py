"""Positions along a dimension that is sharded: each process looks at those that it has, and what others have is zero.

The results are terms of a sum: an embedding whose table is sharded by rows never gathers it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from ..._dispatch.dispatcher import redispatch
from ..._dispatch.infer import infer
from ..._dispatch.op import INPLACE, NEW, Op
from ..._dispatch.ops import ops
from ._answers import answer
from ._call import REPLICATE, SUM
from ._parts import KEY, made, moved, part_of, written_to
from ._spec import Part, extents
from .placement_types import Placement, Shard

Placements: TypeAlias = tuple[Placement, ...]


class _Range:
    """The positions along a dimension that this process has."""

    def __init__(self, shape: Sequence[int], part: Part, dim: int) -> None:
        sizes, offsets = extents(shape, part.mesh, part.placements)
        self.size, self._start = sizes[dim], offsets[dim]

    def local(self, index: Any) -> tuple[Any, Any]:
        """Return positions within the part, some position for others, and which are others."""
        places = index - self._start
        return places.clamp(0, self.size - 1), (places < 0) | (places >= self.size)


def _others(tensor: Any, dim: int, index: Any) -> Placements | None:
    """The placements of what has one value for all positions of a dimension; None: it is not sharded, elements are
    terms, or an index for each element has fewer of them than the tensor where that is sharded."""
    placements = part_of(tensor).placements if tensor.ndim else ()
    if Shard(dim) not in placements or any(each.is_partial() for each in placements):
        return None
    dims = [each.dim for each in placements if isinstance(each, Shard) and each.dim != dim]
    if index.ndim not in (1, tensor.ndim) or (index.ndim > 1 and any(index.shape[k] != tensor.shape[k] for k in dims)):
        return None
    return tuple([REPLICATE if each == Shard(dim) else each for each in placements])


def select(op: Op, args: Sequence[Any], mode: int) -> Any:
    """Elements at positions: a vector of them for all rows (`index_select`), or one for each element (`gather`)."""
    tensor, dim, index, *rest = args
    dim %= max(tensor.ndim, 1)
    others = _others(tensor, dim, index)
    if mode != NEW or others is None:
        return _of_some_positions(op, args, mode)
    described, part = infer(op, args, None, NEW), part_of(tensor)
    local = part.local.new_zeros(extents(described.shape, part.mesh, others)[0])
    own, positions = _Range(tensor.shape, part, dim), _local_index(index, others)
    if own.size:
        places, is_other = own.local(positions)
        found = redispatch(op, [part.local, dim, places, *rest], below=KEY)
        local = found.masked_fill(_along(is_other, dim, tensor.ndim), 0)
    placements = tuple([SUM if each == Shard(dim) else each for each in part.placements])
    return made(Part(local, part.mesh, placements), described.shape, described.stride())


def _of_some_positions(op: Op, args: Sequence[Any], mode: int) -> Any:
    """Elements at the positions of a vector of which each process has some; of the tensor it has all along that
    dimension."""
    tensor, dim, index, *_ = args
    if mode != NEW or op is not ops.index_select.op or not tensor.ndim:
        return NotImplemented
    own, given = part_of(tensor), part_of(index)
    along = Shard(dim % tensor.ndim)
    kept: dict[tuple[Placement, Placement], Placement] = {
        (REPLICATE, REPLICATE): REPLICATE,
        (REPLICATE, Shard(0)): along,
        **{(Shard(each), REPLICATE): Shard(each) for each in range(tensor.ndim) if Shard(each) != along},
    }
    pairs = list(zip(own.placements, given.placements, strict=True))
    if Shard(0) not in given.placements or any(pair not in kept for pair in pairs):
        return NotImplemented
    local = ops.index_select(own.local, dim, given.local)
    described = infer(op, args, None, NEW)
    return made(Part(local, own.mesh, tuple([kept[pair] for pair in pairs])), described.shape, described.stride())


def add(op: Op, args: Sequence[Any], mode: int) -> Any:
    """Values added at positions: a vector of them (`index_add`), or one for each value (`scatter_add`)."""
    tensor, dim, index, source, *rest = args
    dim %= max(tensor.ndim, 1)
    others = _others(tensor, dim, index)
    if others is None or source.ndim != tensor.ndim:
        return NotImplemented
    described, part = infer(op, args, None, mode), part_of(tensor)
    values = moved(source, others)
    local = part.local if mode == INPLACE else part.local.clone()
    own, positions = _Range(tensor.shape, part, dim), _local_index(index, others)
    if own.size:
        places, is_other = own.local(positions)
        values = values.masked_fill(_along(is_other, dim, tensor.ndim), 0)
        redispatch(op, [local, dim, places, values, *rest], None, INPLACE, below=KEY)
    if mode == INPLACE:
        written_to(tensor)
        return tensor
    return made(Part(local, part.mesh, part.placements), described.shape, described.stride())


def _local_index(index: Any, others: Placements) -> Any:
    """The positions of this process; those of a vector are the same for all."""
    return moved(index, others if len(index.shape) > 1 else (REPLICATE,) * len(others))


def _along(mask: Any, dim: int, ndim: int) -> Any:
    """A mask of the positions of a vector, as one of whole rows; one for each element as it is."""
    return mask if mask.ndim == ndim else mask.view([-1 if each == dim else 1 for each in range(ndim)])


def sum_rows(op: Op, args: Sequence[Any], mode: int) -> Any:
    """Sums of the rows of one index. Where each process has all rows it computes some of the sums; where each has some
    rows, the sums are terms, unless the rows have fewer elements and are gathered."""
    source, index, _ = args
    described, part = infer(op, args, None, NEW), part_of(source)
    is_small = source.numel() < described.numel()
    given = tuple([REPLICATE if is_small and each == Shard(0) else each for each in part.placements])
    sums = {Shard(0): SUM, SUM: SUM, REPLICATE: Shard(0), Shard(1): Shard(1)}
    if any(each not in sums for each in given):
        return NotImplemented
    placements = tuple([sums[each] for each in given])
    result = Part(part.local.new_zeros(extents(described.shape, part.mesh, placements)[0]), part.mesh, placements)
    own = _Range(described.shape, result, 0)
    rows = moved(source, given)
    positions = moved(index, [each if each == Shard(0) else REPLICATE for each in given])
    if own.size:
        places, is_other = own.local(positions)
        result.local.index_add_(0, places, rows.masked_fill(is_other.unsqueeze(1), 0))
    return made(result, described.shape, described.stride())


answer(select, ops.index_select, ops.gather)
answer(add, ops.index_add, ops.scatter_add)
answer(sum_rows, ops.sums_of_rows)
