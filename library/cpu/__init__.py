"""The namespace `opweave.cpu`: the CPU as a device, and its memory under the names that `torch.cuda` has."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from types import ModuleType
from typing import TYPE_CHECKING, Any

from .._base.memory import (
    empty_cache,
    max_memory_allocated,
    max_memory_reserved,
    memory_allocated,
    memory_reserved,
    memory_stats,
    memory_summary,
    reset_peak_memory_stats,
    set_memory_cap,
)
from .._names import module_names

__all__ = [
    "Event",
    "Stream",
    "current_device",
    "current_stream",
    "device_count",
    "empty_cache",
    "is_available",
    "is_initialized",
    "max_memory_allocated",
    "max_memory_reserved",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "memory_summary",
    "reset_peak_memory_stats",
    "set_device",
    "set_memory_cap",
    "stream",
    "synchronize",
]
_PACKAGE_NAMES = ["Event", "Stream"]


class Stream:
    """The order of calls, which is that of the program."""

    def __init__(self, priority: int = -1) -> None:
        pass

    def wait_stream(self, stream: Any) -> None:
        """Do nothing: calls have ended when they return."""


class Event:
    """A point in the order of calls, which has passed when the program asks."""

    def query(self) -> bool:
        """Return True."""
        return True

    def record(self, stream: Any = None) -> None:
        """Do nothing."""

    def synchronize(self) -> None:
        """Do nothing."""

    def wait(self, stream: Any = None) -> None:
        """Do nothing."""


_stream = Stream()


def is_available() -> bool:
    """Return True: there is a CPU."""
    return True


def is_initialized() -> bool:
    """Return True: nothing has to be begun."""
    return True


def device_count() -> int:
    """Return 1: all processors are one device."""
    return 1


def current_device() -> str:
    """Return "cpu"."""
    return "cpu"


def set_device(device: Any) -> None:
    """Do nothing, as there is one device."""


def synchronize(device: Any = None) -> None:
    """Do nothing: calls have ended when they return."""


def current_stream(device: Any = None) -> Stream:
    """Return the one stream."""
    return _stream


def stream(stream: Stream | None) -> AbstractContextManager[None]:
    """Return a context that changes nothing, as there is one stream."""
    return nullcontext()


if not TYPE_CHECKING:  # type checkers would take every name for one of these

    def __getattr__(name: str) -> ModuleType:
        return module_names.submodule(__name__, name)
