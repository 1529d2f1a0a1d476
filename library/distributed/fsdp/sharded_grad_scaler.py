"""The namespace `opweave.distributed.fsdp.sharded_grad_scaler`: scaled losses of sharded modules."""

from __future__ import annotations

from typing import Any

from ...amp import GradScaler

__all__ = ["ShardedGradScaler"]


class ShardedGradScaler(GradScaler):
    """A `GradScaler`: whether a gradient that is a DTensor has infinite elements is known to all processes.

    Args:
        device (str): `cpu`; others do not scale.
        init_scale, growth_factor, backoff_factor, growth_interval, enabled: those of `GradScaler`.
        process_group: without effect.
    """

    def __init__(
        self,
        device: str = "cuda",
        init_scale: float = 2.0**16,
        backoff_factor: float = 0.5,
        growth_factor: float = 2.0,
        growth_interval: int = 2000,
        enabled: bool = True,
        process_group: Any = None,
    ) -> None:
        super().__init__(device, init_scale, growth_factor, backoff_factor, growth_interval, enabled)
