"""opweave.utils.data.distributed: the sampler of one of several processes."""

from __future__ import annotations

from .sampler import DistributedSampler

__all__ = ["DistributedSampler"]
