"""The namespace `opweave.xpu`: XPU devices, of which there are none."""

from __future__ import annotations

from typing import Any

from .errors import OutOfMemoryError
from .no_devices import NoDevices

__all__ = [
    "Event",
    "OutOfMemoryError",
    "Stream",
    "current_device",
    "current_stream",
    "default_generators",
    "device",
    "device_count",
    "empty_cache",
    "get_arch_list",
    "get_device_capability",
    "get_device_name",
    "get_device_properties",
    "get_rng_state",
    "get_rng_state_all",
    "init",
    "initial_seed",
    "is_available",
    "is_bf16_supported",
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

_none = NoDevices("XPU")

device = _none.device
device_count = _none.device_count
empty_cache = _none.empty_cache
get_arch_list = _none.get_arch_list
get_rng_state_all = _none.get_rng_state_all
is_available = _none.is_available
is_bf16_supported = _none.is_bf16_supported
is_initialized = _none.is_initialized
is_tf32_supported = _none.is_tf32_supported
manual_seed = _none.manual_seed
manual_seed_all = _none.manual_seed
max_memory_allocated = _none.bytes_in_use
max_memory_reserved = _none.bytes_in_use
memory_allocated = _none.bytes_in_use
memory_reserved = _none.bytes_in_use
memory_stats = _none.memory_stats
reset_peak_memory_stats = _none.reset_peak_memory_stats
seed = _none.seed_all
seed_all = _none.seed_all
set_rng_state_all = _none.set_rng_state_all
stream = _none.stream

Event = Stream = current_device = current_stream = get_device_capability = get_device_name = _none.refuse
get_device_properties = get_rng_state = init = initial_seed = mem_get_info = memory_summary = _none.refuse
set_device = set_rng_state = set_stream = synchronize = _none.refuse
default_generators: tuple[Any, ...] = ()
