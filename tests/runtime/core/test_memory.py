"""The allocator's statistics, its cap, its failures, and the Python functions of runtime/_base/memory.py over them."""

from __future__ import annotations

import importlib
import re
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .conftest import CORE, F32, ROOT, U8, Core, load_core

MIB = 1 << 20


@pytest.fixture
def memory(core: Core) -> Iterator[Any]:
    """runtime/_base/memory.py over the library under test."""
    package = types.ModuleType("core_under_test")
    package.__path__ = [str(ROOT / "runtime")]
    module = types.ModuleType("core_under_test._C")
    module.__dict__.update(ffi=core.ffi, lib=core.lib)
    sys.modules.update({"core_under_test": package, "core_under_test._C": module})
    loaded = importlib.import_module("core_under_test._base.memory")
    cap = loaded.memory_stats()["memory_cap"]
    core.lib.memory_empty_cache()
    loaded.reset_peak_memory_stats()
    yield loaded
    core.lib.memory_set_cap(cap)
    for name in [name for name in sys.modules if name.partition(".")[0] == "core_under_test"]:
        del sys.modules[name]


def test_tables_mirror_the_header(memory: Any) -> None:
    header = (CORE / "memory" / "allocator.h").read_text()
    statistics = re.search(r"#define OW_STATISTICS\(X\)(.*?)\n\n", header, re.S)
    counters = re.search(r"#define OW_COUNTERS\(X\)(.*?)\n\n", header, re.S)
    assert statistics is not None
    assert counters is not None
    assert tuple(re.findall(r"X\((\w+)\)", statistics[1])) == memory.STATISTICS
    assert tuple(re.findall(r"X\((\w+)\)", counters[1])) == memory.COUNTERS
    assert "OW_POOL_ALL, OW_POOL_SMALL, OW_POOL_LARGE" in header
    assert "int64_t current, peak, allocated, freed;" in header


def test_small_tensors_are_counted_exactly(core: Core, memory: Any) -> None:
    before = memory.memory_stats()
    tensors = [core.empty([4]) for _ in range(1000)]
    during = memory.memory_stats()
    each = 256  # 64 of storage, 128 of handle, 16 of data
    assert during["allocated_bytes.all.current"] - before["allocated_bytes.all.current"] == 1000 * each
    assert during["allocation.small_pool.current"] - before["allocation.small_pool.current"] == 1000
    assert during["reserved_bytes.all.current"] >= during["allocated_bytes.all.current"]
    for t in tensors:
        core.lib.release(t)
    after = memory.memory_stats()
    assert after["allocated_bytes.all.current"] == before["allocated_bytes.all.current"]
    assert after["allocated_bytes.all.peak"] == during["allocated_bytes.all.current"]
    assert after["active.small_pool.freed"] - before["active.small_pool.freed"] == 1000
    memory.reset_peak_memory_stats()
    assert memory.max_memory_allocated() == memory.memory_allocated()


def test_large_blocks_are_reused_split_and_coalesced(core: Core, memory: Any) -> None:
    first = core.empty([10_000_000])
    address = core.lib.data_ptr(first)
    assert address % 64 == 0
    reserved = memory.memory_reserved()
    core.lib.release(first)
    assert memory.memory_reserved() == reserved, "kept for the next one"
    parts = [core.empty([2_000_000]) for _ in range(3)]
    stats = memory.memory_stats()
    assert stats["reserved_bytes.large_pool.current"] == reserved - stats["reserved_bytes.small_pool.current"]
    assert stats["inactive_split.all.current"] >= 1
    assert core.lib.data_ptr(parts[0]) == address, "the front of the block that was free"
    for k in (0, 2, 1):  # the middle one joins both neighbours
        core.lib.release(parts[k])
    assert memory.memory_stats()["inactive_split.all.current"] == 0
    again = core.empty([10_000_000])
    assert core.lib.data_ptr(again) == address
    core.lib.release(again)
    memory.empty_cache()
    assert memory.memory_stats()["segment.large_pool.current"] == 0


def test_best_fit_takes_the_smallest_hole(core: Core, memory: Any) -> None:
    tensors = [core.empty([n * MIB], dtype=U8) for n in (30, 50, 40)]
    addresses = [core.lib.data_ptr(t) for t in tensors]
    for t in tensors:
        core.lib.release(t)
    best = core.empty([35 * MIB], dtype=U8)
    assert core.lib.data_ptr(best) == addresses[2]
    core.lib.release(best)


def test_cap_gives_idle_memory_back(core: Core, memory: Any) -> None:
    memory.set_memory_cap(64 * MIB)
    for _ in range(3):
        tensors = [core.empty([30 * MIB], dtype=U8) for _ in range(4)]
        for t in tensors:
            core.lib.release(t)
        stats = memory.memory_stats()
        idle = stats["reserved_bytes.all.current"] - stats["allocated_bytes.all.current"]
        assert 30 * MIB < idle <= 64 * MIB
    memory.set_memory_cap(0)
    assert memory.memory_stats()["segment.large_pool.current"] == 0
    core.lib.release(core.empty([30 * MIB], dtype=U8))
    assert memory.memory_stats()["segment.large_pool.current"] == 0


@pytest.mark.parametrize("value", [1.5, True, None, "1G"])
def test_cap_wants_an_int(memory: Any, value: object) -> None:
    with pytest.raises(TypeError, match="must be int"):
        memory.set_memory_cap(value)


@pytest.mark.parametrize("value", [-1, 2**63])
def test_cap_wants_a_possible_number(memory: Any, value: int) -> None:
    with pytest.raises(ValueError, match="between 0 and"):
        memory.set_memory_cap(value)


@pytest.mark.parametrize("elements", [2**44, 2**50, 2**60 - 1])
def test_impossible_request_is_an_error(core: Core, memory: Any, elements: int) -> None:
    ooms = memory.memory_stats()["num_ooms"]
    assert core.empty([elements]) == 0
    kind, text = core.error()
    assert kind == 7  # OW_OUT_OF_MEMORY
    assert f"you tried to allocate {elements * 4} bytes" in text
    assert "may use" in text
    assert memory.memory_stats()["num_ooms"] == ooms + 1
    assert core.error() == (0, ""), "taking clears it"


def test_summary_reads_well(core: Core, memory: Any) -> None:
    t = core.empty([MIB], dtype=F32)
    text = memory.memory_summary()
    core.lib.release(t)
    lines = text.splitlines()
    assert all(len(line) <= 90 for line in lines)
    row = next(line for line in lines if line.startswith("reserved bytes"))
    assert re.search(r"\d+\.\d MiB", row)
    assert sum(line.startswith("    small pool") for line in lines) == len(memory.STATISTICS)


def test_the_namespace_has_the_functions() -> None:
    text = (ROOT / "library" / "cpu" / "__init__.py").read_text("utf-8")
    for name in ("memory_stats", "memory_summary", "empty_cache", "set_memory_cap", "max_memory_reserved"):
        assert f'"{name}"' in text


def test_library_can_be_loaded_twice(core_library: Path) -> None:
    assert load_core(core_library).lib.operator_count() >= 1
