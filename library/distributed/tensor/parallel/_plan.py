"""Plans: the styles of the modules within a module, by name."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from fnmatch import fnmatch

from ....nn import Module
from ...device_mesh import DeviceMesh, current_mesh
from ._style import ParallelStyle

__all__ = ["parallelize_module"]


def parallelize_module(
    module: Module,
    device_mesh: DeviceMesh | None = None,
    parallelize_plan: ParallelStyle | Mapping[str, ParallelStyle] | None = None,
    *,
    src_data_rank: int | None = 0,
) -> Module:
    """Split a module over a mesh of one dimension, in place, and return it.

    Args:
        module (Module): the module.
        device_mesh (DeviceMesh): the processes; None: the current mesh.
        parallelize_plan (ParallelStyle or dict): the style of the module, or those of modules within it by name, whose
            parts may be patterns as of files (`layers.*.linear`).
        src_data_rank (int): the index of the process whose parameters are distributed; None: each takes a part of its
            own.

    Warns of names that no module has, and where there is no plan, which leaves the module as it is.

    Raises:
        TypeError: the plan is neither.
    """
    mesh = current_mesh() if device_mesh is None else device_mesh
    if parallelize_plan is None:
        warnings.warn(
            "No parallelize_plan is provided and auto-parallel is not supported at the moment, so this "
            "parallelize_module call will do nothing.",
            stacklevel=2,
        )
        return module
    if isinstance(parallelize_plan, ParallelStyle):
        parallelize_plan.src_data_rank = src_data_rank
        return parallelize_plan._apply(module, mesh)
    if not isinstance(parallelize_plan, Mapping):
        raise TypeError(
            "Expect Union[ParallelStyle, Dict[str, ParallelStyle]] for parallelize_plan, "
            f"{type(parallelize_plan)} found!"
        )
    for path, style in parallelize_plan.items():
        found = _matching(module, path.split(".")) if path else [module]
        if not found:
            warnings.warn(
                f"Parallelize plan key '{path}' could not be resolved: no submodule of {type(module).__name__} has "
                "such a name, skipping this plan entry.",
                stacklevel=2,
            )
        for each in found:
            parallelize_module(each, mesh, style, src_data_rank=src_data_rank)
    return module


def _matching(module: Module, parts: list[str]) -> list[Module]:
    """The modules within one whose names match, part by part."""
    found = [module]
    for part in parts:
        found = [child for each in found for name, child in each.named_children() if fnmatch(name, part)]
    return found
