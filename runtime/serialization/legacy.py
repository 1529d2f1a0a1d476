"""torch's format before 1.6: several pickles one after the other, and behind them the bytes of the storages.

These are a number, the version, facts about the machine, the object, and the keys of storages.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pickle import UnpicklingError
from typing import Any

from .._tensor.storage import UntypedStorage, seen_as
from .._tensor.storage_pickle import memory_of
from .locations import Placement
from .pickler import Collected
from .storages import described, filled

__all__ = ["LegacyCollected", "LegacyStorages", "load_legacy", "save_legacy"]

_MAGIC = 0x1950A86A20F9469CFC6C
_VERSION = 1001
_MACHINE = {"protocol_version": _VERSION, "little_endian": True, "type_sizes": {"short": 2, "int": 4, "long": 4}}


class LegacyStorages:
    """Answers references to storages, whose bytes come behind the pickle that has the references."""

    def __init__(self, placement: Placement, available: int) -> None:
        self._placement = placement
        self._left = available
        self._loaded: dict[str, Any] = {}
        self._waiting: dict[str, tuple[Any, int]] = {}

    def persistent_load(self, reference: Any) -> Any:
        """The storage that a reference in the pickle names."""
        kind, key, location, count = described(reference, 6)
        view = reference[5]
        size = kind.dtype.itemsize
        if key not in self._loaded:
            self._left -= count * size
            if self._left < 0:
                raise RuntimeError("the file ends too early: its storages do not fit into it. It is damaged.")
            whole = seen_as(UntypedStorage, filled(count * size, lambda memory: None))
            self._waiting[key] = whole, size
            self._loaded[key] = self._placement(whole, location).untyped()
        storage = seen_as(kind, self._loaded[key]._elements)
        if storage.nbytes() != count * size:
            raise RuntimeError(f"two references to the storage {key!r} contradict each other")
        if view is None:
            return storage
        if not (isinstance(view, tuple) and len(view) == 3 and type(view[1]) is type(view[2]) is int):
            raise UnpicklingError("a reference to a part of a storage in the file is damaged")
        _, start, length = view
        if not 0 <= start <= start + length <= len(storage):
            raise UnpicklingError("a part of a storage in the file lies outside of it")
        return storage[start : start + length]

    def read(self, keys: Any, data: bytes, place: int) -> int:
        """Fill the storages with what stands at `place`. Returns where that ends."""
        if not (isinstance(keys, list) and all(isinstance(key, str) for key in keys)):
            raise UnpicklingError("the keys of storages in the file are damaged")
        if sorted(keys) != sorted(self._waiting):
            raise RuntimeError("the keys of storages in the file are not those that its pickle refers to")
        for key in keys:
            storage, size = self._waiting[key]
            count = int.from_bytes(data[place : place + 8], "little", signed=True)
            nbytes = storage.nbytes()
            place += 8
            if count * size != nbytes or place + nbytes > len(data):
                raise RuntimeError(f"the storage {key!r} in the file is damaged, or the file ends too early")
            if nbytes:
                memory_of(storage)[:] = memoryview(data)[place : place + nbytes]
            place += nbytes
        return place


def load_legacy(data: bytes, unpickle: Callable[[int], tuple[Any, int]], storages: LegacyStorages) -> tuple[Any, int]:
    """The object, and where it ends.

    `unpickle(place)` returns the object of the pickle at a place, and where that ends.
    """
    magic, place = unpickle(0)
    if magic != _MAGIC:
        raise RuntimeError("Invalid magic number; corrupt file?")
    version, place = unpickle(place)
    if version != _VERSION:
        raise RuntimeError(f"Invalid protocol version: {version}")
    _, place = unpickle(place)
    result, place = unpickle(place)
    keys, place = unpickle(place)
    return result, storages.read(keys, data, place)


class LegacyCollected(Collected):
    """References have one more part in this format: which part of the storage is meant, None for all of it."""

    def reference(self, storage: Any) -> tuple[Any, ...]:
        return *super().reference(storage), None


def save_legacy(write: Callable[[Any], None], data: bytes, collected: Collected, protocol: int) -> None:
    """Write a pickle and the storages that it refers to."""
    for each in (_MAGIC, _VERSION, _MACHINE):
        write(pickle.dumps(each, protocol))
    write(data)
    keys = sorted(collected.storages)
    write(pickle.dumps(keys, protocol))
    for key in keys:
        storage = collected.storages[key]
        write((storage.nbytes() // collected.itemsize(storage)).to_bytes(8, "little"))
        if storage.nbytes():
            write(memory_of(storage))
