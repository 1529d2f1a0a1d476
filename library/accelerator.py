"""The namespace `opweave.accelerator`: the kind of device beside the CPU that was registered as such.

Functions that take a device take one of any registered kind: a `device`, its text, the index of an accelerator, or None
for the current one. Where there is no accelerator these two raise RuntimeError.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from ._base import devices
from ._base.devices import device
from ._dispatch.pending_checks import raise_failed
from ._dispatch.transfer import to_cpu
from ._handle import device_memory, empty_device_cache

__all__ = [
    "current_accelerator",
    "current_device_idx",
    "current_device_index",
    "current_stream",
    "device_count",
    "device_index",
    "empty_cache",
    "empty_host_cache",
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
    """Return whether there is an accelerator."""
    return devices.accelerator() is not None


def device_count() -> int:
    """Return the number of accelerators."""
    row = devices.accelerator()
    return row.count if row else 0


def current_accelerator(check_available: bool = False) -> device | None:
    """Return the kind of device that accelerators are, without an index; None where there are none."""
    row = devices.accelerator()
    return device(row.name) if row else None


def current_device_index() -> int:
    """Return the index of the accelerator that is meant where none is named, in this thread."""
    return _chosen(None).index or 0


def set_device_index(device: device | str | int | None, /) -> None:
    """Choose the accelerator that is meant in this thread where only its kind is named; None leaves it."""
    if device is not None:
        devices.set_current(_chosen(device))


@contextmanager
def device_index(device: int | None, /) -> Iterator[None]:
    """A context in which the accelerator with that index is the current one; None leaves it."""
    if device is None:
        yield
        return
    before = _chosen(None)
    set_device_index(device)
    try:
        yield
    finally:
        devices.set_current(before)


def synchronize(device: device | str | int | None = None, /) -> None:
    """Wait until all that was begun on a device is done. Raise the error of a check of values that has failed there."""
    where = _chosen(device)
    row, index = devices.functions_of(where)
    row.synchronize(index)
    raise_failed(where, to_cpu)


def empty_cache() -> None:
    """Give all registered devices back the memory that no tensor uses. Raise RuntimeError where there is none."""
    numbers = [number for number, each in devices.BY_NUMBER.items() if devices.is_registered(each)]
    if not numbers:
        _chosen(None)
    for number in numbers:
        empty_device_cache(number)


def empty_host_cache() -> None:
    """Give back memory of the CPU that was pinned and that no tensor uses, of which there is none."""
    _chosen(None)


def memory_allocated(device_index: device | str | int | None = None, /) -> int:
    """Return the bytes that tensors hold on a device."""
    return _memory(device_index)[0]


def max_memory_allocated(device_index: device | str | int | None = None, /) -> int:
    """Return the most bytes that tensors held on a device at once, since the start or `reset_peak_memory_stats`."""
    return _memory(device_index)[1]


def memory_reserved(device_index: device | str | int | None = None, /) -> int:
    """Return the bytes that a device has given: those of tensors, and those that are kept for others."""
    return _memory(device_index)[2]


def max_memory_reserved(device_index: device | str | int | None = None, /) -> int:
    """Return the most bytes that a device had given at once, since the start or `reset_peak_memory_stats`."""
    return _memory(device_index)[3]


def memory_stats(device_index: device | str | int | None = None, /) -> dict[str, int]:
    """Return what the functions of memory do, under torch's keys, such as `allocated_bytes.all.peak`."""
    keys = (f"{what}_bytes.all.{when}" for what in ("allocated", "reserved") for when in ("current", "peak"))
    return dict(zip(keys, _memory(device_index), strict=True))


def reset_peak_memory_stats(device_index: device | str | int | None = None, /) -> None:
    """Measure the most bytes of a device anew, from what there is now."""
    _memory(device_index, True)


def get_memory_info(device_index: device | str | int | None = None, /) -> NoReturn:
    """Raise NotImplementedError: a registered device does not say how much memory it has."""
    raise NotImplementedError(f"the device {_chosen(device_index)} does not say how much memory it has")


def current_stream(device: device | str | int | None = None, /) -> NoReturn:
    """Raise NotImplementedError: what is begun on a registered device is done in that order."""
    raise NotImplementedError(f"the device {_chosen(device)} has no streams: it does what is begun in that order")


def set_stream(stream: Any) -> NoReturn:
    """Raise NotImplementedError, as `current_stream` does."""
    current_stream()


def _chosen(value: device | str | int | None) -> device:
    row = devices.accelerator()
    if row is None and (value is None or isinstance(value, int)):
        raise RuntimeError("Cannot access accelerator device when none is available.")
    named: Any = row.name if row and value is None else value
    found = devices.available(device(named))
    if not devices.is_registered(found):
        raise ValueError(f"{found.type} doesn't match the current accelerator {row and row.name}.")
    return found


def _memory(value: device | str | int | None, resets_peaks: bool = False) -> tuple[int, int, int, int]:
    return device_memory(devices.number_of(_chosen(value)), resets_peaks)


current_device_idx, set_device_idx = current_device_index, set_device_index
