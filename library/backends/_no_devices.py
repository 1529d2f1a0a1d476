"""The functions of the namespaces `opweave.cuda` and `opweave.xpu`, which say that there are no such devices.

Questions are answered, and what concerns every device there is does nothing, for there is none. What needs one raises
the exception that torch raises then.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from .._base.errors import OutOfMemoryError as OutOfMemoryError
from .._base.refusals import refused_class

# ---- questions ----------------------------------------------------------------------------------------------

default_generators: tuple[Any, ...] = ()


def is_available() -> bool:
    """Return whether there is such a device: False."""
    return False


def is_current_stream_capturing() -> bool:
    """Return whether calls on such a device are recorded: False."""
    return False


def is_initialized() -> bool:
    """Return whether such a device was used already: False."""
    return False


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Return whether such a device computes in bfloat16: False."""
    return False


def is_tf32_supported() -> bool:
    """Return whether such a device computes in formats between float16 and float32: False."""
    return False


def device_count() -> int:
    """Return the number of such devices: 0."""
    return 0


def get_arch_list() -> list[str]:
    """The architectures that this build has code for: none."""
    return []


def memory_allocated(device: Any = None) -> int:
    """Bytes in use of the memory of such devices: 0."""
    return 0


max_memory_allocated = memory_reserved = max_memory_reserved = memory_allocated


def memory_stats(device: Any = None) -> dict[str, int]:
    """The counters of their allocator: none."""
    return {}


def get_rng_state_all() -> list[Any]:
    """The state of each device's generator: none."""
    return []


# ---- what concerns all devices, of which there are none -----------------------------------------------------


def empty_cache() -> None:
    """Gives back cached memory."""


def reset_peak_memory_stats(device: Any = None) -> None:
    """Reset the statistics of peak memory; does nothing."""


reset_max_memory_allocated = reset_peak_memory_stats


def manual_seed(seed: int) -> None:
    """Seeds their generators."""


def seed() -> None:
    """Seed their generators; does nothing."""


def set_rng_state_all(new_states: Any) -> None:
    """Sets the states of their generators."""


manual_seed_all, seed_all = manual_seed, seed

# ---- what needs one -----------------------------------------------------------------------------------------


def _refuse(*args: Any, **kwargs: Any) -> NoReturn:
    """Raises AssertionError: it needs a device."""
    raise AssertionError("opweave is not compiled with CUDA or XPU: tensors live on the CPU")


_NONE = "there are no such devices. Tensors live on the CPU"
CUDAGraph, Event, ExternalStream, Stream, StreamContext, graph = (
    refused_class(__name__, name, _NONE)
    for name in ("CUDAGraph", "Event", "ExternalStream", "Stream", "StreamContext", "graph")
)
current_device = current_stream = default_stream = get_device_capability = get_device_name = _refuse
get_device_properties = get_rng_state = init = initial_seed = ipc_collect = mem_get_info = memory_summary = _refuse
set_device = set_rng_state = set_stream = synchronize = _refuse


@contextmanager
def device(device: Any) -> Iterator[None]:
    """A context in which that device is the current one; None and negative numbers stand for none."""
    if not (device is None or (isinstance(device, int) and device < 0)):
        _refuse()
    yield


@contextmanager
def stream(stream: Any) -> Iterator[None]:
    """A context in which that stream is the current one; None stands for none."""
    if stream is not None:
        _refuse()
    yield


__all__ = [
    "CUDAGraph",
    "Event",
    "ExternalStream",
    "OutOfMemoryError",
    "Stream",
    "StreamContext",
    "current_device",
    "current_stream",
    "default_generators",
    "default_stream",
    "device",
    "device_count",
    "empty_cache",
    "get_arch_list",
    "get_device_capability",
    "get_device_name",
    "get_device_properties",
    "get_rng_state",
    "get_rng_state_all",
    "graph",
    "init",
    "initial_seed",
    "ipc_collect",
    "is_available",
    "is_bf16_supported",
    "is_current_stream_capturing",
    "is_initialized",
    "is_tf32_supported",
    "manual_seed",
    "manual_seed_all",
    "max_memory_allocated",
    "max_memory_reserved",
    "mem_get_info",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "memory_summary",
    "reset_max_memory_allocated",
    "reset_peak_memory_stats",
    "seed",
    "seed_all",
    "set_device",
    "set_rng_state",
    "set_rng_state_all",
    "set_stream",
    "stream",
    "synchronize",
]
