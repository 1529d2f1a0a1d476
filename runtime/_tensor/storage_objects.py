"""The objects of storages: one for each memory and class, however many tensors and views have it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from .._base import handles
from .._base.allocation import allocate
from .._base.devices import CPU, on_device
from .._base.errors import raise_pending
from .._C import lib
from .._handle import over_memory

if TYPE_CHECKING:
    from .storage import AnyStorage

KINDS: list[type[AnyStorage]] = []
"""The classes of which there are objects, the untyped one first; storage.py adds them."""

# By address and class, while they are in use. The address cannot be taken by another storage meanwhile, as the
# elements keep it.
_storages: WeakValueDictionary[tuple[int, type], AnyStorage] = WeakValueDictionary()


def make_storage(kind: type[AnyStorage], elements: Any) -> Any:
    """Return a storage object of a class for the memory of elements."""
    storage = object.__new__(kind)
    storage._elements = elements
    return storage


def seen_as(kind: type[AnyStorage], tensor: Any) -> Any:
    """The memory of the tensor as a storage of this class."""
    address = lib.storage_of(tensor._h)
    storage = _storages.get((address, kind))
    if storage is None:
        elements = handles.wrap(lib.storage_tensor(address, kind.dtype.code))
        storage = _storages[address, kind] = make_storage(kind, elements)
    return storage


def objects_of(address: int) -> list[AnyStorage]:
    """The storage objects of a storage of the core."""
    return [each for kind in KINDS if (each := _storages.get((address, kind))) is not None]


def follow(objects: list[AnyStorage], tensor: Any) -> None:
    """Make storage objects stand for the memory of a tensor."""
    for each in objects:
        del _storages[lib.storage_of(each._elements._h), type(each)]
        each._elements = handles.wrap(lib.storage_tensor(lib.storage_of(tensor._h), each.dtype.code))
        _storages[lib.storage_of(tensor._h), type(each)] = each


def resize(storage: AnyStorage, nbytes: int) -> None:
    """Makes the memory of a storage so long; RuntimeError where it would have to move from under tensors."""
    address = lib.storage_of(storage._elements._h)
    seen = objects_of(address)
    done = lib.storage_resize(address, nbytes)
    if done < 0:
        raise_pending()
    whole = storage._elements
    if not done:
        if lib.storage_uses(whole._h) > len(seen):
            raise RuntimeError(
                f"resize_(): the storage cannot grow from {lib.storage_nbytes(address)} to {nbytes} bytes, as tensors "
                "share its memory and would not see it move; resize_() of a tensor gives that one larger memory"
            )
        whole = on_device(whole.device, allocate, (nbytes,), KINDS[0].dtype.code)
        whole[: lib.storage_nbytes(address)] = storage.untyped()._elements
    follow(seen, whole)


def part(storage: AnyStorage, elements: Any) -> Any:
    """The storage of some of the elements of another one, which keeps the memory of that."""
    if not elements.numel():
        return seen_as(type(storage), allocate((0,), storage.dtype.code))
    if elements.device is not CPU:
        raise NotImplementedError(f"parts of storages on the device {elements.device} are no storages of their own")
    readonly = bool(lib.storage_readonly(lib.storage_of(elements._h)))
    geometry = tuple(elements.shape), (1,), storage.dtype.code
    memory = over_memory(elements, elements.data_ptr(), elements.nbytes, *geometry, readonly)
    return seen_as(type(storage), handles.wrap(memory))
