"""Settings of `fully_shard`: the dtypes of computation and of gradients, and where shards are kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["CPUOffloadPolicy", "MixedPrecisionPolicy", "OffloadPolicy"]


@dataclass(frozen=True)
class MixedPrecisionPolicy:
    """The dtypes that a module computes with. Its shards, and what optimizers do to them, keep their own.

    Attributes:
        param_dtype: that of whole floating parameters, and of their gradients; None: that of the shards.
        reduce_dtype: that in which gradients are added up over processes; None: that of gradients.
        output_dtype: that to which floating tensors among the results are converted; None: they stay.
        cast_forward_inputs: whether floating tensors among the arguments are converted to `param_dtype`.
    """

    param_dtype: Any = None
    reduce_dtype: Any = None
    output_dtype: Any = None
    cast_forward_inputs: bool = True


@dataclass
class OffloadPolicy:
    """The policy that leaves shards on the device of the mesh."""


@dataclass
class CPUOffloadPolicy(OffloadPolicy):
    """The policy that keeps shards on the CPU, where they are in any case; `pin_memory` is without effect."""

    pin_memory: bool = True
