"""The namespace `opweave.accelerator`: the kind of device beside the CPU that there is, which is none."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from ._base.devices import device

__all__ = [
    "current_accelerator",
    "current_device_idx",
    "current_device_index",
    "current_stream",
    "device_count",
    "device_index",
    "empty_cache",
    "get_memory_info",
    "is_available",
    "max_memory_allocated",
    "max_memory_reserved",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "reset_peak_memory_stats",
    "set_device_idx",
    "set_device_index",
    "set_stream",
    "synchronize",
]


def is_available() -> bool:
    """Return whether there is an accelerator: False."""
    return False


def device_count() -> int:
    """Return the number of accelerators: 0."""
    return 0


def current_accelerator(check_available: bool = False) -> device | None:
    """The kind of device that the accelerators of this build are: None."""
    return None


@contextmanager
def device_index(device: int | None) -> Iterator[None]:
    """A context in which the accelerator with that index is the current one; None stands for none."""
    if device is not None:
        _refuse()
    yield


def _refuse(*args: Any, **kwargs: Any) -> NoReturn:
    """Raises RuntimeError: it needs a device."""
    raise RuntimeError("Cannot access accelerator device when none is available.")


current_device_idx = current_device_index = set_device_idx = set_device_index = _refuse
current_stream = set_stream = synchronize = empty_cache = _refuse
get_memory_info = memory_stats = reset_peak_memory_stats = _refuse
memory_allocated = memory_reserved = max_memory_allocated = max_memory_reserved = _refuse
