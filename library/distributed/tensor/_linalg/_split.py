"""Dimensions of matrices that are split over processes: who has which part, and how the others get it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from functools import cached_property
from itertools import product
from typing import Any, NamedTuple

from .... import distributed as dist
from ...device_mesh import DeviceMesh
from .._spec import extents
from ..placement_types import Placement

__all__ = ["Panel", "Split"]

WIDTH = 256
"""The most columns of a panel: few enough that the other processes have something to do meanwhile."""


class Panel(NamedTuple):
    """Some columns, or rows, of a matrix, and the indices in the mesh of the process that has them."""

    start: int
    stop: int
    owner: tuple[int, ...]

    @property
    def width(self) -> int:
        """The number of columns, or rows."""
        return self.stop - self.start


class Split:
    """A dimension of a tensor whose parts lie on the processes of a mesh.

    Attributes:
        placements: those of the tensor.
        dim: the dimension.
        size: its size.
        first, last: where the part of this process begins and ends.
    """

    def __init__(self, mesh: DeviceMesh, shape: Sequence[int], placements: tuple[Placement, ...], dim: int) -> None:
        self._mesh, self._shape, self.placements, self._whole_dim = mesh, shape, placements, dim
        self._lines = [mesh_dim for mesh_dim, each in enumerate(placements) if each.is_shard(dim)]
        self._own = tuple(mesh.get_coordinate() or [0] * mesh.ndim)
        self.dim, self.size = dim, shape[dim]
        self.first, self.last = self._range(self._own)

    def _range(self, coordinate: Sequence[int]) -> tuple[int, int]:
        sizes, offsets = extents(self._shape, self._mesh, self.placements, coordinate)
        return offsets[self._whole_dim], offsets[self._whole_dim] + sizes[self._whole_dim]

    @property
    def turned(self) -> Split:
        """The same of matrices that are transposed."""
        found = copy(self)
        found.dim = 2 * len(self._shape) - 3 - self.dim
        return found

    @property
    def batch(self) -> list[Placement | None]:
        """By dimension of the mesh, the placement of a batch of matrices; None where it is whole."""
        dims = range(len(self._shape) - 2)
        return [each if any(each.is_shard(dim) for dim in dims) else None for each in self.placements]

    @cached_property
    def parts(self) -> list[Panel]:
        """The parts of all processes; a single one if each has all."""
        found = []
        for indices in product(*[range(self._mesh.size(line)) for line in self._lines]):
            owner = list(self._own)
            for line, index in zip(self._lines, indices, strict=True):
                owner[line] = index
            found.append(Panel(*self._range(owner), tuple(owner)))
        return found

    def panels(self, end: int | None = None) -> Iterator[Panel]:
        """Yield the parts, in pieces that are not too wide, up to an end."""
        for part in self.parts:
            last = part.stop if end is None else min(part.stop, end)
            for start in range(part.start, last, WIDTH):
                yield Panel(start, min(start + WIDTH, last), part.owner)

    def is_own(self, panel: Panel) -> bool:
        """Return whether this process has a panel."""
        return panel.owner == self._own

    def of(self, local: Any, panel: Panel) -> Any:
        """Return a panel that this process has, as a view of its part."""
        return local.narrow(self.dim, panel.start - self.first, panel.width)

    def after(self, local: Any, position: int) -> tuple[int, Any]:
        """Return where the part of this process goes on from a position, and the view of it from there."""
        start = min(max(self.first, position), self.last)
        return start, local.narrow(self.dim, start - self.first, self.last - start)

    def sent(self, panel: Panel, tensor: Any, like: Any, shape: Sequence[int]) -> Any:
        """Return what the process that has a panel gives, in all processes; the others give None."""
        if not self._lines:
            return tensor
        result = like.new_empty(shape) if tensor is None else tensor.resolve_conj().contiguous()
        for line in reversed(self._lines):
            if all(self._own[each] == panel.owner[each] for each in self._lines if each < line):
                dist.broadcast(result, group=self._mesh.get_group(line), group_src=panel.owner[line])
        return result

    def shared(self, panel: Panel, local: Any, across: int | None = None, begin: int = 0, end: int = 0) -> Any:
        """Return a panel in all processes; of another dimension the elements from `begin` to `end` alone."""
        shape = list(local.shape)
        shape[self.dim] = panel.width
        if across is not None:
            shape[across] = end - begin
        own = None
        if self.is_own(panel):
            own = self.of(local, panel)
            own = own if across is None else own.narrow(across, begin, end - begin)
        return self.sent(panel, own, local, shape)

    def smallest(self, tensor: Any) -> Any:
        """Return the smallest elements of those of all processes."""
        result = tensor.contiguous()
        for line in self._lines:
            dist.all_reduce(result, op=dist.ReduceOp.MIN, group=self._mesh.get_group(line))
        return result
