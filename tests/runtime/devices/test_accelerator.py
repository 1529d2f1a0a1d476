"""`opweave.accelerator`, and memory that devices keep for other tensors."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
from collections.abc import Iterator
from itertools import count

import devices.mirror
import opweave as ow
import pytest
from opweave import accelerator, library

GIVEN: dict[int, int] = {}
"""The blocks of `stock`: address and size."""
WAITED: list[int] = []
LIMIT = 1 << 16
_addresses = count(1 << 50, 1 << 20)


def _allocate(index: int, nbytes: int) -> int:
    if sum(GIVEN.values()) + nbytes > LIMIT:
        raise ow.OutOfMemoryError("stock is out of memory")
    address = next(_addresses)
    GIVEN[address] = nbytes
    return address


def _free(index: int, address: int, nbytes: int) -> None:
    assert GIVEN.pop(address) == nbytes


def _copy(index: int, to: int, source: int, nbytes: int) -> None:
    """Copies nothing."""


library.register_device(library.Device("stock", _allocate, _free, _copy, _copy, _copy, WAITED.append, count=2))


@pytest.fixture(autouse=True)
def empty() -> Iterator[None]:
    """Nothing is kept, and the first device is the current one."""
    yield
    accelerator.set_device_index("stock:0")
    gc.collect()
    accelerator.empty_cache()
    assert not GIVEN


def test_the_kind_that_is_registered_as_the_accelerator() -> None:
    program = """
import opweave as ow
from opweave import _torch_c, _utils, accelerator, library
nothing = lambda *numbers: None
functions = (lambda index, nbytes: 4096, nothing, nothing, nothing, nothing)
library.register_device(library.Device("other", *functions))
assert not accelerator.is_available()
library.register_device(library.Device("chip", *functions, count=3, is_accelerator=True))
try:
    library.register_device(library.Device("second", *functions, is_accelerator=True))
except ValueError as error:
    assert "beside 'chip'" in str(error), error
assert (accelerator.is_available(), accelerator.device_count()) == (True, 3)
assert accelerator.current_accelerator() == ow.device("chip") and ow.device(2) == ow.device("chip:2")
assert _utils._get_available_device_type() == _torch_c._get_accelerator().type == "chip"
with accelerator.device_index(2):
    assert accelerator.current_device_index() == 2
    assert ow.empty(1, device="chip").device == ow.device(2)
    with accelerator.device_index(None):
        assert accelerator.current_device_index() == 2
assert accelerator.current_device_index() == 0
assert accelerator.memory_allocated() == 0 and accelerator.max_memory_allocated(2) == 512
accelerator.synchronize()
try:
    accelerator.set_device_index(3)
except RuntimeError as error:
    assert "there are 3 devices" in str(error), error
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_without_a_device_there_is_none() -> None:
    program = """
import opweave as ow
a = ow.accelerator
assert (a.is_available(), a.device_count(), a.current_accelerator()) == (False, 0, None)
for call in (a.synchronize, a.empty_cache, a.memory_stats, a.current_device_index, lambda: a.set_device_index(0),
             lambda: ow.device(0), a.current_stream):
    try:
        call()
    except RuntimeError as error:
        assert str(error) == "Cannot access accelerator device when none is available.", error
    else:
        raise AssertionError(call)
with a.device_index(None):
    pass
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_the_current_one_of_a_kind() -> None:
    assert ow.empty(1, device="stock").device == ow.device("stock:0")
    accelerator.set_device_index("stock:1")
    assert ow.empty(1, device="stock").device == ow.device("stock:1")
    assert ow.empty(1, device="stock:0").device == ow.device("stock:0")
    found: list[ow.device] = []
    thread = threading.Thread(target=lambda: found.append(ow.empty(1, device="stock").device))
    thread.start()
    thread.join()
    assert found == [ow.device("stock:0")]
    with pytest.raises(RuntimeError, match="there are 2 devices of this kind"):
        accelerator.set_device_index("stock:2")
    with pytest.raises(ValueError, match="cpu doesn't match the current accelerator"):
        accelerator.set_device_index("cpu")


def test_synchronize() -> None:
    WAITED.clear()
    accelerator.synchronize("stock:1")
    accelerator.synchronize(ow.device("stock"))
    assert WAITED == [1, 0]


def test_what_no_registered_device_has() -> None:
    for call in (accelerator.get_memory_info, accelerator.current_stream):
        with pytest.raises(NotImplementedError, match="the device stock:1"):
            call("stock:1")


def test_blocks_are_kept_for_tensors_of_their_size() -> None:
    x = ow.empty(100, device="stock")
    address = x.data_ptr()
    assert [*GIVEN.items()] == [(address, 512)]
    del x
    assert [*GIVEN.items()] == [(address, 512)]
    y = ow.empty(128, device="stock")
    assert y.data_ptr() == address
    z = ow.empty(129, device="stock")
    other = ow.empty(100, device="stock:1")
    assert len({y.data_ptr(), z.data_ptr(), other.data_ptr()}) == 3
    assert sorted(GIVEN.values()) == [512, 512, 1024]
    del y, z, other
    accelerator.empty_cache()
    assert not GIVEN


@pytest.mark.parametrize("nbytes", [1, 511, 512, 513, 8192, 8193, 8705, 20000, 40961])
def test_sizes_are_rounded_up_by_a_sixteenth_at_most(nbytes: int) -> None:
    x = ow.empty(nbytes, dtype=ow.uint8, device="stock")
    (given,) = GIVEN.values()
    assert nbytes <= given <= max(nbytes + 511, nbytes * 17 // 16)
    del x


def test_memory_is_counted() -> None:
    accelerator.reset_peak_memory_stats("stock")
    assert accelerator.memory_allocated("stock") == accelerator.memory_reserved("stock") == 0
    x, y = ow.empty(100, device="stock"), ow.empty(1000, device="stock")
    del x
    assert accelerator.memory_stats("stock") == {
        "allocated_bytes.all.current": 4096,
        "allocated_bytes.all.peak": 4608,
        "reserved_bytes.all.current": 4608,
        "reserved_bytes.all.peak": 4608,
    }
    accelerator.empty_cache()
    assert (accelerator.memory_reserved("stock"), accelerator.max_memory_reserved("stock")) == (4096, 4608)
    accelerator.reset_peak_memory_stats("stock")
    assert accelerator.max_memory_allocated("stock") == accelerator.max_memory_reserved("stock") == 4096
    assert accelerator.memory_allocated("stock:1") == 0
    del y


def test_what_is_kept_is_given_back_where_memory_ends() -> None:
    for size in (30000, 20000):
        ow.empty(size, dtype=ow.uint8, device="stock")
    assert len(GIVEN) == 2
    x = ow.empty(60000, dtype=ow.uint8, device="stock")
    assert [*GIVEN] == [x.data_ptr()]
    with pytest.raises(ow.OutOfMemoryError, match="stock is out of memory"):
        ow.empty(60000, dtype=ow.uint8, device="stock")
    del x


def test_devices_that_keep_nothing() -> None:
    """`mirror` says so: memory comes from it and goes back at once."""
    memory = devices.mirror.MEMORIES[0]
    before = memory.used
    x = ow.ones(3, device="mirror")
    assert (memory.used - before, accelerator.memory_allocated("mirror:0") >= 12) == (12, True)
    del x
    assert memory.used == before
