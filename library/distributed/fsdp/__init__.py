"""The namespace `opweave.distributed.fsdp`: modules whose parameters are divided among processes."""

from __future__ import annotations

from ..._names.refusals import refused_class
from ._fully_shard import (
    DataParallelMeshDims,
    FSDPModule,
    UnshardHandle,
    fully_shard,
    register_fsdp_forward_method,
    share_comm_ctx,
)
from ._policies import CPUOffloadPolicy, MixedPrecisionPolicy, OffloadPolicy

_ONE_WAY = "modules are sharded by fully_shard(). Use it, and distributed.checkpoint.state_dict for states"
_CLASSES = (
    "BackwardPrefetch",
    "CPUOffload",
    "FullOptimStateDictConfig",
    "FullStateDictConfig",
    "FullyShardedDataParallel",
    "LocalOptimStateDictConfig",
    "LocalStateDictConfig",
    "MixedPrecision",
    "OptimStateDictConfig",
    "OptimStateKeyType",
    "ShardedOptimStateDictConfig",
    "ShardedStateDictConfig",
    "ShardingStrategy",
    "StateDictConfig",
    "StateDictSettings",
    "StateDictType",
)

globals().update({name: refused_class(__name__, name, _ONE_WAY) for name in _CLASSES})

__all__ = [
    *_CLASSES,
    "CPUOffloadPolicy",
    "DataParallelMeshDims",
    "FSDPModule",
    "MixedPrecisionPolicy",
    "OffloadPolicy",
    "UnshardHandle",
    "fully_shard",
    "register_fsdp_forward_method",
    "share_comm_ctx",
]
