"""Settings for all files: how memory is mapped, whether checksums are written, which byte order is assumed."""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from types import TracebackType
from typing import Any

__all__ = [
    "LoadEndianness",
    "get_crc32_options",
    "get_default_load_endianness",
    "get_default_mmap_options",
    "set_crc32_options",
    "set_default_load_endianness",
    "set_default_mmap_options",
    "skip_data",
]


class LoadEndianness(Enum):
    """The byte order of files that do not name theirs."""

    NATIVE = 1
    LITTLE = 2
    BIG = 3


class _Options:
    endianness: LoadEndianness | None = None
    mmap_flags = mmap.MAP_PRIVATE
    writes_checksums = True
    skips_data = False


def get_default_load_endianness() -> LoadEndianness | None:
    """Return the byte order that is assumed where a file names none; None: that of this machine."""
    return _Options.endianness


def set_default_load_endianness(endianness: LoadEndianness | None) -> None:
    """Choose the byte order that is assumed where a file names none."""
    if endianness is not None and not isinstance(endianness, LoadEndianness):
        raise TypeError(f"Invalid argument type in function set_default_load_endianness: {endianness!r}")
    _Options.endianness = endianness


def get_crc32_options() -> bool:
    """Return whether `save` computes the checksum of each record."""
    return _Options.writes_checksums


def set_crc32_options(compute_crc32: bool) -> None:
    """Choose whether `save` computes the checksum of each record. `load` reads files without them as well, other
    programs that read zip files do not.
    """
    _Options.writes_checksums = bool(compute_crc32)


def get_default_mmap_options() -> int:
    """Return how `load(mmap=True)` maps a file: `mmap.MAP_PRIVATE` or `mmap.MAP_SHARED`."""
    return _Options.mmap_flags


class set_default_mmap_options:  # noqa: N801 (torch's name)
    """Choose how `load(mmap=True)` maps a file; as a context manager, within its block.

    Args:
        flags (int): `mmap.MAP_PRIVATE`, where what is written to tensors stays in this process, or `mmap.MAP_SHARED`,
            where it goes to the file.
    """

    def __init__(self, flags: int) -> None:
        if flags not in (mmap.MAP_PRIVATE, mmap.MAP_SHARED):
            raise ValueError(
                "Invalid argument in function set_default_mmap_options, expected mmap.MAP_PRIVATE or mmap.MAP_SHARED, "
                f"but got {flags}"
            )
        self.prev = _Options.mmap_flags
        _Options.mmap_flags = flags

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _Options.mmap_flags = self.prev


@contextmanager
def skip_data(materialize_fake_tensors: bool = False) -> Iterator[None]:
    """Make `save` leave room, within the block, for the elements of tensors, which it does not write."""
    if materialize_fake_tensors:
        raise NotImplementedError("skip_data(): there are no fake tensors; leave out materialize_fake_tensors")
    before = _Options.skips_data
    _Options.skips_data = True
    try:
        yield
    finally:
        _Options.skips_data = before


def skips_data() -> bool:
    """True within a block of `skip_data`."""
    return _Options.skips_data


def byte_order_of(record: Any, native: str) -> str:
    """The byte order of a file, from its record of that name (None: it has none)."""
    if record is not None:
        order: str = record.decode("ascii", "replace")
        if order not in ("little", "big"):
            raise ValueError(f"Unknown endianness type: {order}")
        return order
    assumed = _Options.endianness
    return native if assumed in (None, LoadEndianness.NATIVE) else assumed.name.lower()
