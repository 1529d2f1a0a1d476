"""Payloads of distributed tensors: the part of this process, and how the parts make the whole."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ..device_mesh import DeviceMesh
from .placement_types import Placement, Shard

__all__ = ["Part", "Parts", "extents", "level_size"]


class Part(NamedTuple):
    """The elements of this process.

    Attributes:
        local: the dense tensor that has them.
        mesh: the processes.
        placements: how the parts make the whole, by dimension of the mesh.
        view: what makes this of all elements of the tensor that it is a view of, where `local` is a copy of elements of
            other processes; None: it is no such copy.
        version: how often the memory had been written to when the elements were copied.
    """

    local: Any
    mesh: DeviceMesh
    placements: tuple[Placement, ...]
    view: Callable[[Any], Any] | None = None
    version: int = 0


class Parts:
    """The payload of a distributed tensor and of its views, which share it as they share memory.

    Attributes:
        shape: sizes of the tensor that was made first.
        geometry: its dtype, sizes, strides and position.
        base: its part.
        views: the parts of its views, by their geometry.
    """

    __slots__ = ("base", "geometry", "shape", "views")

    def __init__(self, base: Part, shape: tuple[int, ...]) -> None:
        self.base, self.shape = base, shape
        self.geometry: Any = None
        self.views: dict[Any, Part] = {}


def extents(
    shape: Sequence[int], mesh: DeviceMesh, placements: Sequence[Placement], coordinate: Sequence[int] | None = None
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the sizes of the part of a process, and the position of its first element in the whole.

    `coordinate` are the indices of the process in the mesh; None: those of this one. Where several dimensions of the
    mesh shard one of the tensor, each shards the shards of those before it.
    """
    if coordinate is None:
        coordinate = mesh.get_coordinate()
    sizes, offsets = list(shape), [0] * len(shape)
    if coordinate is None:  # the process is not in the mesh
        return (0,) * len(sizes), tuple(offsets)
    for mesh_dim, placement in enumerate(placements):
        if isinstance(placement, Shard):
            dim = placement.dim
            sizes[dim], start = Shard.local_shard_size_and_offset(sizes[dim], mesh.size(mesh_dim), coordinate[mesh_dim])
            offsets[dim] += start
    return tuple(sizes), tuple(offsets)


def level_size(shape: Sequence[int], mesh: DeviceMesh, placements: Sequence[Placement], mesh_dim: int, dim: int) -> int:
    """Return the size of a dimension of the tensor that a dimension of the mesh shards: that of the shard which the
    dimensions of the mesh before it have left."""
    before = [each if index < mesh_dim else Placement() for index, each in enumerate(placements)]
    return extents(shape, mesh, before)[0][dim]
