"""Other tensors in place of those of one call: of the same dtypes, shapes and strides, in other memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._base.handles import shape_of, strides_of, wrap
from .._base.tensor_class import Tensor
from .._C import lib


class Substitutes:
    """Tensors over other memory, which share it where the tensors that they stand for do.

    Args:
        memory: called with a tensor, gives the bytes that its storage is replaced by; None leaves the tensor.
    """

    def __init__(self, memory: Callable[[Any], Any]) -> None:
        self._memory = memory
        self.bytes_of: dict[int, Any] = {}
        """The copies of bytes that replace storages, by storage."""
        self.originals: dict[int, tuple[Any, Any]] = {}
        """The tensors that were replaced with those that stand for them, by the id of each."""

    def of(self, value: Any) -> Any:
        """The same value with all tensors replaced, those in lists among them; one tensor always by the same."""
        if isinstance(value, Tensor):
            return self._of_tensor(value)
        if type(value) in (list, tuple):
            return type(value)(map(self.of, value))
        return value

    def _of_tensor(self, tensor: Any) -> Any:
        if id(tensor) in self.originals:
            return self.originals[id(tensor)][1]
        storage = lib.storage_of(tensor._h)
        if storage not in self.bytes_of:
            self.bytes_of[storage] = self._memory(tensor)
        memory = self.bytes_of[storage]
        substitute = tensor if memory is None else over(memory, tensor)
        self.originals[id(tensor)] = tensor, substitute
        return substitute


def over(memory: Any, tensor: Any) -> Any:
    """A tensor over the memory of another one, with the dtype, the shape, the strides and the offset of a third."""
    handle = tensor._h
    shape, offset = shape_of(handle), lib.storage_offset(handle)
    return wrap(lib.as_strided(memory._h, shape, strides_of(handle), len(shape), offset, lib.dtype(handle)))
