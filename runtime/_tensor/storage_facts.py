"""Facts of storages, and conversions of their bytes: the less common part of torch's storages."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, NoReturn

from .._base.devices import available
from .._base.devices import device as device_class
from .._base.dtypes import EXPORTS, dtype
from .._base.errors import take_pending
from .._base.interchange import tensor_of_bytes
from .._C import lib

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from .tensor import Tensor

__all__ = ["StorageFacts", "bytes_of_buffer", "swap_bytes"]


class StorageFacts:
    """Mixed into storages."""

    __slots__ = ()

    _elements: Tensor

    is_cuda = False
    is_hpu = False
    is_sparse = False
    is_sparse_csr = False

    @property
    def device(self) -> device_class:
        """The device of the memory."""
        where: device_class = self._elements.device
        return where

    def get_device(self) -> int | None:
        """Return the index of the device: None, as neither the CPU nor `meta` has one."""
        return self.device.index

    @property
    def filename(self) -> str | None:
        """The path of the file that is the memory and is written to; None for other memory."""
        from .shared_memory import mapping_of

        mapping = mapping_of(self)
        return None if mapping is None else mapping.path

    def resizable(self) -> bool:
        """Return whether the number of bytes can change: not that of memory that others know or own."""
        address = lib.storage_of(self._elements._h)
        if lib.storage_resize(address, lib.storage_nbytes(address)) >= 0:
            return True
        take_pending()
        return False

    def is_pinned(self, device: Any = None) -> bool:
        """Return whether a device has allocated the memory, which is the CPU's, as `pin_memory` has it."""
        return self._elements.is_pinned(device)

    def pin_memory(self: Any, device: Any = None) -> Any:
        """Return the storage itself where its memory is pinned, else a copy in memory of the CPU that the accelerator
        allocates.

        Raises:
            TypeError: the memory is not the CPU's.
            RuntimeError: there is no accelerator, or none with such memory.
        """
        if self.device.type != "cpu":
            raise TypeError(f"cannot pin '{self.type()}' only CPU memory can be pinned")
        from .storage_objects import seen_as

        pinned = self._elements.pin_memory(device)
        return self if pinned is self._elements else seen_as(type(self), pinned)

    def cuda(self, device: Any = None, non_blocking: bool = False) -> NoReturn:
        """Raise RuntimeError: there is no such device."""
        available("cuda" if device is None else device)
        raise RuntimeError(f"cuda(): expected a CUDA device, but got {device!r}")


def bytes_of_buffer(buffer: Buffer, byte_order: Any, count: int, offset: int, of: dtype) -> Tensor:
    """A tensor of the bytes of elements in a buffer, in the byte order of this machine."""
    if byte_order is None and of.itemsize > 1:
        raise RuntimeError("function missing required argument 'byte_order' (pos 2)")
    if byte_order not in (None, "big", "little", "native"):
        raise ValueError(f"invalid byte_order {byte_order!r} (expected 'big', 'little', or 'native')")
    view = memoryview(buffer).cast("B")
    if not 0 <= offset <= len(view):
        raise ValueError(
            f"offset must be non-negative and no greater than buffer length ({len(view)}), but got {offset}"
        )
    found, rest = divmod(len(view) - offset, of.itemsize)
    if count < 0 and rest:
        raise ValueError(f"buffer size ({len(view)}) must be a multiple of element size ({of.itemsize})")
    if count > found:
        raise ValueError(f"buffer has only {found} elements after offset {offset}, but specified a size of {count}")
    nbytes = (found if count < 0 else count) * of.itemsize
    elements = tensor_of_bytes(view[offset : offset + nbytes], (nbytes,), EXPORTS["uint8"])
    if byte_order not in (None, "native", sys.byteorder):
        swap_bytes(elements, of)
    return (elements != 0).to(EXPORTS["uint8"]) if of is EXPORTS["bool"] else elements


def swap_bytes(elements: Any, of: dtype) -> None:
    """Bring elements of a dtype, in a tensor of bytes, from one byte order into the other."""
    width = of.itemsize // 2 if of.is_complex else of.itemsize
    swapped = elements[: len(elements) // width * width].view(-1, width)
    swapped.copy_(swapped.flip(1))
