"""Storages: the memory that a tensor and its views share, seen as a one-dimensional sequence of elements.

Reads and writes the memory itself, so an element assigned here changes in every view.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from . import handles
from ._C import lib
from .dtypes import BY_CODE, EXPORTS, dtype
from .types import CPU, device

if TYPE_CHECKING:
    from typing_extensions import TypeIs

    from .tensor import Tensor

__all__ = ["TypedStorage", "UntypedStorage"]


class TypedStorage:
    """The memory behind tensors, in elements of one dtype. All views of one memory have the same object."""

    __slots__ = ("__weakref__", "_elements")
    __module__ = "opweave"

    # A one-dimensional tensor over the memory, which keeps it alive.
    _elements: Tensor

    def __init__(self) -> None:
        raise TypeError(f"a {type(self).__name__} cannot be made by itself: take the storage() of a tensor")

    @property
    def dtype(self) -> dtype:
        return self._elements.dtype

    @property
    def device(self) -> device:
        return CPU

    def __len__(self) -> int:
        return self._elements.numel()

    size = __len__

    def nbytes(self) -> int:
        return self._elements.nbytes

    def element_size(self) -> int:
        return self._elements.itemsize

    def data_ptr(self) -> int:
        """Address of the first byte; 0 when there is none."""
        return self._elements.data_ptr()

    def type(self) -> str:
        return f"opweave.{self.dtype.scalar_name}Storage"

    def _title(self) -> str:
        return f"TypedStorage(dtype={self.dtype}, device=cpu)"

    def tolist(self) -> list[Any]:
        return list(self._elements.tolist())

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist())

    def __contains__(self, element: Any) -> bool:
        return element in self.tolist()

    def __getitem__(self, index: Any) -> Any:
        """An element, or the storage of a range of elements in the same memory."""
        if isinstance(index, slice):
            if index.step not in (None, 1):
                raise RuntimeError(f"Trying to slice with a step of {index.step}, but only a step of 1 is supported")
            return _make(type(self), self._elements[index])
        return self._elements[self._place(index)].item()

    def __setitem__(self, index: Any, value: Any) -> None:
        self._elements[index if isinstance(index, slice) else self._place(index)] = value

    def _place(self, index: Any) -> int:
        if not hasattr(index, "__index__"):
            raise RuntimeError(f"can't index a {type(self)} with {type(index)}")
        place = operator.index(index)
        if not -len(self) <= place < len(self):
            raise IndexError(f"index {place} out of range for storage of size {len(self)}")
        return place

    def fill_(self, value: Any) -> TypedStorage:
        self._elements[:] = value
        return self

    def copy_(self, source: TypedStorage, non_blocking: bool = False) -> TypedStorage:
        self._elements.copy_(source._elements)
        return self

    def to(self, *, dtype: Any) -> TypedStorage:
        """The elements converted to another dtype, in memory of their own; itself when they have it."""
        converted = self._elements.to(dtype)
        return self if converted is self._elements else storage_of(converted)

    def cpu(self) -> TypedStorage:
        return self

    def __getattr__(self, name: str) -> Any:
        # `float()`, `int()` and so on, one for each dtype.
        for of in BY_CODE:
            if name == of.method:
                return partial(self.to, dtype=of)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    is_cuda = False

    def is_shared(self) -> bool:
        """Is the memory shared with other processes?"""
        return False

    is_pinned = is_shared

    def untyped(self) -> UntypedStorage:
        """The same memory in bytes."""
        return self._elements.untyped_storage()

    def clone(self) -> TypedStorage:
        """The same elements in memory of their own."""
        copied: TypedStorage = _make(type(self), self._elements.clone())
        return copied

    def __copy__(self) -> TypedStorage:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> TypedStorage:
        copied = memo[id(self)] = self.clone()
        return copied

    def __reduce__(self) -> tuple[Any, ...]:
        from .conversion import bytes_of

        return _rebuild_storage, (type(self), bytes_of(self._elements), self.dtype)

    def __repr__(self) -> str:
        lines = [f" {value}" for value in self.tolist()]
        return "\n".join([*lines, f"[opweave.{self._title()} of size {len(self)}]"])


class UntypedStorage(TypedStorage):
    """The memory behind tensors in bytes."""

    __slots__ = ()
    __module__ = "opweave"

    def _title(self) -> str:
        return "UntypedStorage(device=cpu)"

    def type(self) -> str:
        return "opweave.UntypedStorage"


def _make(kind: type[TypedStorage], elements: Any) -> Any:
    made = object.__new__(kind)
    made._elements = elements
    return made


# By address, class and dtype, while they are in use. The address cannot be taken by another storage meanwhile, as the
# elements keep it.
_storages: WeakValueDictionary[tuple[int, type, int], TypedStorage] = WeakValueDictionary()


def storage_of(tensor: Any, untyped: bool = False) -> Any:
    """The storage of a tensor, the same object for all its views."""
    kind = UntypedStorage if untyped else TypedStorage
    code = EXPORTS["uint8"].code if untyped else lib.dtype(tensor._h)
    address = lib.storage_of(tensor._h)
    found = _storages.get((address, kind, code))
    if found is None:
        elements = handles.wrap(lib.storage_tensor(address, code))
        found = _storages[address, kind, code] = _make(kind, elements)
    return found


def tensor_over(storage: TypedStorage, offset: int, sizes: tuple[int, ...], strides: tuple[int, ...]) -> float:
    """The handle of a tensor with this geometry in the storage."""
    return lib.as_strided(storage._elements._h, sizes, strides, len(sizes), offset, -1)


def _rebuild_storage(kind: type[TypedStorage], data: bytes, of: dtype) -> TypedStorage:
    from .conversion import tensor_of_bytes

    made: TypedStorage = _make(kind, tensor_of_bytes(data, (len(data) // of.itemsize,), of))
    return made


def is_storage(value: object) -> TypeIs[TypedStorage]:
    return isinstance(value, TypedStorage)
