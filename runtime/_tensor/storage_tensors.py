"""The storage of a tensor, and tensors over the memory of a storage."""

from __future__ import annotations

from typing import Any

from .._base import handles
from .._base.devices import stands_for_others
from .._base.dtypes import EXPORTS
from .._base.dtypes import dtype as dtype_class
from .._base.keys import KEY_BITS
from .._C import lib
from .storage import TYPE_OF_CODE, AnyStorage, UntypedStorage
from .storage_objects import seen_as


def storage_of(tensor: Any, untyped: bool = False) -> Any:
    """The storage of a tensor, the same object for all its views."""
    if stands_for_others(tensor):
        owner = f"its class {type(tensor).__name__}" if lib.keys(tensor._h) & KEY_BITS["wrapper"] else "its payload"
        raise NotImplementedError(f"Cannot access storage of a tensor that stands for others: {owner} has them")
    kind = UntypedStorage if untyped else TYPE_OF_CODE[lib.element_dtype(tensor._h)]
    return seen_as(kind, tensor)


def tensor_over(storage: AnyStorage, offset: int, sizes: tuple[int, ...], strides: tuple[int, ...]) -> float:
    """The handle of a tensor with this geometry in the storage."""
    if not isinstance(storage, AnyStorage):
        raise TypeError(f"expected a storage, but got {handles.type_name(storage)}")
    if len(sizes) != len(strides):
        raise ValueError(f"{len(sizes)} sizes need as many strides, but got {len(strides)}")
    return lib.as_strided(storage._elements._h, sizes, strides, len(sizes), offset, -1)


def tensor_of(storage: AnyStorage, of: dtype_class | None) -> Any:
    """A tensor of all elements of a storage, over its memory. Bytes are read as elements of `of`, or as int64."""
    own = None if isinstance(storage, UntypedStorage) else storage.dtype
    wanted = dtype_class.resolve(of or own or EXPORTS["int64"], "tensor")
    if own is not None and own is not wanted:
        raise RuntimeError(
            f"Expected a Storage of type {wanted.scalar_name} or an UntypedStorage, but got {own.scalar_name}"
        )
    count = storage.nbytes() // wanted.itemsize
    return handles.wrap(lib.as_strided(storage._elements._h, (count,), (1,), 1, 0, wanted.code))
