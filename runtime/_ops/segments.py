"""Segments: adjacent positions along a dimension, which `segment_reduce` reduces."""

from __future__ import annotations

from math import inf
from typing import Any

from .._base.dtypes import EXPORTS
from .._dispatch.ops import ops
from .values import has_values, wide

__all__ = ["reduced_segments", "segments_of"]

_REDUCTIONS = {
    "sum": ("sum", 0),
    "mean": ("sum", 0),
    "prod": ("prod", 1),
    "max": ("amax", -inf),
    "amax": ("amax", -inf),
    "min": ("amin", inf),
    "amin": ("amin", inf),
}
"""The operator that joins elements and the value of no elements, by the word of a reduction."""


_INCOMPLETE = (
    "segment_reduce(): Expected all rows of lengths along axis to sum to data.size(lengths.dim()-1) when !unsafe."
)


class Segments:
    """The assignment of the rows of a tensor to segments; its first dimensions are flattened into one."""

    __slots__ = ("lengths", "owners", "rows", "shape")

    def __init__(self, shape: list[int], owners: Any, rows: Any, lengths: Any) -> None:
        self.shape = shape
        """The shape of the segments: the dimensions before the one that is reduced, and the number of segments in
        each."""
        self.owners = owners
        """The segment of each row that belongs to one, counted through all dimensions;"""
        self.rows = rows
        """and where the row stands, None where all belong to one."""
        self.lengths = lengths


def segments_of(data: Any, reduce: str, lengths: Any, indices: Any, offsets: Any, axis: int, unsafe: bool) -> Segments:
    """Return the segments, after the checks of `segment_reduce`."""
    if reduce not in _REDUCTIONS:
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    if indices is not None:
        raise RuntimeError("segment_reduce(): indices based reduction is not supported yet.")
    name, given = ("lengths", lengths) if offsets is None else ("offsets", offsets)
    if given is None:
        raise RuntimeError("segment_reduce(): Either lengths or offsets must be defined.")
    if given.dtype not in (EXPORTS["int64"], EXPORTS["int32"]):
        raise NotImplementedError(f"\"_segment_reduce_lengths_cpu\" not implemented for '{given.dtype.scalar_name}'")
    if axis != given.ndim - 1:
        raise RuntimeError(f"segment_reduce(): Expected axis to be the last dimension of lengths but got {axis}.")
    if list(given.shape[:-1]) != list(data.shape[:axis]):
        raise RuntimeError(
            f"segment_reduce(): expected {name} whose dimensions before the last are those of data before axis {axis}, "
            f"but got shapes {list(given.shape)} and {list(data.shape)}"
        )
    if name == "offsets" and not given.size(-1):
        raise RuntimeError("segment_reduce(): offsets should have at least 1 element along axis, but got 0")
    size = data.size(axis)
    if not has_values(data) or not has_values(given):
        number = given.size(-1) - (name == "offsets")
        rows = data.new_empty(data.shape[: axis + 1].numel(), dtype=EXPORTS["int64"])
        return Segments([*given.shape[:-1], number], rows, None, rows.new_empty(given.shape[:-1].numel() * number))
    given = given.long()
    lengths = given.diff() if name == "offsets" else given
    starts = given[..., :-1] if name == "offsets" else lengths.cumsum(-1) - lengths
    _check(starts, lengths, size, name, unsafe)
    count = lengths.numel()
    shape = list(lengths.shape)
    blocks = ops.arange(lengths.shape[:-1].numel()).unsqueeze(1) * size
    starts, lengths = (starts.reshape(len(blocks), -1) + blocks).flatten(), lengths.flatten()
    owners = ops.arange(count).repeat_interleave(lengths)
    if name == "lengths" and owners.numel() == data.shape[: axis + 1].numel():
        return Segments(shape, owners, None, lengths)
    before = lengths.cumsum(0) - lengths
    return Segments(shape, owners, ops.arange(owners.numel()) + (starts - before)[owners], lengths)


def _check(starts: Any, lengths: Any, size: int, name: str, unsafe: bool) -> None:
    what = "lengths contains" if name == "lengths" else "segment_reduce(): a difference of offsets is a"
    ops.assert_values(lengths >= 0, "RuntimeError", f"{what} negative value!")
    if name == "lengths" and not unsafe:
        ops.assert_values(lengths.sum(-1) == size, "RuntimeError", _INCOMPLETE)
    beyond = f"segment_reduce(): segments reach beyond the {size} positions along axis, by their {name}"
    ops.assert_values((starts >= 0) & (starts + lengths <= size), "RuntimeError", beyond)


def reduced_segments(data: Any, segments: Segments, reduce: str, axis: int, initial: Any) -> Any:
    """Return what becomes of each segment; half formats are computed in float32."""
    joined, nothing = _REDUCTIONS[reduce]
    rows = wide(data).flatten(0, axis)
    if segments.rows is not None:
        rows = rows.index_select(0, segments.rows)
    start = rows.new_full((segments.lengths.numel(), *data.shape[axis + 1 :]), nothing)
    if joined == "sum":
        result = start.index_add(0, segments.owners, rows)
    else:
        result = start.index_reduce(0, segments.owners, rows, joined, include_self=False)
    if initial is not None:
        first = start.new_full((), initial)
        if joined == "sum":
            result = result + first
        elif joined == "prod":
            result = result * first
        else:
            result = ops.where(first > result if joined == "amax" else first < result, first, result)
    if reduce == "mean":
        counts = segments.lengths.view(-1, *(1,) * (result.ndim - 1))
        result = result / (counts if initial is None else counts.clamp(min=1))
    return result.reshape(*segments.shape, *data.shape[axis + 1 :]).to(data.dtype)
