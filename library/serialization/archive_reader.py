"""The zip container of a file, read strictly: stored entries that lie one after the other in one folder.

Every size and offset is checked against the file before anything is read or allocated, entries that are compressed or
share bytes are refused, and names are only compared, never used as paths. So memory is bounded by the file's size.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from .checksums import checksum
from .sources import Source

__all__ = ["ArchiveReader", "Entry"]

_END = struct.Struct("<4s4H2LH")
_LOCATOR = struct.Struct("<4sLQL")
_END64 = struct.Struct("<4sQ2H2L4Q")
_CENTRAL = struct.Struct("<4s6H3L5H2L")
_LOCAL = struct.Struct("<4s5H3L2H")
_LIMIT32, _LIMIT16 = 2**32 - 1, 2**16 - 1
_ENCRYPTED, _STORED = 1, 0
_PIECE = 1 << 18
"""Bytes that are read at a time: the processor's cache still has them when their checksum is computed."""


def _damaged(why: str) -> RuntimeError:
    return RuntimeError(f"failed reading zip archive: {why}. The file is truncated or damaged.")


@dataclass(frozen=True)
class Entry:
    """A record: where its header begins, where the next part of the file does, and what the directory says of it."""

    name: bytes
    header: int
    end: int
    size: int
    checksum: int
    """0: not known."""
    stored: bool
    """True if the record is not compressed."""


class ArchiveReader:
    """The records of a file by their names without the folder."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._starts: dict[str, int] = {}
        directory, count, end = self._find_directory()
        data = source.read(directory, end - directory)
        self._entries = self._named(self._read_directory(data, count, directory))

    # ---- the directory ----

    def _find_directory(self) -> tuple[int, int, int]:
        """Return the position of the directory, its number of entries, and the position of its end."""
        source = self.source
        if source.size < _END.size:
            raise _damaged("the end of the archive is missing")
        start = max(0, source.size - _END.size - _LIMIT16)
        tail = source.read(start, source.size - start)
        # A comment may follow, which must reach to the end of the file.
        place = tail.rfind(b"PK\5\6", 0, len(tail) - _END.size + 4)
        while place >= 0:
            found = _END.unpack_from(tail, place)
            if place + _END.size + found[7] == len(tail):
                break
            place = tail.rfind(b"PK\5\6", 0, place)
        else:
            raise _damaged("failed finding central directory")
        _, disk, first_disk, here, count, size, offset, _ = found
        end = start + place
        if end >= _LOCATOR.size and (locator := source.read(end - _LOCATOR.size, _LOCATOR.size))[:4] == b"PK\6\7":
            where = _LOCATOR.unpack(locator)[2]
            if where + _END64.size > end - _LOCATOR.size:
                raise _damaged("the zip64 end of the archive lies outside the file")
            signature, _, _, _, disk, first_disk, here, count, size, offset = _END64.unpack(
                source.read(where, _END64.size)
            )
            if signature != b"PK\6\6":
                raise _damaged("the zip64 end of the archive is missing")
            end = where
        if disk or first_disk or here != count:
            raise _damaged("it is one part of several")
        if offset + size > end or count * _CENTRAL.size > size:
            raise _damaged("the central directory lies outside the file")
        return offset, count, offset + size

    def _read_directory(self, data: bytes, count: int, end: int) -> list[Entry]:
        found: list[tuple[int, bytes, int, int, bool]] = []
        place = 0
        for _ in range(count):
            if place + _CENTRAL.size > len(data):
                raise _damaged("the central directory is too short")
            row = _CENTRAL.unpack_from(data, place)
            signature, flags, method, checksum, packed, size = row[0], row[3], row[4], row[7], row[8], row[9]
            name_length, extra_length, comment_length, disk, header = row[10], row[11], row[12], row[13], row[16]
            if signature != b"PK\1\2":
                raise _damaged("an entry of the central directory has no signature")
            place += _CENTRAL.size
            name = data[place : place + name_length]
            extra = data[place + name_length : place + name_length + extra_length]
            place += name_length + extra_length + comment_length
            if place > len(data):
                raise _damaged("the central directory is too short")
            size, packed, header = _wide(extra, size, packed, header)
            if flags & _ENCRYPTED or disk:
                raise _damaged(f"the record {name!r} is encrypted or lies elsewhere")
            found.append((header, name, packed, checksum, method == _STORED and packed == size))
        found.sort()
        entries = []
        for index, (header, name, size, checksum, stored) in enumerate(found):
            after = found[index + 1][0] if index + 1 < count else end
            if header + _LOCAL.size + len(name) + size > after:
                raise _damaged(f"the record {name!r} overlaps with what follows it, or lies outside the file")
            entries.append(Entry(name, header, after, size, checksum, stored))
        return entries

    def _named(self, entries: list[Entry]) -> dict[str, Entry]:
        """The entries by their names within the folder, which is that of `data.pkl`."""
        try:
            names = [entry.name.decode() for entry in entries]
        except UnicodeDecodeError as error:
            raise _damaged(f"a name is no text ({error})") from None
        folders = [name[: -len("data.pkl")] for name in names if name.endswith("/data.pkl") and name.count("/") == 1]
        if len(folders) != 1:
            raise _damaged("file not found: there must be one folder with a record data.pkl")
        named: dict[str, Entry] = {}
        for name, entry in zip(names, entries, strict=True):
            if not name.startswith(folders[0]):
                continue
            short = name[len(folders[0]) :]
            if short in named:
                raise _damaged(f"the record {name!r} occurs twice")
            named[short] = entry
        return named

    # ---- records ----

    def __contains__(self, name: str) -> bool:
        return name in self._entries

    def entry(self, name: str) -> Entry:
        """The record of this name."""
        found = self._entries.get(name)
        if found is None:
            raise RuntimeError(f"failed locating file {name} in the archive: file not found")
        if not found.stored:
            raise RuntimeError(
                f"the record {name} is compressed: files of tensors have stored records alone. Write the file again "
                "with save()."
            )
        return found

    def start(self, name: str) -> int:
        """Return the position of a record's first byte."""
        start = self._starts.get(name)
        if start is None:
            entry = self.entry(name)
            header = self.source.read(entry.header, _LOCAL.size + len(entry.name))
            row = _LOCAL.unpack_from(header)
            if row[0] != b"PK\3\4" or row[3] != _STORED or header[_LOCAL.size :] != entry.name:
                raise _damaged(f"the header of the record {name!r} contradicts the central directory")
            start = entry.header + _LOCAL.size + row[9] + row[10]
            if row[9] != len(entry.name) or start + entry.size > entry.end:
                raise _damaged(f"the record {name!r} overlaps with what follows it")
            self._starts[name] = start
        return start

    def read(self, name: str) -> bytes:
        """The bytes of a record."""
        data = self.source.read(self.start(name), self.entry(name).size)
        self._check(name, checksum(data))
        return data

    def read_into(self, name: str, memory: memoryview) -> None:
        """Fill memory of the record's size."""
        start, found = self.start(name), 0
        wanted = self.entry(name).checksum
        for done in range(0, len(memory), _PIECE):
            piece = memory[done : done + _PIECE]
            self.source.read_into(start + done, piece)
            found = checksum(piece, found) if wanted else 0
        self._check(name, found)

    def _check(self, name: str, found: int) -> None:
        if self.entry(name).checksum not in (0, found):
            raise _damaged(f"the checksum of the record {name!r} is wrong")


def _wide(extra: bytes, size: int, packed: int, header: int) -> tuple[int, int, int]:
    """Sizes and offset, of which the extra field has those that 32 bits do not hold."""
    place = 0
    while place + 4 <= len(extra):
        kind, length = struct.unpack_from("<2H", extra, place)
        place += 4
        if kind == 1:
            numbers = [
                int.from_bytes(extra[at : at + 8], "little")
                for at in range(place, min(place + length, len(extra)) - 7, 8)
            ]
            wanted = [value == _LIMIT32 for value in (size, packed, header)]
            if sum(wanted) > len(numbers):
                raise _damaged("a zip64 field is too short")
            given = iter(numbers)
            size, packed, header = (
                next(given) if wide else value for wide, value in zip(wanted, (size, packed, header), strict=True)
            )
            break
        place += length
    return size, packed, header
