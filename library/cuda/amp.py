"""The namespace `opweave.cuda.amp`, which torch keeps for programs of before `opweave.amp`."""

from __future__ import annotations

from functools import partial
from typing import Any

from ..amp import GradScaler as _GradScaler
from ..amp import autocast as _autocast
from ..amp import custom_bwd as _custom_bwd
from ..amp import custom_fwd as _custom_fwd

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd"]


class autocast(_autocast):  # noqa: N801 (PyTorch's name)
    """`opweave.amp.autocast("cuda", …)`: a block in which nothing happens, as there are no such devices."""

    def __init__(self, enabled: bool = True, dtype: Any = None, cache_enabled: bool = True) -> None:
        super().__init__("cuda", dtype=dtype, enabled=enabled, cache_enabled=cache_enabled)


class GradScaler(_GradScaler):
    """`opweave.amp.GradScaler("cuda", …)`, which scales nothing."""

    def __init__(
        self,
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        super().__init__("cuda", init_scale, growth_factor, backoff_factor, growth_interval, enabled)


custom_fwd = partial(_custom_fwd, device_type="cuda")
custom_bwd = partial(_custom_bwd, device_type="cuda")
