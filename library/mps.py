"""The namespace `opweave.mps`: Apple's devices, of which there are none."""

from __future__ import annotations

from typing import Any, NoReturn

__all__ = [
    "current_allocated_memory",
    "device_count",
    "driver_allocated_memory",
    "empty_cache",
    "get_rng_state",
    "is_available",
    "manual_seed",
    "recommended_max_memory",
    "seed",
    "set_per_process_memory_fraction",
    "set_rng_state",
    "synchronize",
]


def is_available() -> bool:
    """Return whether there is such a device: False."""
    return False


def device_count() -> int:
    """Return the number of such devices: 0."""
    return 0


def manual_seed(seed: int) -> None:
    """Seeds the generators of all devices, of which there are none."""


def _refuse(*args: Any, **kwargs: Any) -> NoReturn:
    """Raises RuntimeError: it needs a device."""
    raise RuntimeError("opweave is not compiled with MPS: tensors live on the CPU")


current_allocated_memory = driver_allocated_memory = recommended_max_memory = _refuse
empty_cache = synchronize = set_per_process_memory_fraction = _refuse
get_rng_state = set_rng_state = seed = _refuse
