"""The checksum of records, CRC-32."""

from __future__ import annotations

import zlib
from typing import Any

from .._C import ffi, lib

__all__ = ["checksum"]

_SHORT = 4096
"""Fewer bytes are left to zlib."""
_PIECE = 1 << 24
"""Bytes at a time, as the interpreter waits meanwhile."""


def checksum(data: Any, before: int = 0) -> int:
    """The checksum of bytes; of what has the checksum `before` and these bytes."""
    length = len(data)
    whole = length - length % 64 if length >= _SHORT else 0
    value, done = before, 0
    memory = ffi.from_buffer("char[]", data)
    address = int(ffi.cast("uintptr_t", memory))
    while done < whole:
        step = min(whole - done, _PIECE)
        found: int = lib.checksum(address + done, step, value)
        if found < 0:
            break
        value, done = found, done + step
    return zlib.crc32(memoryview(data)[done:], value)
