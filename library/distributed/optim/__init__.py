"""The namespace `opweave.distributed.optim`: optimizers of several processes."""

from __future__ import annotations

from ..._names.refusals import refused_class
from .zero_redundancy import ZeroRedundancyOptimizer

__all__ = ["DistributedOptimizer", "PostLocalSGDOptimizer", "ZeroRedundancyOptimizer"]

_ABSENT = "it is not there yet. Use ZeroRedundancyOptimizer, or the collectives of opweave.distributed"
DistributedOptimizer, PostLocalSGDOptimizer = (
    refused_class(__name__, name, _ABSENT) for name in ("DistributedOptimizer", "PostLocalSGDOptimizer")
)
