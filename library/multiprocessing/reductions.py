"""Pickling of tensors between processes: their storages as descriptors of shared memory, or as names of files in
memory."""

from __future__ import annotations

from collections.abc import Callable
from multiprocessing.reduction import DupFd, ForkingPickler
from typing import Any

from .._base.devices import has_values
from .._tensor.shared_memory import from_descriptor, from_name, mapping_of, named_bytes, shared_bytes
from .._tensor.sharing import move, shared_copy
from .._tensor.storage import STORAGE_TYPES, AnyStorage, UntypedStorage
from .._tensor.storage_objects import seen_as
from .._tensor.tensor import Tensor
from ..nn.parameter import Parameter

__all__ = ["get_all_sharing_strategies", "get_sharing_strategy", "init_reductions", "set_sharing_strategy"]

_MAKERS: dict[str, Callable[[int], Any]] = {"file_descriptor": shared_bytes, "file_system": named_bytes}
_strategy = "file_descriptor"


def set_sharing_strategy(new_strategy: str) -> None:
    """Choose how processes share memory: by `file_descriptor`, of which a process may have only so many open, or by
    `file_system`, where a file in memory stays behind if a process that it is sent to ends before it has been received.
    """
    global _strategy
    if new_strategy not in _MAKERS:
        raise AssertionError(
            f"invalid sharing strategy {new_strategy!r}, expected one of {get_all_sharing_strategies()}"
        )
    _strategy = new_strategy


def get_sharing_strategy() -> str:
    """Return how processes share memory."""
    return _strategy


def get_all_sharing_strategies() -> set[str]:
    """Return the names of all ways to share memory."""
    return set(_MAKERS)


def init_reductions() -> None:
    """Register functions by which the queues and pipes of multiprocessing send tensors in shared memory."""
    for kind in (Tensor, Parameter):
        ForkingPickler.register(kind, reduce_tensor)
    storages: list[type[AnyStorage]] = [UntypedStorage, *STORAGE_TYPES.values()]
    for each in storages:
        ForkingPickler.register(each, reduce_storage)


def reduce_tensor(tensor: Any) -> Any:
    """A tensor, whose storage follows."""
    if tensor.requires_grad and not tensor.is_leaf:
        raise RuntimeError(
            "Cowardly refusing to serialize non-leaf tensor which requires_grad, since autograd does not support "
            "crossing process boundaries.  If you just want to transfer the data, call detach() on the tensor before "
            "serializing (e.g., putting it on the queue)."
        )
    if has_values(tensor):
        move(tensor, _MAKERS[_strategy])  # else what is sent is a copy
    return tensor.__reduce_ex__(2)


def reduce_storage(storage: AnyStorage) -> Any:
    """A storage, as what leads to its memory."""
    if not has_values(storage._elements) or not storage.nbytes():
        return storage.__reduce_ex__(2)
    mapping = mapping_of(storage)
    if mapping is None or (mapping.address, mapping.nbytes) != (storage.data_ptr(), storage.nbytes()):
        storage = seen_as(type(storage), shared_copy(storage, _MAKERS[_strategy]))
        mapping = mapping_of(storage)
        assert mapping is not None
    if mapping.name is not None:
        mapping.is_sent()
        return _from_name, (type(storage), mapping.name, mapping.nbytes)
    return _from_descriptor, (type(storage), DupFd(mapping.descriptor), mapping.nbytes)


def _from_descriptor(kind: type[AnyStorage], descriptor: Any, nbytes: int) -> Any:
    return seen_as(kind, from_descriptor(descriptor.detach(), nbytes))


def _from_name(kind: type[AnyStorage], name: str, nbytes: int) -> Any:
    return seen_as(kind, from_name(name, nbytes))
