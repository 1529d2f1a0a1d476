"""Meshes of processes: arrays of ranks, with a group of processes for each line along a dimension."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from math import prod
from typing import Any

from .. import _operators as ops
from .. import distributed as dist
from .._base.dtypes import EXPORTS
from .._tensor.construct import asarray

__all__ = ["DeviceMesh", "init_device_mesh"]


class DeviceMesh:
    """Ranks of processes as an array of one or more dimensions.

    All processes of the default group must make the mesh, in the same order as other meshes and groups, as the groups
    of its lines are made with it.

    Args:
        device_type (str): the kind of device of its tensors.
        mesh (Tensor or nested list): ranks, each once.
        mesh_dim_names (tuple of str): names of the dimensions, by which parts of it are taken.

    Raises:
        ValueError: ranks repeat, or there are not as many names as dimensions.
        RuntimeError: a rank is none of the default group.
    """

    device_type: str
    mesh_dim_names: tuple[str, ...] | None

    def __init__(
        self,
        device_type: str,
        mesh: Any,
        *,
        mesh_dim_names: Sequence[str] | None = None,
        _init_backend: bool = True,
    ) -> None:
        self.device_type = device_type
        self.mesh = asarray(mesh, dtype=EXPORTS["int32"]).cpu()
        self.mesh_dim_names = None if mesh_dim_names is None else tuple(mesh_dim_names)
        self._ranks: list[int] = self.mesh.flatten().tolist()
        if len(set(self._ranks)) != len(self._ranks):
            raise ValueError(f"DeviceMesh() expects each rank once, but got {self.mesh.tolist()}")
        if self.mesh_dim_names is not None and len(self.mesh_dim_names) != self.mesh.ndim:
            raise ValueError(f"DeviceMesh() expects {self.mesh.ndim} names of dimensions, but got {mesh_dim_names}")
        if not dist.is_initialized():
            dist.init_process_group()
        world = dist.get_world_size()
        if max(self._ranks, default=-1) >= world:
            raise RuntimeError(
                f"Mesh should not be bigger than default world size {world}, but found {len(self._ranks)} ranks!"
            )
        self._groups = self._line_groups() if _init_backend else []

    def _line_groups(self) -> list[Any]:
        """Make the groups of all lines, and return those of this process by dimension."""
        if self.ndim == 1 and self._ranks == list(range(dist.get_world_size())):
            return [dist.group.WORLD]
        own: list[Any] = []
        for dim in range(self.ndim):
            groups = [
                (line, dist.new_group(line)) for line in self.mesh.movedim(dim, -1).reshape(-1, self.size(dim)).tolist()
            ]
            own.append(next((group for line, group in groups if dist.get_rank() in line), None))
        return own

    @classmethod
    def _of_groups(
        cls, device_type: str, mesh: Any, names: tuple[str, ...] | None, groups: Sequence[Any]
    ) -> DeviceMesh:
        found = cls(device_type, mesh, mesh_dim_names=names, _init_backend=False)
        found._groups = list(groups)
        return found

    @staticmethod
    def from_group(
        group: Any, device_type: str, mesh: Any = None, *, mesh_dim_names: Sequence[str] | None = None
    ) -> DeviceMesh:
        """Return the mesh of a group of processes, or of a list of groups, one for each dimension of `mesh`."""
        names = None if mesh_dim_names is None else tuple(mesh_dim_names)
        if isinstance(group, (list, tuple)) and len(group) > 1:
            if mesh is None:
                raise ValueError("Must pass mesh if passing multiple ProcessGroups")
            return DeviceMesh._of_groups(device_type, mesh, names, group)
        single = group[0] if isinstance(group, (list, tuple)) else group
        ranks = dist.get_process_group_ranks(single)
        return DeviceMesh._of_groups(device_type, ranks if mesh is None else mesh, names, [single])

    # ---- its shape ----

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return int(self.mesh.ndim)

    @property
    def shape(self) -> tuple[int, ...]:
        """The numbers of processes along the dimensions."""
        return tuple(self.mesh.shape)

    def size(self, mesh_dim: int | None = None) -> int:
        """Return the number of processes, of the whole mesh or along a dimension."""
        return len(self._ranks) if mesh_dim is None else int(self.mesh.shape[mesh_dim])

    # ---- this process ----

    def get_rank(self) -> int:
        """Return the rank of this process in the default group."""
        return int(dist.get_rank())

    def get_coordinate(self) -> list[int] | None:
        """Return the indices of this process in the mesh; None: it is not in it."""
        if dist.get_rank() not in self._ranks:
            return None
        place, found = self._ranks.index(dist.get_rank()), []
        for size in reversed(self.shape):
            place, index = divmod(place, size)
            found.append(index)
        return found[::-1]

    def get_local_rank(self, mesh_dim: int | str | None = None) -> int:
        """Return the index of this process along a dimension."""
        return int(dist.get_rank(self.get_group(mesh_dim)))

    def get_group(self, mesh_dim: int | str | None = None) -> Any:
        """Return the group of the processes in the line of this one along a dimension.

        Raises:
            RuntimeError: no dimension is given, and the mesh has more than one.
            KeyError: there is no such name.
        """
        if mesh_dim is None and self.ndim > 1:
            raise RuntimeError(
                f"Found the DeviceMesh have {self.ndim} dimensions. Optional kwarg `mesh_dim` needs to be specified "
                "when device_mesh.ndim > 1. If you want to get the list of all the ProcessGroups in the DeviceMesh, "
                "please use `get_all_groups()` instead."
            )
        return self._groups[self._dim(0 if mesh_dim is None else mesh_dim)]

    def get_all_groups(self) -> list[Any]:
        """Return the groups of this process by dimension."""
        return list(self._groups)

    def _dim(self, mesh_dim: int | str) -> int:
        if isinstance(mesh_dim, int):
            return mesh_dim
        if mesh_dim not in (self.mesh_dim_names or ()):
            raise KeyError(
                f"Invalid mesh_dim_name {mesh_dim!r} specified. Valid mesh_dim_names are {self.mesh_dim_names}."
            )
        return (self.mesh_dim_names or ()).index(mesh_dim)

    # ---- parts of it ----

    def __getitem__(self, mesh_dim_names: str | tuple[str, ...]) -> DeviceMesh:
        """Return the mesh of some dimensions, at the indices of this process in the others.

        Raises:
            RuntimeError: the dimensions have no names.
            KeyError: there is no such name.
        """
        if not self.mesh_dim_names:
            raise RuntimeError("Cannot slice a DeviceMesh without mesh_dim_names!")
        names = (mesh_dim_names,) if isinstance(mesh_dim_names, str) else tuple(mesh_dim_names)
        if names == self.mesh_dim_names:
            return self
        dims = [self._dim(name) for name in names]
        coordinate = self.get_coordinate() or [0] * self.ndim
        others = [dim for dim in range(self.ndim) if dim not in dims]
        part = self.mesh.permute(*others, *dims)[tuple(coordinate[dim] for dim in others)]
        return DeviceMesh._of_groups(self.device_type, part, names, [self._groups[dim] for dim in dims])

    def _flatten(self, mesh_dim_name: str | None = None) -> DeviceMesh:
        """Return the mesh of one dimension that has all processes of this one, with a group of their own."""
        name = mesh_dim_name or "_".join(self.mesh_dim_names or ("flat",))
        if self.ndim == 1:
            return DeviceMesh._of_groups(self.device_type, self.mesh, (name,), self._groups)
        return DeviceMesh(self.device_type, self.mesh.flatten(), mesh_dim_names=(name,))

    # ---- as the current mesh ----

    def __enter__(self) -> DeviceMesh:
        _current.meshes.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        _current.meshes.pop()

    # ---- as a value ----

    def _key(self) -> tuple[Any, ...]:
        return (self.device_type, self.shape, tuple(self._ranks), self.mesh_dim_names)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DeviceMesh) and (self is other or self._key() == other._key())

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        names = self.mesh_dim_names
        sizes = ", ".join(f"{name}={size}" for name, size in zip(names, self.shape, strict=True)) if names else None
        shape = self.shape if sizes is None else f"({sizes})"
        return f"DeviceMesh({shape}, '{self.device_type}', stride={tuple(self.mesh.stride())})"

    def __reduce__(self) -> Any:
        return _made_again, (self.device_type, self.mesh.tolist(), self.mesh_dim_names)


class _Current(threading.local):
    def __init__(self) -> None:
        self.meshes: list[DeviceMesh] = []


_current = _Current()


def _made_again(device_type: str, mesh: Any, names: tuple[str, ...] | None) -> DeviceMesh:
    return DeviceMesh(device_type, mesh, mesh_dim_names=names)


def current_mesh() -> DeviceMesh:
    """Return the innermost mesh that a `with` statement has entered. Raises RuntimeError where there is none."""
    if not _current.meshes:
        raise RuntimeError("No device mesh is currently active! Give `device_mesh`, or enter one by `with mesh:`")
    return _current.meshes[-1]


def init_device_mesh(
    device_type: str, mesh_shape: Sequence[int], *, mesh_dim_names: Sequence[str] | None = None
) -> DeviceMesh:
    """Return the mesh of a shape that has all processes in the order of their ranks.

    Args:
        device_type (str): the kind of device of its tensors.
        mesh_shape (tuple of int): numbers of processes along the dimensions.
        mesh_dim_names (tuple of str): names of the dimensions.

    Raises:
        RuntimeError: names repeat, or are not as many as dimensions; the type has an index; there are fewer processes.
    """
    shape = tuple(mesh_shape)
    if mesh_dim_names is not None:
        if len(set(mesh_dim_names)) != len(mesh_dim_names):
            raise RuntimeError(
                "Each mesh_dim_name must be unique. Found repeated mesh_dim_name in mesh_dim_names "
                f"{tuple(mesh_dim_names)}"
            )
        if len(shape) != len(mesh_dim_names):
            raise RuntimeError(
                "mesh_shape and mesh_dim_names should have same length! Found len(mesh_dim_names): "
                f"{len(mesh_dim_names)} and len(mesh_shape):{len(shape)}."
            )
    if not device_type.isalpha():
        raise RuntimeError(f"Device type with index is not supported but got {device_type}.")
    return DeviceMesh(device_type, ops.arange(prod(shape)).view(shape), mesh_dim_names=mesh_dim_names)
