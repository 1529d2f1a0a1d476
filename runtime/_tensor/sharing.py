"""Tensors in memory that processes share: `share_memory_`, `is_shared`, `from_file`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._base import handles
from .._base.allocation import allocate, dtype_or_default
from .._base.devices import CPU, on_device
from .._base.dtypes import EXPORTS, dtype
from .._base.handles import shape_of, strides_of, type_name, wrap
from .._base.types import check_placement
from .._C import lib
from .shared_memory import bytes_of_file, mapping_of, shared_bytes
from .storage import AnyStorage
from .storage_objects import follow, objects_of

if TYPE_CHECKING:
    from .tensor import Tensor

__all__ = ["elements_of_file", "from_file", "move", "share", "shared_copy"]
_PACKAGE_NAMES = ["from_file"]


def _known(tensor: Any) -> list[Any]:
    """The tensors that are known to have the tensor's memory: itself, and what it is a view of."""
    known, address = [], lib.storage_of(tensor._h)
    while tensor is not None and lib.storage_of(tensor._h) == address:
        known.append(tensor)
        tensor = tensor._base
    return known


def _is_movable(tensor: Any) -> bool:
    elements = [each._elements for each in objects_of(lib.storage_of(tensor._h))]
    return lib.storage_uses(tensor._h) == len({id(each) for each in (*_known(tensor), *elements)})


def shared_copy(storage: AnyStorage, make: Any = shared_bytes) -> Any:
    """A tensor in new shared memory with the bytes of a storage."""
    elements: Any = storage._elements
    return make(storage.nbytes()).copy_(elements.view(EXPORTS["uint8"]))


def move(tensor: Any, make: Any = shared_bytes) -> bool:
    """Give a tensor shared memory with the same elements, if it has not got such. Its storage objects follow.

    Returns False, and does nothing, while other tensors have the memory, which would miss where it has gone.
    """
    storage = tensor.untyped_storage()
    if tensor.device is not CPU:
        raise RuntimeError("_share_fd_: only available on CPU")
    if mapping_of(storage) is not None or not storage.nbytes():
        return True
    if not _is_movable(tensor):
        return False
    moved = shared_copy(storage, make)
    if not _is_movable(tensor):  # since another thread has made a view meanwhile
        return False
    follow(objects_of(lib.storage_of(tensor._h)), moved)
    for each in _known(tensor):
        handle = each._h
        sizes, offset = shape_of(handle), lib.storage_offset(handle)
        exact = lib.as_strided(moved._h, sizes, strides_of(handle), len(sizes), offset, lib.dtype(handle))
        same: Any = wrap(exact)
        handles.exchange(each, same.conj() if each.is_conj() else same)
    return True


def share(tensor: Any) -> None:
    """Move a tensor. Raises RuntimeError where it cannot move."""
    if not move(tensor):
        raise RuntimeError(
            "share_memory_(): other tensors have the same memory, such as views of this one, and would not see it "
            "move. Call share_memory_() before there are any, or on clone()."
        )


# ---- files --------------------------------------------------------------------------------------------------


def elements_of_file(filename: Any, shared: Any, size: Any, of: dtype) -> Any:
    """A tensor of the first elements of a file."""
    if not handles.is_integer(size):
        raise TypeError(f"from_file(): argument 'size' must be int, not {type_name(size)}")
    if size < 0:
        raise RuntimeError(f"from_file(): the size must not be negative, but got {size}")
    if size * of.itemsize >= 2**63:
        raise RuntimeError(f"from_file(): a file cannot have {size} elements of {of}")
    if not size:
        return on_device(CPU, allocate, (0,), of.code)
    return bytes_of_file(filename, bool(shared), size * of.itemsize).view(of)


def from_file(
    filename: Any,
    shared: bool | None = None,
    size: int = 0,
    *,
    dtype: dtype | None = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
) -> Tensor:
    """Return a tensor whose memory is a file.

    Args:
        filename: the path.
        shared (bool): what is written goes to the file, which is made, or made longer, if that is needed. Otherwise
            it stays in this process.
        size (int): the number of elements.
        dtype: of the elements; None: the default dtype.

    Raises:
        RuntimeError: the file cannot be opened, or is shorter.

    Example:
        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp(), "numbers")
        >>> _ = path.write_bytes(bytes([1, 2, 3]))
        >>> opweave.from_file(str(path), size=3, dtype=opweave.uint8)
        tensor([1, 2, 3], dtype=opweave.uint8)
    """
    where = check_placement("from_file", layout=layout, device=device, pin_memory=pin_memory)
    if pin_memory:
        raise RuntimeError("tensors constructed from a file cannot be pinned")
    if where not in (None, CPU):
        raise RuntimeError("from_file(): only tensors of the CPU can have a file as their memory")
    elements: Tensor = elements_of_file(filename, shared, size, dtype_or_default(dtype, "from_file"))
    return elements
