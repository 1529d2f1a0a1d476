"""Sources that `load` reads from: a path, or a file object from its position on. Offsets begin at 0 in either.

What is asked for is there in full or there is an error: no caller can take a short read for data.
"""

from __future__ import annotations

import io
import mmap
import os
from typing import Any

from .._C import ffi
from .options import get_default_mmap_options

__all__ = ["FileObject", "Mapped", "MappedPart", "Part", "Path", "Source", "open_source"]


class Source:
    """Bytes that are read by their offset."""

    size: int

    def read_into(self, offset: int, memory: memoryview) -> None:
        """Fill the memory with what lies at the offset."""
        raise NotImplementedError

    def read(self, offset: int, length: int) -> bytes:
        """The bytes at the offset."""
        if not 0 <= offset <= offset + length <= self.size:
            raise self.too_short(offset, length)
        data = bytearray(length)
        self.read_into(offset, memoryview(data))
        return bytes(data)

    def too_short(self, offset: int, length: int) -> RuntimeError:
        """Return the exception for a file that ends before what is to be read."""
        return RuntimeError(
            f"the file ends too early: it has {self.size} bytes, and {length} bytes are to be read at {offset}. It is "
            "truncated or damaged."
        )

    def leave_at(self, end: int) -> None:
        """Set the end of the object that was read, behind which another one may follow."""

    def close(self) -> None:
        """Let go of what was opened."""


class Path(Source):
    """A file by its path."""

    def __init__(self, path: Any, mode: str = "rb") -> None:
        self._file = open(path, mode, buffering=0)  # noqa: SIM115 (closed by close)
        self.size = os.fstat(self._file.fileno()).st_size
        self.name = path

    def read_into(self, offset: int, memory: memoryview) -> None:
        done = 0
        while done < len(memory):
            count = os.preadv(self._file.fileno(), [memory[done:]], offset + done)
            if not count:
                raise self.too_short(offset, len(memory))
            done += count

    def close(self) -> None:
        self._file.close()


class FileObject(Source):
    """An object with `read`, `seek` and `tell`."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self._start: int = file.tell()
        file.seek(0, io.SEEK_END)
        self.size = self._end = max(0, file.tell() - self._start)

    def read_into(self, offset: int, memory: memoryview) -> None:
        self._file.seek(self._start + offset)
        done = 0
        while done < len(memory):
            count = self._read_some(memory[done:])
            if not count:
                raise self.too_short(offset, len(memory))
            done += count

    def _read_some(self, memory: memoryview) -> int:
        if hasattr(self._file, "readinto"):
            return self._file.readinto(memory) or 0
        # Text, or more than what was asked for, ends in the error that the assignment raises.
        data = self._file.read(len(memory))
        memory[: len(data)] = data
        return len(data)

    def leave_at(self, end: int) -> None:
        self._end = end

    def close(self) -> None:
        self._file.seek(self._start + self._end)


class Mapped(Path):
    """A file whose bytes are seen in memory, and not read before they are used.

    `shared`: what is written to this memory goes to the file.
    """

    def __init__(self, path: Any, shared: bool) -> None:
        super().__init__(path, "r+b" if shared else "rb")
        if not self.size:
            self.close()
            raise EOFError("Ran out of input: the file is empty")
        flags, access = mmap.MAP_SHARED if shared else mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_WRITE
        mapping = mmap.mmap(self._file.fileno(), self.size, flags=flags, prot=access)
        self.memory = ffi.from_buffer("char[]", mapping)
        """Keeps the mapping, as do the tensors whose memory is part of it."""
        self.address = int(ffi.cast("uintptr_t", self.memory))


class Part(Source):
    """A range of an open file, in which something stands as in a file of its own."""

    def __init__(self, whole: Source, offset: int, length: int) -> None:
        if not 0 <= offset <= offset + length <= whole.size:
            raise whole.too_short(offset, length)
        self._whole, self._offset, self.size = whole, offset, length

    def read_into(self, offset: int, memory: memoryview) -> None:
        self._whole.read_into(self._offset + offset, memory)


class MappedPart(Part, Mapped):
    """A range of a mapped file."""

    def __init__(self, whole: Mapped, offset: int, length: int) -> None:
        super().__init__(whole, offset, length)
        self.memory, self.address = whole.memory, whole.address + offset

    def close(self) -> None:
        """Leave the file open."""


def open_source(file: Any, mapped: bool) -> Source:
    """Return the source for `load`, which may be given one."""
    if isinstance(file, Source):
        return file
    if isinstance(file, (str, os.PathLike)):
        return Mapped(file, get_default_mmap_options() == mmap.MAP_SHARED) if mapped else Path(file)
    if mapped:
        raise ValueError("f must be a file path in order to use the mmap argument")
    for method in ("read", "seek", "tell"):
        if not hasattr(file, method):
            raise AttributeError(
                f"{type(file).__name__!r} object has no attribute {method!r}. You can only load from a file that is "
                "seekable. Please pre-load the data into a buffer like io.BytesIO and try to load from it instead."
            )
    return FileObject(file)
