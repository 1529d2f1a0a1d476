"""`FileStore`: a store that processes of one machine, or of one file system, have in a file.

The file has a record for each change; readers replay what was added since they last looked, under a lock of the file.
"""

from __future__ import annotations

import fcntl
import os
import struct
from typing import BinaryIO

from .store_operations import OPERATIONS
from .stores import Store

__all__ = ["FileStore"]

_LENGTH = struct.Struct("<I")
_READERS = {b"get", b"check", b"count", b"keys"}


class FileStore(Store):
    """A store in a file, which is made if it is not there. The process that closes it last removes it.

    Args:
        file_name (str): the file.
        world_size (int): the number of processes; -1: unknown, and the file stays.

    Raises:
        OSError: the file cannot be opened.
    """

    def __init__(self, file_name: str, world_size: int = -1) -> None:
        super().__init__()
        self.path = file_name
        self._world_size = world_size
        self._values: dict[bytes, bytes] = {}
        self._read = 0
        self._file: BinaryIO | None = open(file_name, "a+b", buffering=0)  # noqa: SIM115 (as long as the store)

    def _apply(self, operation: bytes, *args: bytes) -> bytes:
        if self._file is None:
            raise ValueError(f"the store in {self.path} is closed")
        fcntl.flock(self._file, fcntl.LOCK_EX)
        try:
            self._catch_up(self._file)
            result = OPERATIONS[operation](self._values, *args)
            if operation not in _READERS:
                record = b"".join(_LENGTH.pack(len(each)) + each for each in (operation, *args))
                data = _LENGTH.pack(len(record)) + record
                self._file.write(data)
                self._read += len(data)
        finally:
            fcntl.flock(self._file, fcntl.LOCK_UN)
        return result

    def _catch_up(self, file: BinaryIO) -> None:
        """Apply the records that others have added."""
        file.seek(self._read)
        data = file.read()
        self._read += len(data)
        at = 0
        while at < len(data):
            (length,) = _LENGTH.unpack_from(data, at)
            at += _LENGTH.size
            end, fields = at + length, []
            while at < end:
                (length,) = _LENGTH.unpack_from(data, at)
                at += _LENGTH.size
                fields.append(data[at : at + length])
                at += length
            OPERATIONS[fields[0]](self._values, *fields[1:])

    def close(self) -> None:
        """Close the file, and remove it if all processes have."""
        if self._file is None:
            return
        if self._world_size > 0 and self.add("closed/", 1) == self._world_size and os.path.exists(self.path):
            os.unlink(self.path)
        self._file.close()
        self._file = None

    def __repr__(self) -> str:
        return f"FileStore({self.path!r})"
