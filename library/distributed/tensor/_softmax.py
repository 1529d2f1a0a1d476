"""Softmax along a dimension that is sharded: its largest element and its sum are those of all processes.

`cross_entropy` of scores that are sharded by class follows, without gathering them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..._dispatch.infer import infer
from ..._dispatch.op import NEW, Op
from ..._dispatch.ops import ops
from ._answers import answer
from ._call import REPLICATE
from ._parts import made, moved, part_of
from ._redistribute import redistributed
from ._spec import Part
from .placement_types import Partial, Placement, Shard


class _Rows:
    """Rows of which each process has a part.

    Attributes:
        local: the part of this process, in float32 where it is narrower.
        placements: those of what has one value for each row.
    """

    def __init__(self, tensor: Any, dim: int) -> None:
        self._part, self._dim = part_of(tensor), dim
        self._shape = [1 if each == dim else size for each, size in enumerate(tensor.shape)]
        local = self._part.local
        self.local = local.float() if local.itemsize < 4 else local
        self.placements = tuple([REPLICATE if each == Shard(dim) else each for each in self._part.placements])

    def reduced(self, local: Any, word: str) -> Any:
        """Return what a value of each process reduces to, one for each row."""
        terms = tuple([Partial(word) if each == Shard(self._dim) else each for each in self._part.placements])
        return redistributed(local, self._shape, self._part.mesh, terms, self.placements)

    def total(self, elements: Any) -> Any:
        """Return the sums of elements."""
        return self.reduced(elements.sum(self._dim, True), "sum")

    def parts(self) -> tuple[Any, Any]:
        """Return the largest elements, and the sums of the exponentials of differences from them."""
        shape = [1 if each == self._dim else size for each, size in enumerate(self.local.shape)]
        has_elements = self.local.size(self._dim)
        largest = self.local.amax(self._dim, True) if has_elements else self.local.new_full(shape, float("-inf"))
        top = self.reduced(largest, "max")
        return top, self.total((self.local - top).exp())


def _is_sharded(tensor: Any, dim: int) -> bool:
    """Return whether a dimension is sharded, and no element is a sum."""
    placements = part_of(tensor).placements
    return Shard(dim) in placements and not any(each.is_partial() for each in placements)


def _whole(described: Any, local: Any, like: Any) -> Any:
    part = Part(local.to(described.dtype), part_of(like).mesh, part_of(like).placements)
    return made(part, described.shape, described.stride())


def _shares(local: Any, top: Any, total: Any) -> Any:
    return (local - top).exp() / total


def _logarithms(local: Any, top: Any, total: Any) -> Any:
    return local - top - total.log()


def normalize(op: Op, args: Sequence[Any], mode: int) -> Any:
    """Softmax, and its logarithm."""
    tensor, dim, dtype = args
    if mode != NEW or not tensor.ndim or not _is_sharded(tensor, dim % tensor.ndim):
        return NotImplemented
    rows = _Rows(tensor if dtype is None else tensor.to(dtype), dim % tensor.ndim)
    function = _shares if op is ops.softmax.op else _logarithms
    return _whole(infer(op, args, None, NEW), function(rows.local, *rows.parts()), tensor)


def slope(op: Op, args: Sequence[Any], mode: int) -> Any:
    """Gradients of both, from that of the result and the result."""
    gradient, result, dim = args
    dim %= max(result.ndim, 1)
    if mode != NEW or not _is_sharded(result, dim):
        return NotImplemented
    rows, given = _Rows(result, dim), moved(gradient, part_of(result).placements)
    if op is ops.softmax_slope.op:
        found = rows.local * (given - rows.total(given * rows.local))
    else:
        found = given - rows.local.exp() * rows.total(given)
    return _whole(infer(op, args, None, NEW), found, result)


def parts(op: Op, args: Sequence[Any], mode: int) -> Any:
    """The largest element of each row, and the sum of exponentials."""
    tensor, dims, keepdim = args
    dim = dims[0] if isinstance(dims, (list, tuple)) else dims
    if mode != NEW or not tensor.ndim or not _is_sharded(tensor, dim % tensor.ndim):
        return NotImplemented
    dim %= tensor.ndim
    rows = _Rows(tensor, dim)
    placements = rows.placements if keepdim else tuple([_without(each, dim) for each in rows.placements])
    return tuple([
        made(
            Part((found if keepdim else found.squeeze(dim)).to(described.dtype), part_of(tensor).mesh, placements),
            described.shape,
            described.stride(),
        )
        for described, found in zip(infer(op, args, None, NEW), rows.parts(), strict=True)
    ])  # fmt: skip


def _without(placement: Placement, dim: int) -> Placement:
    """The placement of a tensor that lacks a dimension."""
    return Shard(placement.dim - 1) if isinstance(placement, Shard) and placement.dim > dim else placement


answer(normalize, ops.softmax, ops.log_softmax)
answer(slope, ops.softmax_slope, ops.log_softmax_slope)
answer(parts, ops.softmax_parts)
