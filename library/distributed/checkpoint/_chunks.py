"""The part of a tensor that this process has, as a chunk of the whole, and the regions that chunks have in common."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from ..._base.types import Size
from ..tensor import DTensor
from ..tensor._parts import is_distributed, part_of
from ..tensor._spec import extents
from .metadata import ChunkStorageMetadata, MetadataIndex, TensorStorageMetadata
from .planner import LoadItemType, ReadItem

__all__ = ["is_distributed", "local_chunk", "local_part", "narrowed", "overlap", "reads_of_tensor", "with_part"]


def local_chunk(key: str, tensor: Any) -> ChunkStorageMetadata | None:
    """Return what this process has of a tensor; None: it is not in the tensor's mesh.

    Raises:
        ValueError: its parts are terms of a sum.
    """
    if not is_distributed(tensor):
        return ChunkStorageMetadata(Size([0] * tensor.ndim), tensor.size())
    part = part_of(tensor)
    if any(each.is_partial() for each in part.placements):
        raise ValueError(
            f"{key}: {list(part.placements)} has partial sums, which are no elements. Use redistribute() first"
        )
    if part.mesh.get_coordinate() is None:
        return None
    sizes, offsets = extents(tensor.shape, part.mesh, part.placements)
    return ChunkStorageMetadata(Size(offsets), Size(sizes))


def local_part(tensor: Any) -> Any:
    """Return the elements that this process has of a tensor, without a graph."""
    return (part_of(tensor).local if is_distributed(tensor) else tensor).detach()


def with_part(tensor: Any, local: Any) -> Any:
    """Return a tensor that is distributed as another one is, with other elements of this process."""
    if not is_distributed(tensor):
        return local
    part = part_of(tensor)
    return DTensor.from_local(local, part.mesh, part.placements, shape=tensor.size(), stride=tensor.stride())


def narrowed(tensor: Any, offsets: Sequence[int], lengths: Sequence[int]) -> Any:
    """Return a region of a tensor."""
    for dim, (offset, length) in enumerate(zip(offsets, lengths, strict=True)):
        tensor = tensor.narrow(dim, offset, length)
    return tensor


def overlap(one: ChunkStorageMetadata, other: ChunkStorageMetadata) -> tuple[list[int], list[int]] | None:
    """Return the position and the sizes of what two chunks have in common; None: nothing."""
    starts = [max(pair) for pair in zip(one.offsets, other.offsets, strict=True)]
    ends = [
        min(a + size_a, b + size_b)
        for a, size_a, b, size_b in zip(one.offsets, one.sizes, other.offsets, other.sizes, strict=True)
    ]
    sizes = [end - start for start, end in zip(starts, ends, strict=True)]
    return (starts, sizes) if all(size > 0 for size in sizes) else None


def reads_of_tensor(key: str, saved: TensorStorageMetadata, wanted: ChunkStorageMetadata) -> list[ReadItem]:
    """Return the regions of saved chunks that make a chunk.

    Raises:
        ValueError: they do not make all of it.
    """
    items = []
    for index, chunk in enumerate(saved.chunks):
        common = overlap(chunk, wanted)
        if common is not None:
            start, sizes = common
            items.append(
                ReadItem(
                    LoadItemType.TENSOR,
                    MetadataIndex(key, wanted.offsets),
                    _minus(start, wanted.offsets),
                    MetadataIndex(key, chunk.offsets, index),
                    _minus(start, chunk.offsets),
                    Size(sizes),
                )
            )
    if sum(prod(item.lengths) for item in items) != prod(wanted.sizes):
        raise ValueError(f"the checkpoint does not have all elements of {key}")
    return items


def _minus(one: Sequence[int], other: Sequence[int]) -> Size:
    return Size([a - b for a, b in zip(one, other, strict=True)])
