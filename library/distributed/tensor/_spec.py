"""What a distributed tensor consists of: the part of this process, and how the parts make the whole."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ..device_mesh import DeviceMesh
from .placement_types import Placement, Shard

__all__ = ["Part", "extents", "level_size"]


class Part(NamedTuple):
    """The payload of a distributed tensor.

    Attributes:
        local: the dense tensor of this process.
        mesh: the processes.
        placements: how the parts make the whole, by dimension of the mesh.
        base: the distributed tensor that this one is a view of; None: of none.
        view: what makes the view of all elements of the base, where the part is a copy of elements of other processes;
            None: the part shares the memory of the base's.
        version: how often the base had been written to when its elements were copied.
    """

    local: Any
    mesh: DeviceMesh
    placements: tuple[Placement, ...]
    base: Any = None
    view: Callable[[Any], Any] | None = None
    version: int = 0


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
