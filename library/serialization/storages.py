"""The storages of a file: their bytes become memory of tensors, by copy or as part of the mapped file."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pickle import UnpicklingError
from typing import Any

from .._base.allocation import allocate
from .._base.devices import CPU, on_device
from .._base.dtypes import EXPORTS, dtype
from .._base.handles import address_of, wrap
from .._C import ffi
from .._handle import over_memory
from .._tensor.storage import STORAGE_TYPES, AnyStorage, UntypedStorage
from .._tensor.storage_objects import seen_as
from .archive_reader import ArchiveReader
from .locations import Placement
from .pickle_data import shown
from .sources import Mapped, Source

__all__ = ["STORAGE_NAMES", "StorageType", "Storages", "bytes_at", "described", "filled"]

_BYTES = EXPORTS["uint8"]
_WIDEST = 16
"""The alignment that the elements of every dtype need."""


class StorageType:
    """The object that stands in a pickle for a class of storages: torch's name of it."""

    def __init__(self, name: str, kind: type[AnyStorage]) -> None:
        self.name = name
        self.kind = kind


STORAGE_NAMES: dict[str, StorageType] = {
    **{f"torch.{name}": StorageType(name, kind) for name, kind in STORAGE_TYPES.items()},
    **{f"torch.cuda.{name}": StorageType(name, kind) for name, kind in STORAGE_TYPES.items()},
    "torch.storage.UntypedStorage": StorageType("UntypedStorage", UntypedStorage),
    "torch.UntypedStorage": StorageType("UntypedStorage", UntypedStorage),
}


class Storages:
    """Answers the references to storages in the pickle of an archive. Each is read once."""

    def __init__(self, archive: ArchiveReader, placement: Placement, byte_order: str) -> None:
        self._archive = archive
        self._place = placement
        self._swapped = byte_order != sys.byteorder
        # By key, the bytes at their place, and how the first reference described them.
        self._loaded: dict[str, tuple[Any, int]] = {}

    def persistent_load(self, reference: Any) -> Any:
        """The storage that a reference in the pickle names."""
        kind, key, location, count = described(reference, 5)
        known = self._loaded.get(key)
        nbytes = count * kind.dtype.itemsize
        if known is None:
            name = f"data/{key}"
            size = self._archive.entry(name).size
            # A storage of bytes may be seen in wider elements, of which the last one may be no whole one.
            if not nbytes <= size < nbytes + kind.dtype.itemsize:
                raise RuntimeError(f"the record {name} has {size} bytes, but its storage needs {nbytes}")
            whole = seen_as(UntypedStorage, self._read(name, size, kind.dtype))
            placed = self._place(whole, location)
            if not isinstance(placed, AnyStorage):
                raise TypeError(f"map_location returned {type(placed).__name__} instead of a storage")
            known = self._loaded[key] = placed.untyped(), size
        elif nbytes > known[1]:
            raise RuntimeError(f"two references to the storage {key!r} contradict each other")
        return seen_as(kind, known[0]._elements)

    def _read(self, name: str, size: int, of: dtype) -> Any:
        """The bytes of a record as a tensor."""
        source = self._archive.source
        if isinstance(source, Mapped) and not self._swapped:
            return bytes_at(source, self._archive.start(name), size, _WIDEST)
        return filled(size, lambda memory: self._archive.read_into(name, memory), of if self._swapped else None)


def described(reference: Any, length: int) -> tuple[type[AnyStorage], str, str, int]:
    """Class, key, location and number of elements in a reference to a storage."""
    if not (isinstance(reference, tuple) and len(reference) == length and reference[0] == "storage"):
        raise UnpicklingError(f"the file refers to something unknown: {shown(reference)}")
    _, kind, key, location, count = reference[:5]
    if isinstance(kind, StorageType):
        kind = kind.kind
    if not (isinstance(kind, type) and issubclass(kind, AnyStorage) and hasattr(kind, "dtype")):
        raise UnpicklingError("a reference in the file does not name a class of storages that there is")
    if not (isinstance(key, str) and isinstance(location, str) and type(count) is int and 0 <= count < 2**60):
        raise UnpicklingError("a reference to a storage in the file is damaged")
    return kind, key, location, count


def bytes_at(source: Source, start: int, size: int, alignment: int) -> Any:
    """A tensor of bytes of a file: a part of the mapped file where elements are aligned in memory, else a copy."""
    if not 0 <= start <= start + size <= source.size:
        raise source.too_short(start, size)
    address = source.address + start if isinstance(source, Mapped) else 1
    if size and isinstance(source, Mapped) and not address % alignment:
        return wrap(over_memory(source.memory, address, size, (size,), (1,), _BYTES.code, False))
    return filled(size, lambda memory: source.read_into(start, memory))


def filled(size: int, read_into: Callable[[memoryview], object], swapped: dtype | None = None) -> Any:
    """A new tensor of so many bytes, which a function fills; in the other byte order, elements of `swapped`."""
    tensor: Any = on_device(CPU, allocate, (size,), _BYTES.code)
    if size:
        memory = memoryview(ffi.buffer(address_of(tensor._h), size)).cast("B")
        read_into(memory)
        if swapped is not None:
            swap(memory, swapped)
    return tensor


def swap(memory: memoryview, of: dtype) -> None:
    """Brings elements from the other byte order into that of this machine."""
    from array import array

    width = of.itemsize // 2 if of.is_complex else of.itemsize
    if width == 1:
        return
    whole = len(memory) // width * width
    parts = array({2: "H", 4: "I", 8: "Q"}[width], bytes(memory[:whole]))
    parts.byteswap()
    memory[:whole] = memoryview(parts).cast("B")
