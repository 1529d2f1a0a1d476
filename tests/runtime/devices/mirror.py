"""`mirror`: a device whose memory nobody can read, so that whatever passes by its functions ends the process.

Tensors have addresses in a region without access; the bytes lie elsewhere, known to the device alone. What is called is
computed by the CPU, with copies. There are two devices of the kind, each with room for `limit` bytes.
"""

from __future__ import annotations

import bisect
import ctypes
import mmap

import opweave
from opweave import library

_PAGE = mmap.PAGESIZE
_ROOM = 1 << 40


def _reserved() -> int:
    """The first of so many addresses that may not be read."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    unbacked = 0x4000  # MAP_NORESERVE
    address: int = libc.mmap(None, _ROOM, 0, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | unbacked, -1, 0)
    return address


class Memory:
    """The memory of one device."""

    def __init__(self, limit: int = 1 << 30) -> None:
        self.limit = limit
        self.used = 0
        self.fails = 0
        """How many copies from now on raise."""
        self._next = _reserved()
        self._addresses: list[int] = []
        self._blocks: dict[int, ctypes.Array[ctypes.c_char]] = {}

    def allocate(self, nbytes: int) -> int:
        if self.used + nbytes > self.limit:
            raise opweave.OutOfMemoryError(
                f"mirror has {self.limit - self.used} bytes left, and {nbytes} are asked for"
            )
        address = self._next
        self._next += (nbytes // _PAGE + 2) * _PAGE
        self.used += nbytes
        self._addresses.append(address)
        self._blocks[address] = (ctypes.c_char * nbytes)()
        return address

    def free(self, address: int, nbytes: int) -> None:
        self.used -= nbytes
        self._addresses.remove(address)
        assert len(self._blocks.pop(address)) == nbytes

    def where(self, address: int, nbytes: int) -> int:
        """The address of the bytes that an address of the device stands for."""
        if self.fails:
            self.fails -= 1
            raise OSError("the device does not answer")
        start = self._addresses[bisect.bisect(self._addresses, address) - 1]
        assert start <= address <= address + nbytes <= start + len(self._blocks[start])
        return ctypes.addressof(self._blocks[start]) + address - start


MEMORIES = [Memory(), Memory()]


def _copy_in(index: int, address: int, host: int, nbytes: int) -> None:
    ctypes.memmove(MEMORIES[index].where(address, nbytes), host, nbytes)


def _copy_out(index: int, host: int, address: int, nbytes: int) -> None:
    ctypes.memmove(host, MEMORIES[index].where(address, nbytes), nbytes)


library.register_device(
    library.Device(
        "mirror",
        allocate=lambda index, nbytes: MEMORIES[index].allocate(nbytes),
        free=lambda index, address, nbytes: MEMORIES[index].free(address, nbytes),
        copy_in=_copy_in,
        copy_out=_copy_out,
        count=len(MEMORIES),
        keeps_blocks=False,
    )
)
library.register_fallback("mirror")(library.cpu_fallback)
