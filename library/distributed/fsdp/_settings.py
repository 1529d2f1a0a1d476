"""Settings of `FullyShardedDataParallel`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any

from ...nn.modules.batchnorm import _BatchNorm

__all__ = [
    "BackwardPrefetch",
    "CPUOffload",
    "FullOptimStateDictConfig",
    "FullStateDictConfig",
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
]


class ShardingStrategy(Enum):
    """The processes among which parameters are divided, and whether they are released after forward passes."""

    FULL_SHARD = auto()
    SHARD_GRAD_OP = auto()
    NO_SHARD = auto()
    HYBRID_SHARD = auto()
    _HYBRID_SHARD_ZERO2 = auto()


class BackwardPrefetch(Enum):
    """The time at which the parameters of the next module are asked for; without effect."""

    BACKWARD_PRE = auto()
    BACKWARD_POST = auto()


@dataclass
class MixedPrecision:
    """The dtypes that a module computes with: see `MixedPrecisionPolicy`.

    Attributes:
        param_dtype, reduce_dtype: those of whole parameters and of reductions.
        buffer_dtype: that to which floating buffers are converted.
        keep_low_precision_grads: without effect: gradients have the dtype of the shards.
        cast_forward_inputs, cast_root_forward_inputs: whether arguments are converted, if one of both says so.
    """

    param_dtype: Any = None
    reduce_dtype: Any = None
    buffer_dtype: Any = None
    keep_low_precision_grads: bool = False
    cast_forward_inputs: bool = False
    cast_root_forward_inputs: bool = True
    _module_classes_to_ignore: Sequence[type] = (_BatchNorm,)


@dataclass
class CPUOffload:
    """The place where shards are kept, which is the CPU in any case."""

    offload_params: bool = False


class StateDictType(Enum):
    """The form of a state dict: whole tensors, or DTensors with the shards."""

    FULL_STATE_DICT = auto()
    LOCAL_STATE_DICT = auto()
    SHARDED_STATE_DICT = auto()


class OptimStateKeyType(Enum):
    """The keys of a state of an optimizer."""

    PARAM_NAME = auto()
    PARAM_ID = auto()


@dataclass
class StateDictConfig:
    """The options of a state dict; `offload_to_cpu` is whether its tensors are on the CPU."""

    offload_to_cpu: bool = False


@dataclass
class FullStateDictConfig(StateDictConfig):
    """The options of a state dict of whole tensors; `rank0_only`: the other processes get an empty one."""

    rank0_only: bool = False


@dataclass
class LocalStateDictConfig(StateDictConfig):
    """The options of a form that is refused."""


@dataclass
class ShardedStateDictConfig(StateDictConfig):
    """The options of a state dict of DTensors."""

    _use_dtensor: bool = False


@dataclass
class OptimStateDictConfig:
    """The options of the state of an optimizer; `offload_to_cpu` is whether its tensors are on the CPU."""

    offload_to_cpu: bool = True


@dataclass
class FullOptimStateDictConfig(OptimStateDictConfig):
    """The options of a state of whole tensors; `rank0_only`: the other processes get an empty one."""

    rank0_only: bool = False


@dataclass
class LocalOptimStateDictConfig(OptimStateDictConfig):
    """The options of a form that is refused."""

    offload_to_cpu: bool = False


@dataclass
class ShardedOptimStateDictConfig(OptimStateDictConfig):
    """The options of a state of DTensors."""

    _use_dtensor: bool = False


@dataclass
class StateDictSettings:
    """The form of state dicts and its options."""

    state_dict_type: StateDictType = StateDictType.FULL_STATE_DICT
    state_dict_config: StateDictConfig = field(default_factory=FullStateDictConfig)
    optim_state_dict_config: OptimStateDictConfig = field(default_factory=FullOptimStateDictConfig)
