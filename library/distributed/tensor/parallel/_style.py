"""Base class and helpers of styles: tensors that come to placements, and parameters that are sharded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....nn import Module, Parameter
from ...device_mesh import DeviceMesh
from .._parts import is_distributed
from .._tensor import DTensor, distribute_tensor
from ..placement_types import Placement, normalized


class ParallelStyle:
    """The base class of styles, which say how a module is split."""

    src_data_rank: int | None = 0
    """The index of the process whose parameters are distributed; None: each takes a part of its own."""

    def _apply(self, module: Module, device_mesh: DeviceMesh) -> Module:
        raise NotImplementedError(f"{type(self).__name__} does not say how a module is split: define _apply()")

    def _shard(self, module: Module, mesh: DeviceMesh, placements: dict[str, Placement]) -> None:
        """Distribute the parameters that a module has of these."""
        for name, placement in placements.items():
            given = module._parameters.get(name)
            if given is not None:
                whole = distribute_tensor(given, mesh, [placement], src_data_rank=self.src_data_rank)
                module.register_parameter(name, Parameter(whole, given.requires_grad))


def brought(value: Any, mesh: DeviceMesh, layout: Placement | None, wanted: Placement | None) -> Any:
    """Return a tensor at a placement; `layout` is that of a tensor which is not distributed. Where one of them is None
    the value stays as it is."""
    if layout is None:
        return value
    if not is_distributed(value):
        value = DTensor.from_local(value, mesh, [layout])
    if wanted is None:
        return value
    found = normalized([wanted], mesh.ndim, value.ndim)
    return value if value.placements == found else value.redistribute(placements=found)


def given_back(value: Any, is_local: bool) -> Any:
    """Return a distributed tensor, or the part of this process."""
    return value.to_local() if is_local and is_distributed(value) else value


def listed(layouts: Placement | Sequence[Placement | None] | None) -> tuple[Placement | None, ...]:
    """Return placements as a tuple, also a single one."""
    if layouts is None:
        return ()
    return (layouts,) if isinstance(layouts, Placement) else tuple(layouts)
