"""The zip container as torch 2.13 writes it: stored records in one folder, each beginning at a multiple of 64 bytes.

It is written from front to back, so the target need not be able to seek. A record's checksum and size stand behind it.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable
from typing import Any

from .checksums import checksum as checksum_of

__all__ = ["ALIGNMENT", "ArchiveWriter"]

ALIGNMENT = 64
"""The alignment of the bytes of a record, from the beginning of the file."""

_LIMIT32, _LIMIT16 = 2**32 - 1, 2**16 - 1
_DESCRIBED, _UTF8 = 0x8, 0x800
_BLANK = b"Z" * (2 * ALIGNMENT)
_ZEROS = bytes(1 << 18)


class ArchiveWriter:
    """Writes records by a function that takes bytes.

    `checksums`: whether to compute them. Without, the file has zeros in their places.
    """

    def __init__(self, write: Callable[[Any], Any], folder: str, checksums: bool = True) -> None:
        self._write = write
        self._folder = folder
        self._checksums = checksums
        self._place = 0
        self._directory: list[bytes] = []
        self._digest = hashlib.sha256()

    def _put(self, data: Any) -> None:
        self._write(data)
        self._place += len(data)

    def record(self, name: str, data: Any, may_change: bool = False) -> None:
        """Add a record: bytes, or a memoryview of bytes.

        `may_change`: others may write to them meanwhile; if they do, the record has no checksum.
        """
        begun = self._begin(name, len(data))
        checksum = checksum_of(data) if self._checksums else 0
        if len(data):
            self._put(data)
        if may_change and checksum and checksum_of(data) != checksum:
            checksum = 0
        self._end(begun, len(data), checksum)

    def room(self, name: str, size: int) -> None:
        """Add a record of zeros."""
        begun, checksum = self._begin(name, size), 0
        for start in range(0, size, len(_ZEROS)):
            zeros = _ZEROS[: size - start]
            if self._checksums:
                checksum = checksum_of(zeros, checksum)
            self._put(zeros)
        self._end(begun, size, checksum)

    def _begin(self, name: str, size: int) -> tuple[bytes, int]:
        """Writes the header of a record. Returns its encoded name, and where the header is."""
        encoded = f"{self._folder}/{name}".encode()
        # What does not fit into 32 bits is named in a field, as some readers look there.
        wide = struct.pack("<2H2Q", 1, 16, size, size) if size >= _LIMIT32 else b""
        start = self._place
        begin = start + 30 + len(encoded) + len(wide) + 4
        padding = -begin % ALIGNMENT
        flags = _UTF8 | (_DESCRIBED if size else 0)
        short = _LIMIT32 if wide else 0
        self._put(
            struct.pack(
                "<4s5H3L2H", b"PK\3\4", 0, flags, 0, 0, 0, 0, short, short, len(encoded), len(wide) + 4 + padding
            )
            + encoded
            + wide
            + struct.pack("<2sH", b"FB", padding)
            + _BLANK[:padding]
        )
        return encoded, start

    def _end(self, begun: tuple[bytes, int], size: int, checksum: int) -> None:
        """Writes what stands behind a record."""
        encoded, start = begun
        self._digest.update(b"%d %d %s\n" % (checksum, size, encoded))
        if size:
            self._put(struct.pack("<4sL2Q" if size >= _LIMIT32 else "<4s3L", b"PK\7\x08", checksum, size, size))
        wide = [value for value in (size, size, start) if value >= _LIMIT32]
        extra = struct.pack(f"<2H{len(wide)}Q", 1, 8 * len(wide), *wide) if wide else b""
        short = min(size, _LIMIT32)
        flags = _UTF8 | (_DESCRIBED if size else 0)
        self._directory.append(
            struct.pack(
                "<4s6H3L5H2L", b"PK\1\2", 0, 0, flags, 0, 0, 0, checksum, short, short, len(encoded), len(extra), 0, 0,
                0, 0, min(start, _LIMIT32),
            )
            + encoded
            + extra
        )  # fmt: skip

    def finish(self) -> None:
        """Add the last records and the central directory."""
        self.record("version", b"3\n")
        number = int.from_bytes(self._digest.digest()[:16], "little")
        self.record(".data/serialization_id", b"%040d" % (number % 10**40))
        start, count = self._place, len(self._directory)
        directory = b"".join(self._directory)
        end = start + len(directory)
        self._put(
            directory
            + struct.pack("<4sQ2H2L4Q", b"PK\6\6", 44, 30, 45, 0, 0, count, count, len(directory), start)
            + struct.pack("<4sLQL", b"PK\6\7", 0, end, 1)
            + struct.pack(
                "<4s4H2LH", b"PK\5\6", 0, 0, min(count, _LIMIT16), min(count, _LIMIT16), min(len(directory), _LIMIT32),
                min(start, _LIMIT32), 0,
            )
        )  # fmt: skip
