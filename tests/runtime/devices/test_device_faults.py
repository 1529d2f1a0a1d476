"""Devices that have no memory left, or do not answer: an exception of the call, and nothing is lost."""

from __future__ import annotations

import gc
import os
from typing import Any

import devices.mirror
import opweave as ow
import pytest
from opweave import library

MEMORY = devices.mirror.MEMORIES[1]


def device(name: str, address: Any = 4096, count: int = 1) -> library.Device:
    """A device whose functions do nothing."""
    return library.Device(name, lambda *_: address, _nothing, _nothing, _nothing, count=count)


def _nothing(*numbers: int) -> None:
    """Neither frees nor copies."""


library.register_device(device("bare"))
library.register_device(device("addressless", address=0))
library.register_device(device("wrong", address="a"))


@pytest.fixture
def room(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is room for 64 bytes more."""
    gc.collect()
    monkeypatch.setattr(MEMORY, "limit", MEMORY.used + 64)


def test_memory_is_given_back() -> None:
    gc.collect()
    before = MEMORY.used
    x = ow.ones(100, device="mirror:1")
    views = [x[:50], x.view(10, 10), (x * 2).t()]
    assert MEMORY.used == before + 800
    del x, views
    gc.collect()
    assert MEMORY.used == before


def test_out_of_memory(room: None) -> None:
    x = ow.ones(8, device="mirror:1")
    used = MEMORY.used
    for call in (
        lambda: ow.empty(9, device="mirror:1"),
        lambda: ow.zeros(9, device="mirror:1"),
        lambda: ow.tensor([1.0] * 9, device="mirror:1"),
        lambda: x.repeat(2),
        lambda: x.resize_(17),
        lambda: x.new_empty(9),
        lambda: ow.empty_like(x, dtype=ow.float64),
    ):
        with pytest.raises(ow.OutOfMemoryError, match="bytes left"):
            call()
        assert MEMORY.used == used
    assert x.tolist() == [1.0] * 8
    assert ow.empty(8, device="mirror:1").shape == (8,)


def test_copies_that_fail() -> None:
    x = ow.ones(4, device="mirror:1")
    for call in (x.cpu, lambda: x + 1, lambda: x.add_(1), lambda: x.copy_(ow.ones(4)), lambda: print(x), x.tolist):
        MEMORY.fails = 1
        with pytest.raises(OSError, match="the device does not answer"):
            call()
    assert MEMORY.fails == 0
    assert x.tolist() == [1.0] * 4


def test_operators_without_an_implementation() -> None:
    x = ow.empty(2, 3, device="bare")
    assert (x.t().shape, x[0].device.type) == ((3, 2), "bare")
    for call, name in (
        (lambda: x + 1, "add"),
        (x.sum, "sum"),
        (lambda: x @ x.t(), "mm"),
        (lambda: ow.ones(2, device="bare"), "ones"),
    ):
        with pytest.raises(NotImplementedError, match=rf"{name}.*bare.*opweave.library.register"):
            call()


def test_a_child_process() -> None:
    x = ow.ones(4, device="mirror:1")
    child = os.fork()
    if not child:
        os._exit(0 if (x + 1).tolist() == [2.0] * 4 else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_registrations_that_are_refused() -> None:
    for name in ("cpu", "meta", "mirror", "sparse"):
        with pytest.raises(ValueError, match="there is a device or a dispatch key"):
            library.register_device(device(name))
    with pytest.raises(ValueError, match="must be an identifier, but got 'a:1'"):
        library.register_device(device("a:1"))
    for count in (0, 257):
        with pytest.raises(ValueError, match="1 to 256"):
            library.register_device(device("many", count=count))


def test_addresses_that_are_none() -> None:
    with pytest.raises(RuntimeError, match=r"allocate\(\) of the device addressless gave no address, but 0"):
        ow.empty(2, device="addressless")
    with pytest.raises(TypeError):
        ow.empty(2, device="wrong")
