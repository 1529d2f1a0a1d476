"""Class Device: what a program registers a kind of device with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from .._C import ffi

__all__ = ["Device"]


def _synchronized(index: int) -> None:
    """Return at once: functions of the device have ended when they return."""


@dataclass(frozen=True)
class Device:
    """A kind of device: its memory, and how elements go to and from it.

    Addresses are ints that mean something to the functions alone: nothing else reads memory of the device. An exception
    that a function raises is that of the call that needed it.

    Attributes:
        name: that texts such as `"name:1"` begin with.
        allocate: `allocate(index, nbytes)` returns the address of new memory, which is not 0.
        free: `free(index, address, nbytes)` takes back what `allocate` returned.
        copy_in: `copy_in(index, to, source, nbytes)` copies from an address of the CPU to one of the device.
        copy_out: `copy_out(index, to, source, nbytes)` copies from an address of the device to one of the CPU.
        copy: `copy(index, to, source, nbytes)` copies within a device; None: by way of the CPU.
        synchronize: `synchronize(index)` waits until all that was begun on a device is done.
        count: how many devices of the kind there are, at most 256.
        keeps_blocks: whether memory that a tensor leaves is kept for the next one of its size, which is then filled
            after what was begun before. `accelerator.empty_cache` gives it back, as does an `allocate` that fails.
        is_accelerator: whether it is the kind that `opweave.accelerator` is about, and that an index without a kind
            means, as in `opweave.device(0)`; there is one at most.
        runs: by family of operators (`elementwise`, `reduce`, `extern`, …), the address of a function of C that
            computes their results: `int run(const ow_device_plan *plan)` of `device.h`, which `library.copy_headers`
            gives. What it does not do goes to the fallback.
        allocate_pinned: `allocate_pinned(nbytes)` returns the address of new memory of the CPU that copies to and from
            the devices prefer, a multiple of 16; None: there is none. It is what `Tensor.pin_memory` copies to.
        free_pinned: `free_pinned(address, nbytes)` takes back what `allocate_pinned` returned, in the same process.
    """

    name: str
    allocate: Callable[[int, int], int]
    free: Callable[[int, int, int], None]
    copy_in: Callable[[int, int, int, int], None]
    copy_out: Callable[[int, int, int, int], None]
    copy: Callable[[int, int, int, int], None] | None = None
    synchronize: Callable[[int], None] = _synchronized
    count: int = 1
    keeps_blocks: bool = True
    is_accelerator: bool = False
    runs: Mapping[str, int] = field(default_factory=dict)
    allocate_pinned: Callable[[int], int] | None = None
    free_pinned: Callable[[int, int], None] | None = None

    def copy_within(self, index: int, to: int, source: int, nbytes: int) -> None:
        """Copy between two addresses of a device, by way of the CPU where there is no other."""
        if self.copy is not None:
            self.copy(index, to, source, nbytes)
            return
        buffer = bytearray(nbytes)
        host = int(ffi.cast("uintptr_t", ffi.from_buffer(buffer)))
        self.copy_out(index, host, source, nbytes)
        self.copy_in(index, to, host, nbytes)
