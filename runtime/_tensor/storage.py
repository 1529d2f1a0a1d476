"""Storages: the memory that a tensor and its views share, seen as a one-dimensional sequence of elements.

Reads and writes the memory itself, so an element assigned here changes in every view.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from .._base import handles
from .._base.allocation import allocate
from .._base.devices import CPU, available, has_values, on_device
from .._base.devices import device as device_class
from .._base.dtypes import EXPORTS, OF_ELEMENTS, get_default_dtype
from .._base.dtypes import dtype as dtype_class
from .._base.handles import is_integer
from .._base.types import check_placement
from . import storage_objects
from .construct import tensor
from .storage_facts import StorageFacts, bytes_of_buffer, swap_bytes
from .storage_objects import make_storage, part, resize, seen_as

if TYPE_CHECKING:
    from typing_extensions import Buffer, Self, TypeIs

__all__ = ["STORAGE_TYPES", "TypedStorage", "UntypedStorage"]
_PACKAGE_NAMES = [
    "QInt32Storage",
    "QInt8Storage",
    "QUInt8Storage",
    "Storage",
    "TypedStorage",
    "UntypedStorage",
    "is_storage",
]


class AnyStorage(StorageFacts):
    """The memory behind tensors as a sequence of elements. All views of one memory have the same object."""

    # A one-dimensional tensor over the memory, which keeps it alive.
    __slots__ = ("__weakref__", "_elements")

    dtype: dtype_class

    def __len__(self) -> int:
        """Return the number of elements."""
        return self._elements.numel()

    size = __len__

    def nbytes(self) -> int:
        """Return the number of bytes."""
        return self._elements.nbytes

    def element_size(self) -> int:
        """Return the number of bytes of an element."""
        return self._elements.itemsize

    def data_ptr(self) -> int:
        """Address of the first byte; 0 when there is none."""
        return self._elements.data_ptr()

    def type(self) -> str:
        """Return the name of the type, such as `opweave.FloatStorage`."""
        return f"opweave.{type(self).__name__}"

    def _title(self) -> str:
        return self.type()

    def tolist(self) -> list[Any]:
        """Return the elements as a list of Python numbers."""
        self._check_elements()
        return list(self._elements.tolist())

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist())

    def __contains__(self, element: Any) -> bool:
        return element in self.tolist()

    def _check_elements(self) -> None:
        if not has_values(self._elements):
            raise NotImplementedError("Not available for 'meta' device type")

    def __getitem__(self, index: Any) -> Any:
        """An element, or the storage of a range of elements, which has the memory of these alone."""
        self._check_elements()
        if isinstance(index, slice):
            if index.step not in (None, 1):
                raise RuntimeError(f"Trying to slice with a step of {index.step}, but only a step of 1 is supported")
            return part(self, self._elements[index])
        return self._elements[self._place(index)].item()

    def __setitem__(self, index: Any, value: Any) -> None:
        self._check_elements()
        self._elements[index if isinstance(index, slice) else self._place(index)] = value

    def _place(self, index: Any) -> int:
        if not hasattr(index, "__index__"):
            raise RuntimeError(f"can't index a {type(self)} with {type(index)}")
        position = operator.index(index)
        if not -len(self) <= position < len(self):
            raise IndexError(f"index {position} out of range for storage of size {len(self)}")
        return position

    def fill_(self, value: Any) -> Self:
        """Write one number to all elements and return the storage."""
        self._elements[:] = value
        return self

    def resize_(self, size: int) -> Self:
        """Make the storage hold so many elements; those that are there stay, and new ones are not initialised.

        Memory that is no longer used stays the storage's: tensors that reach beyond the new end keep their elements,
        and the storage can grow back. It cannot grow further while tensors share it, which would not see it move.
        """
        if not is_integer(size):
            raise TypeError(f"resize_(): argument 'size' (position 1) must be int, not {handles.type_name(size)}")
        nbytes = operator.index(size) * self.element_size()
        if not 0 <= nbytes < 2**63:
            raise RuntimeError(f"a storage cannot have {size} elements")
        resize(self, nbytes)
        return self

    def copy_(self, source: AnyStorage, non_blocking: bool = False) -> Self:
        """Copy the elements of another storage into this one and return it."""
        self._elements.copy_(source._elements)
        return self

    def to(self, *, device: Any = None, non_blocking: bool = False, dtype: Any = None) -> Any:
        """The elements on a device or converted to another dtype, in memory of their own; itself when they are so."""
        wanted = self.dtype if dtype is None else dtype
        converted = self._elements.to(self.device if device is None else available(device), wanted)
        kind = type(self) if wanted is self.dtype else TYPE_OF_CODE[wanted.code]
        return self if converted is self._elements else seen_as(kind, converted)

    def cpu(self) -> Self:
        """Return the storage itself. Raises NotImplementedError where it has no elements."""
        self._check_elements()
        return self

    def __getattr__(self, name: str) -> Any:
        # `float()`, `int()` and so on, one for each dtype.
        name = _OTHER_NAMES.get(name, name)
        for dtype in OF_ELEMENTS.values():
            if name == dtype.method:
                return partial(self.to, dtype=dtype)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def is_shared(self) -> bool:
        """Return whether other processes can share the memory."""
        from .shared_memory import mapping_of

        return mapping_of(self) is not None

    def share_memory_(self) -> Self:
        """Move the memory to where processes can share it, and return the storage.

        Raises RuntimeError while tensors have the memory, which would not see it move: `share_memory_` of a tensor
        moves both.
        """
        from .sharing import share

        share(self._elements)
        return self

    def untyped(self) -> UntypedStorage:
        """The same memory in bytes."""
        return self._elements.untyped_storage()

    def clone(self) -> Self:
        """The same elements in memory of their own."""
        copied: Self = make_storage(type(self), self._elements.clone())
        return copied

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        copied = memo[id(self)] = self.clone()
        return copied

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        from .storage_pickle import reduced

        return reduced(self, protocol)

    def __repr__(self) -> str:
        lines = [f" {value}" for value in self.tolist()] if has_values(self._elements) else ["..."]
        return "\n".join([*lines, f"[{self._title()} of size {len(self)}]"])


_OTHER_NAMES = {"complex_float": "cfloat", "complex_double": "cdouble"}
"""torch's names of conversions that tensors have by others."""


class UntypedStorage(AnyStorage):
    """The memory behind tensors in bytes. It is made of a number of bytes or of a sequence of their values."""

    __slots__ = ()
    __module__ = "opweave"

    dtype = EXPORTS["uint8"]

    def __new__(cls, *args: Any, device: Any = None) -> Self:
        where = check_placement(cls.__name__, device=device) or CPU
        elements = on_device(where, _elements_of, cls, args, cls.dtype)
        return seen_as(UntypedStorage, elements)  # type: ignore[no-any-return]

    @classmethod
    def from_file(cls, filename: Any, shared: bool = False, nbytes: int = 0) -> Self:
        """Return the first bytes of a file as memory.

        Args:
            shared (bool): what is written goes to the file, which is made, or made longer, if that is needed; otherwise
                it stays in this process.
            nbytes (int): how many.
        """
        return _of_file(cls, filename, shared, nbytes)  # type: ignore[no-any-return]

    @classmethod
    def from_buffer(
        cls, buffer: Buffer, byte_order: str | None = None, count: int = -1, offset: int = 0, *, dtype: dtype_class
    ) -> Self:
        """Return a copy of elements in a buffer.

        Args:
            byte_order (str): of the elements there: `little`, `big` or `native`; None is for elements of one byte.
            count (int): how many; -1: all.
            offset (int): the byte at which they begin.
            dtype: of the elements.

        Raises:
            ValueError: the buffer has fewer elements, or no whole number of them.
            RuntimeError: `byte_order` is missing.
        """
        of = dtype_class.resolve(dtype, "from_buffer")
        return seen_as(cls, bytes_of_buffer(buffer, byte_order, count, offset, of))  # type: ignore[no-any-return]

    def byteswap(self, dtype: dtype_class) -> None:
        """Bring the bytes of elements of a dtype from one byte order into the other."""
        self._check_elements()
        swap_bytes(self._elements, dtype)

    def new(self) -> Self:
        """Return a storage without elements."""
        return type(self)()

    def _title(self) -> str:
        return f"opweave.UntypedStorage(device={self.device})"


class TypedStorage(AnyStorage):
    """The memory behind tensors in elements of one dtype: of a subclass for each, `FloatStorage` and so on.

    It is made of a number of elements, which are not initialised, of a sequence of their values, or with
    `wrap_storage=` of the memory of an UntypedStorage. Without a subclass `dtype` chooses it, and else the default
    dtype. Arguments of other types raise TypeError, other combinations RuntimeError.
    """

    __slots__ = ()
    __module__ = "opweave"

    def __new__(
        cls,
        *args: Any,
        wrap_storage: Any = None,
        dtype: dtype_class | None = None,
        device: device_class | str | None = None,
    ) -> Self:
        where = check_placement(cls.__name__, device=device) or CPU
        kind: type[TypedStorage] = cls
        if kind is TypedStorage:
            resolved = get_default_dtype() if dtype is None else dtype_class.resolve(dtype, cls.__name__)
            kind = TYPE_OF_CODE[resolved.code]
        elif dtype is not None:
            raise RuntimeError(_invalid(cls, "Keyword argument 'dtype' cannot be specified"))
        if wrap_storage is None:
            return seen_as(kind, on_device(where, _elements_of, cls, args, kind.dtype))  # type: ignore[no-any-return]
        if args:
            raise RuntimeError(_invalid(cls, "No positional arguments should be given when using 'wrap_storage'"))
        if not isinstance(wrap_storage, UntypedStorage):
            got = type(wrap_storage)
            raise TypeError(_invalid(cls, f"Argument 'wrap_storage' must be UntypedStorage, but got {got}"))
        return seen_as(kind, wrap_storage._elements)  # type: ignore[no-any-return]

    @classmethod
    def from_file(cls, filename: Any, shared: bool, size: int) -> Self:
        """Return the first `size` elements of a file as memory. `shared` is that of `UntypedStorage.from_file`."""
        if not hasattr(cls, "dtype"):
            raise RuntimeError("from_file can only be called on derived classes")
        return _of_file(cls, filename, shared, size)  # type: ignore[no-any-return]

    @classmethod
    def from_buffer(
        cls,
        buffer: Buffer,
        byte_order: str | None = None,
        count: int = -1,
        offset: int = 0,
        *,
        dtype: dtype_class | None = None,
    ) -> Self:
        """Return a copy of elements in a buffer, as `UntypedStorage.from_buffer` does.

        `dtype` is for TypedStorage alone: its subclasses have their own.
        """
        of = getattr(cls, "dtype", dtype)
        if of is None:
            raise RuntimeError("argument 'dtype' cannot be None")
        kind = TYPE_OF_CODE[dtype_class.resolve(of, "from_buffer").code]
        return seen_as(kind, bytes_of_buffer(buffer, byte_order, count, offset, of))  # type: ignore[no-any-return]

    def pickle_storage_type(self) -> str:
        """Return the name of the class by which files name the storage, such as `FloatStorage`."""
        return type(self).__name__


def _invalid(kind: type, why: str) -> str:
    return (
        f"{kind}.__new__ received an invalid combination of arguments. Expected one of:\n"
        f" * no arguments\n * (int size)\n * (Sequence data)\n * (*, UntypedStorage wrap_storage)\n{why}"
    )


def _elements_of(kind: type, args: tuple[Any, ...], dtype: dtype_class) -> Any:
    """The tensor that `kind(*args)` is the storage of."""
    if len(args) > 1:
        raise RuntimeError(_invalid(kind, "Too many positional arguments"))
    first: Any = args[0] if args else 0
    if isinstance(first, (Sequence, range)) and not isinstance(first, str):
        return tensor(list(first), dtype=getattr(dtype, "memory", dtype)).reshape(-1)
    if isinstance(first, handles.Tensor) or not is_integer(first):
        raise TypeError(_invalid(kind, f"Argument type not recognized: {type(first)}"))
    if first < 0:
        raise RuntimeError(f"{kind.__name__}: the size must not be negative, but got {first}")
    return allocate((first,), dtype.code)


def _of_file(kind: type[AnyStorage], filename: Any, shared: bool, size: int) -> Any:
    from .sharing import elements_of_file

    return seen_as(kind, elements_of_file(filename, shared, size, kind.dtype))


STORAGE_TYPES: dict[str, type[TypedStorage]] = {
    f"{dtype.scalar_name}Storage": type(
        f"{dtype.scalar_name}Storage", (TypedStorage,), {"__slots__": (), "__module__": "opweave", "dtype": dtype}
    )
    for dtype in OF_ELEMENTS.values()
}
"""The classes of storages by name."""

globals().update(STORAGE_TYPES)
QInt8Storage, QUInt8Storage, QInt32Storage = (STORAGE_TYPES[f"{name}Storage"] for name in ("QInt8", "QUInt8", "QInt32"))

Storage = STORAGE_TYPES["FloatStorage"]
"""The storage type of the default dtype, as in torch."""

TYPE_OF_CODE = dict(zip(OF_ELEMENTS, STORAGE_TYPES.values(), strict=True))
"""The classes of storages by the number of the dtype of the elements."""

storage_objects.KINDS += [UntypedStorage, *STORAGE_TYPES.values()]


def is_storage(value: object) -> TypeIs[AnyStorage]:
    """Return whether `value` is a storage, typed or untyped."""
    return isinstance(value, AnyStorage)
