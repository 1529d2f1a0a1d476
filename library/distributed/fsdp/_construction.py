"""Construction of `FullyShardedDataParallel`: its mesh, the elements of its parameters, its policy of dtypes."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from ...nn import Module
from ..device_mesh import DeviceMesh, init_device_mesh
from ..initialization import get_world_size
from ..process_group import default_group
from ._module import FSDPModule
from ._policies import MixedPrecisionPolicy
from ._settings import MixedPrecision, ShardingStrategy

__all__ = ["KEEPING", "materialize", "mesh_of", "policy_of"]

_REPLICATED = (ShardingStrategy.HYBRID_SHARD, ShardingStrategy._HYBRID_SHARD_ZERO2)
KEEPING = (ShardingStrategy.SHARD_GRAD_OP, ShardingStrategy._HYBRID_SHARD_ZERO2)
"""The strategies that keep whole parameters from the forward to the backward pass."""


def mesh_of(strategy: ShardingStrategy, group: Any, mesh: DeviceMesh | None) -> DeviceMesh:
    """Return the mesh of a strategy, of which the last dimension shards."""
    if mesh is not None and group is not None:
        raise ValueError("Cannot pass both process_group and device_mesh at the same time.")
    if strategy in _REPLICATED:
        if group is not None:
            raise ValueError(f"{strategy} takes its processes from a device_mesh of two dimensions, not from groups")
        if mesh is None:
            nodes = get_world_size() // int(os.environ.get("LOCAL_WORLD_SIZE", get_world_size()))
            mesh = init_device_mesh("cpu", (nodes, get_world_size() // nodes), mesh_dim_names=("replicate", "shard"))
        if mesh.ndim != 2:
            raise ValueError(f"{strategy} expects a device_mesh of two dimensions, but got {mesh}")
        return mesh
    if mesh is None:
        mesh = DeviceMesh.from_group(group or default_group(), "cpu")
    is_whole = strategy is ShardingStrategy.NO_SHARD
    if mesh.ndim == 1:
        return DeviceMesh("cpu", mesh.mesh.view(-1, 1), mesh_dim_names=("replicate", "shard")) if is_whole else mesh
    if is_whole and mesh.size(-1) == 1:
        return mesh
    raise ValueError(f"{strategy} expects a device_mesh of one dimension, but got {mesh}")


def materialize(module: Module, initialize: Callable[[Module], None] | None) -> None:
    """Give parameters on the device `meta` elements."""
    for each in module.modules():
        own = [*each.parameters(recurse=False), *each.buffers(recurse=False)]
        if all(tensor.device.type != "meta" for tensor in own) or isinstance(each, FSDPModule):
            continue
        if initialize is not None:
            initialize(each)
        else:
            each.to_empty(device="cpu", recurse=False)
            each.reset_parameters()


def policy_of(module: Module, given: MixedPrecision) -> MixedPrecisionPolicy:
    """Return the policy of a module, whose buffers get their dtype."""
    if given.buffer_dtype is not None:
        for each in module.modules():
            for name, buffer in each._buffers.items():
                if buffer is not None and buffer.is_floating_point():
                    each._buffers[name] = buffer.to(given.buffer_dtype)
    is_cast = given.cast_forward_inputs or given.cast_root_forward_inputs
    return MixedPrecisionPolicy(given.param_dtype, given.reduce_dtype, cast_forward_inputs=is_cast)
