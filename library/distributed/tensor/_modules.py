"""Modules whose parameters are distributed tensors."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from ...nn import Module, Parameter
from ..device_mesh import DeviceMesh, current_mesh
from ._parts import is_distributed
from ._tensor import distribute_tensor
from .placement_types import Replicate

__all__ = ["distribute_module"]


def distribute_module(
    module: Module,
    device_mesh: DeviceMesh | None = None,
    partition_fn: Callable[[str, Module, DeviceMesh], None] | None = None,
    input_fn: Callable[[Module, Any, DeviceMesh], Any] | None = None,
    output_fn: Callable[[Module, Any, DeviceMesh], Any] | None = None,
) -> Module:
    """Distribute the parameters and buffers of a module over a mesh, in place, and return it.

    Args:
        module (Module): the module.
        device_mesh (DeviceMesh): the processes; None: the current mesh.
        partition_fn (callable): called with the name of each module, the module and the mesh, to replace its
            parameters; those that it leaves are replicated.
        input_fn (callable): called with the module, its positional arguments and the mesh before each call of the
            module; what it returns are the arguments.
        output_fn (callable): called with the module, its result and the mesh after each call; what it returns is the
            result.

    Raises:
        ValueError: `input_fn` or `output_fn` does not take three arguments.
        RuntimeError: the module is distributed already.
    """
    mesh = current_mesh() if device_mesh is None else device_mesh
    if getattr(module, "_distribute_module_applied", False):
        raise RuntimeError(
            "distribute_module should only be called once on a module, but it has already been called on this module!"
        )
    for name, each in module.named_modules():
        if partition_fn is not None:
            partition_fn(name, each, mesh)
        _replicate(each, mesh)
    for function, what in ((input_fn, "input_fn"), (output_fn, "output_fn")):
        if function is not None and len(inspect.signature(function).parameters) != 3:
            raise ValueError(
                f"{what} should take in 3 arguments, but got {len(inspect.signature(function).parameters)} arguments!"
            )
    if input_fn is not None:
        module.register_forward_pre_hook(lambda own, inputs: input_fn(own, inputs, mesh))
    if output_fn is not None:
        module.register_forward_hook(lambda own, inputs, outputs: output_fn(own, outputs, mesh))
    module._distribute_module_applied = True
    return module


def _replicate(module: Module, mesh: DeviceMesh) -> None:
    placements = [Replicate()] * mesh.ndim
    for name, each in module._parameters.items():
        if each is not None and not is_distributed(each):
            whole = distribute_tensor(each.data, mesh, placements)
            module.register_parameter(name, Parameter(whole, each.requires_grad))
    for name, buffer in module._buffers.items():
        if buffer is not None and not is_distributed(buffer):
            module._buffers[name] = distribute_tensor(buffer, mesh, placements)
