"""Memory of the CPU allocator: what tensors hold, what the cache keeps, and how to make it give memory back.

Reads the core's counters through `_C`; the tables below mirror the lists in `core/memory/allocator.h`, in their order.
The functions and the keys of `memory_stats` follow `torch.cuda`, whose allocator works in the same way.
"""

from __future__ import annotations

from .._C import ffi, lib
from .type_names import type_name

__all__ = [
    "empty_cache",
    "max_memory_allocated",
    "max_memory_reserved",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "memory_summary",
    "reset_peak_memory_stats",
    "set_memory_cap",
]

STATISTICS = (
    "allocation",
    "allocated_bytes",
    "segment",
    "reserved_bytes",
    "inactive_split",
    "inactive_split_bytes",
)
POOLS = ("all", "small_pool", "large_pool")
FIELDS = ("current", "peak", "allocated", "freed")
COUNTERS = ("num_alloc_retries", "num_ooms", "memory_cap", "memory_limit")

# What torch calls active: memory in use, or waiting for a stream. A CPU has no streams, so it is what is allocated.
_ALIASES = {"active": "allocation", "active_bytes": "allocated_bytes"}

_KEYS = tuple(f"{s}.{p}.{f}" for s in STATISTICS for p in POOLS for f in FIELDS) + COUNTERS


def memory_stats() -> dict[str, int]:
    """Return every counter of the allocator.

    Keys are `statistic.pool.field`, such as `allocated_bytes.all.peak`. The small pool serves requests up to
    64 KiB, the large pool the others; `allocated` and `freed` are sums over the life of the process. Beside them
    stand `num_alloc_retries` (requests that succeeded only after emptying the cache), `num_ooms` (requests that
    failed), `memory_cap` (idle bytes above this are given back to the system) and `memory_limit` (what this process
    may use). Idle objects of the small pool are not counted as `inactive_split`.
    """
    values = ffi.new("int64_t[]", len(_KEYS))
    lib.memory_statistics(values, len(_KEYS))
    stats = dict(zip(_KEYS, ffi.unpack(values, len(_KEYS)), strict=True))
    for alias, name in _ALIASES.items():
        for pool in POOLS:
            for field in FIELDS:
                stats[f"{alias}.{pool}.{field}"] = stats[f"{name}.{pool}.{field}"]
    return stats


def memory_allocated() -> int:
    """Return the bytes that tensors hold now, rounded up as the allocator does."""
    return memory_stats()["allocated_bytes.all.current"]


def max_memory_allocated() -> int:
    """Return the most bytes that tensors held at once since the start or `reset_peak_memory_stats`."""
    return memory_stats()["allocated_bytes.all.peak"]


def memory_reserved() -> int:
    """Return the bytes that the allocator has from the system: those of tensors and those of the cache."""
    return memory_stats()["reserved_bytes.all.current"]


def max_memory_reserved() -> int:
    """Return the most bytes that the allocator had from the system at once."""
    return memory_stats()["reserved_bytes.all.peak"]


def reset_peak_memory_stats() -> None:
    """Start measuring peaks anew, from the current values."""
    lib.memory_reset_peak()


def empty_cache() -> None:
    """Give memory that no tensor uses back to the system. Small objects cached by other threads stay with them."""
    lib.memory_empty_cache()


def set_memory_cap(nbytes: int) -> None:
    """Set how many idle bytes the cache may keep; 0 keeps none but the idle parts of segments in use.

    The default is a quarter of the memory, or what the environment variable `OPWEAVE_MEMORY_CAP` says (`512M`, `2G`).
    """
    if isinstance(nbytes, bool) or not isinstance(nbytes, int):
        raise TypeError(f"set_memory_cap(): nbytes must be int, not {type_name(nbytes)}")
    if not 0 <= nbytes < 2**63:
        raise ValueError(f"set_memory_cap(): nbytes must be between 0 and 2**63 - 1, got {nbytes}")
    lib.memory_set_cap(nbytes)


def _size(nbytes: int) -> str:
    value = float(nbytes)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(value) < 1024:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:.1f} TiB"


def memory_summary() -> str:
    """Return the statistics as a table for people."""
    stats = memory_stats()
    titles = ("", "current", "peak", "allocated", "freed")
    rows = []
    for name in STATISTICS:
        for pool in POOLS:
            values = [stats[f"{name}.{pool}.{field}"] for field in FIELDS]
            texts = [_size(v) if name.endswith("_bytes") else f"{v:,}" for v in values]
            label = name.replace("_", " ") if pool == "all" else "    " + pool.replace("_", " ")
            rows.append((label, *texts))
    line = "-" * 79
    lines = ["opweave CPU memory", line, "{:<23}{:>14}{:>14}{:>14}{:>14}".format(*titles), line]
    lines += ["{:<23}{:>14}{:>14}{:>14}{:>14}".format(*row) for row in rows]
    lines += [
        line,
        f"cache keeps up to {_size(stats['memory_cap'])} idle; this process may use {_size(stats['memory_limit'])}",
        f"failed requests: {stats['num_ooms']:,}; saved by emptying the cache: {stats['num_alloc_retries']:,}",
    ]
    return "\n".join(lines)
