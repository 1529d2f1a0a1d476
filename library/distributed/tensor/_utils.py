"""Sizes and positions of parts, under the name by which programs of torch import the function."""

from __future__ import annotations

from collections.abc import Sequence

from ..device_mesh import DeviceMesh
from ._spec import extents
from .placement_types import Placement

__all__ = ["compute_local_shape_and_global_offset"]


def compute_local_shape_and_global_offset(
    global_shape: Sequence[int], mesh: DeviceMesh, placements: Sequence[Placement]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the sizes of the part of this process, and the position of its first element in the whole tensor."""
    return extents(global_shape, mesh, placements)
