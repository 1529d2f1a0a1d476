"""Pickles of storages: their bytes, which protocol 5 can hand over without a copy, and back."""

from __future__ import annotations

from pickle import PickleBuffer
from typing import Any

from .._base.allocation import allocate
from .._base.devices import CPU, META, device, has_values, is_registered, on_device
from .._base.dtypes import dtype
from .._base.errors import no_values
from .._base.handles import address_of, wrap
from .._base.interchange import tensor_of_bytes
from .._C import ffi, lib
from .._handle import over_memory
from .storage import AnyStorage
from .storage_objects import make_storage

__all__ = ["memory_of", "reduced"]


def reduced(storage: AnyStorage, protocol: int) -> tuple[Any, ...]:
    """Return what a pickle stores for a storage."""
    data: Any
    if not has_values(storage._elements):
        data = len(storage)
    elif protocol >= 5:
        data = PickleBuffer(memory_of(storage))  # which may go its own way, without a copy
    else:
        data = bytes(memory_of(storage))
    where = storage.device
    return _rebuild_storage, (type(storage), data, storage.dtype, *([where] if is_registered(where) else []))


def memory_of(storage: AnyStorage) -> memoryview:
    """The memory of a storage as bytes, which keep it where it is: of another device, a copy on the CPU.

    Raises NotImplementedError where there is none.
    """
    elements: Any = storage._elements
    if not has_values(elements):
        raise no_values()
    nbytes = storage.nbytes()
    if not nbytes:
        return memoryview(b"")
    elements = elements.cpu()
    address = lib.storage_of(elements._h)
    lib.storage_retain(address)
    owner = ffi.gc(address_of(elements._h), lambda _: lib.storage_release(address))
    memory = memoryview(ffi.buffer(owner, nbytes)).cast("B")
    return memory.toreadonly() if lib.storage_readonly(address) else memory


def _rebuild_storage(kind: type[AnyStorage], data: Any, of: dtype, where: device = CPU) -> AnyStorage:
    """A storage of these bytes on a device, or of so many elements on the device `meta`.

    Memory that can be written to becomes that of the storage, where its elements are aligned; other memory is copied.
    """
    if not (isinstance(kind, type) and issubclass(kind, AnyStorage) and getattr(kind, "dtype", None) is of):
        raise TypeError(f"expected a class of storages and its dtype, but got {kind!r} and {of!r}")
    if isinstance(data, int):
        elements = on_device(META, allocate, (data,), of.code)
    else:
        elements = _over_bytes(data, of).to(where)
    storage: AnyStorage = make_storage(kind, elements)
    return storage


def _over_bytes(data: Any, of: dtype) -> Any:
    view = memoryview(data)
    count = view.nbytes // of.itemsize
    if count and not view.readonly and view.c_contiguous:
        memory = ffi.from_buffer("char[]", view)
        address = int(ffi.cast("uintptr_t", memory))
        if not address % of.itemsize:
            nbytes = count * of.itemsize
            return wrap(over_memory(memory, address, nbytes, (count,), (1,), of.code, False))
    return tensor_of_bytes(view.cast("B")[: count * of.itemsize], (count,), of)


_rebuild_storage.__module__ = "opweave._rebuild"  # which pickles name, wherever the code moves
