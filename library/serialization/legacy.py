"""torch's format before 1.6: several pickles one after the other, and behind them the bytes of the storages.

These are a number, the version, facts about the machine, the object, and the keys of storages.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pickle import UnpicklingError
from typing import Any

from .._base.dtypes import EXPORTS
from .._base.interchange import tensor_of_bytes
from .._tensor.storage import UntypedStorage
from .._tensor.storage_objects import seen_as
from .._tensor.storage_pickle import memory_of
from .locations import Placement
from .pickler import Collected
from .references import references_in
from .storages import described

__all__ = ["LegacyCollected", "LegacyStorages", "load_legacy", "save_legacy"]

_BYTES = EXPORTS["uint8"]
_MAGIC = 0x1950A86A20F9469CFC6C
_VERSION = 1001
_MACHINE = {"protocol_version": _VERSION, "little_endian": True, "type_sizes": {"short": 2, "int": 4, "long": 4}}


class LegacyStorages:
    """Answers references to storages, whose bytes come behind the pickle that has the references."""

    def __init__(self, placement: Placement) -> None:
        self._placement = placement
        self._loaded: dict[str, Any] = {}

    def persistent_load(self, reference: Any) -> Any:
        """The storage that a reference in the pickle names."""
        kind, key, _, count = described(reference, 6)
        view = reference[5]
        if key not in self._loaded:
            raise UnpicklingError("a reference to a storage in the file is damaged")
        storage = seen_as(kind, self._loaded[key]._elements)
        if storage.nbytes() != count * kind.dtype.itemsize:
            raise RuntimeError(f"two references to the storage {key!r} contradict each other")
        if view is None:
            return storage
        if not (isinstance(view, tuple) and len(view) == 3 and type(view[1]) is type(view[2]) is int):
            raise UnpicklingError("a reference to a part of a storage in the file is damaged")
        _, start, length = view
        if not 0 <= start <= start + length <= len(storage):
            raise UnpicklingError("a part of a storage in the file lies outside of it")
        return storage[start : start + length]

    def read(self, references: list[Any], keys: Any, data: bytes, place: int) -> int:
        """Read the storages, which stand at `place`. Returns where they end."""
        wanted: dict[str, tuple[Any, ...]] = {}
        for reference in references:
            _, key, *_ = described(reference, 6)
            wanted.setdefault(key, reference)
        if not (isinstance(keys, list) and all(isinstance(key, str) for key in keys)):
            raise UnpicklingError("the keys of storages in the file are damaged")
        if sorted(keys) != sorted(wanted):
            raise RuntimeError("the keys of storages in the file are not those that its pickle refers to")
        for key in keys:
            kind, _, location, count = described(wanted[key], 6)
            found = int.from_bytes(data[place : place + 8], "little", signed=True)
            start, place = place + 8, place + 8 + count * kind.dtype.itemsize
            if found != count or place > len(data):
                raise RuntimeError(f"the storage {key!r} in the file is damaged, or the file ends too early")
            whole = seen_as(UntypedStorage, tensor_of_bytes(memoryview(data)[start:place], (place - start,), _BYTES))
            self._loaded[key] = self._placement(whole, location).untyped()
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
    references, end = references_in(data, place)
    keys, start = unpickle(end)
    last = storages.read(references, keys, data, start)
    result, place = unpickle(place)
    if place != end:
        raise UnpicklingError("the pickle in the file is damaged")
    return result, last


class LegacyCollected(Collected):
    """References have one more part in this format: which part of the storage is meant, None for all of it."""

    def reference(self, storage: Any) -> tuple[Any, ...]:
        """Return the reference to a storage, with None for all of it."""
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
