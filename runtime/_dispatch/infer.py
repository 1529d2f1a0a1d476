"""What the result of a call would be, without computing it: for tracing, for `out=`, for other devices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._base.devices import META, on_device
from .._base.handles import shape_of, strides_of, wrap
from .._base.tensor_class import Tensor
from .._C import lib
from .dispatcher import call
from .op import NEW, Op


def infer(op: Op, args: Sequence[Any], out: Any = None, mode: int = NEW) -> Any:
    """The result of a call as tensors on the device `meta`: their dtypes, shapes and strides. Raises its errors.

    The call sees its tensors as such ones, which share memory where these do: nothing is computed, nothing is written.
    """
    described = Descriptions()
    return on_device(META, call, op, described.of(args), described.of(out), mode)


class Descriptions:
    """Tensors on the device `meta` in place of others, for the arguments of one call."""

    def __init__(self) -> None:
        self._memory: dict[int, Any] = {}
        self._tensors: dict[int, Any] = {}

    def of(self, value: Any) -> Any:
        """The same value with all tensors replaced, those in lists among them; one tensor always by the same."""
        if isinstance(value, Tensor):
            return self._of_tensor(value)
        if type(value) in (list, tuple):
            return type(value)(map(self.of, value))
        return value

    def _of_tensor(self, tensor: Any) -> Any:
        found = self._tensors.get(id(tensor))
        if found is not None:
            return found
        handle = tensor._h
        storage = lib.storage_of(handle)
        memory = self._memory.get(storage)
        if memory is None:
            memory = self._memory[storage] = wrap(lib.storage_described(storage))
        shape, offset = shape_of(handle), lib.storage_offset(handle)
        view = lib.as_strided(memory._h, shape, strides_of(handle), len(shape), offset, lib.dtype(handle))
        self._tensors[id(tensor)] = described = wrap(view)
        return described
