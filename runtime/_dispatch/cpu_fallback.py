"""Calls of tensors of a registered device, computed by the CPU: elements go there and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._base.devices import CPU, device, device_of, is_registered, on_device
from .._base.generator import Generator
from .._base.handles import exchange, shape_of, strides_of
from .._base.pytree import tree_map
from .._base.tensor_class import Tensor
from .._C import lib
from .dispatcher import call
from .op import Op
from .placement import made_on
from .substitutes import Substitutes, over
from .transfer import storage_on_cpu, storage_on_device, to_device, write_storage


def cpu_fallback(op: Op, args: Sequence[Any], out: Any, mode: int) -> Any:
    """Answer a call by the CPU: a handler for devices, of operators that have no kernels there.

    Copies the storages of all tensors to the CPU, calls the operator there, and copies back what was written and what
    is new. Results that are arguments, or share their memory, do so on the device.

    Args:
        op, args, out, mode: of handlers, as `register_fallback` says.
    """
    where = made_on(op, args, out) or CPU
    copies = Substitutes(_on_cpu)
    given, target = copies.of([_for_cpu(each) for each in args]), copies.of(out)
    before = {key: _state(copy) for key, (_, copy) in copies.originals.items()}
    if "device" in op.names:
        given[op.names.index("device")] = None
    result = on_device(CPU, call, op, given, target, mode)
    back = _Back(copies, where)
    back.write(before)
    return tree_map(back.of, result)


def _for_cpu(value: Any) -> Any:
    return value._for_cpu() if isinstance(value, Generator) else value


def _on_cpu(tensor: Any) -> Any:
    return storage_on_cpu(tensor) if is_registered(device_of(tensor)) else None


def _state(tensor: Any) -> tuple[Any, ...]:
    """Return what changes where a call gives the tensor other memory or another shape."""
    handle = tensor._h
    storage = lib.storage_of(handle)
    return storage, lib.storage_nbytes(storage), shape_of(handle), strides_of(handle), lib.storage_offset(handle)


class _Back:
    """The way back to the device: of what a call on the CPU has changed and made."""

    def __init__(self, copies: Substitutes, where: device) -> None:
        self._copies, self._where = copies, where
        self._originals = {id(copy): original for original, copy in copies.originals.values()}
        self._tensors = {lib.storage_of(original._h): original for original, _ in copies.originals.values()}
        self._storages = {
            lib.storage_of(copy._h): self._tensors[storage]
            for storage, copy in copies.bytes_of.items()
            if copy is not None
        }
        """A tensor of the storage on the device, by the storage on the CPU that is a copy of it."""

    def write(self, before: dict[int, tuple[Any, ...]]) -> None:
        """Write to the device's memory the copies that were written to."""
        for storage, copy in self._copies.bytes_of.items():
            original = self._tensors[storage]
            if copy is not None and lib.version(copy._h):
                write_storage(original, copy)
        for key, (original, copy) in self._copies.originals.items():
            if copy is not original and _state(copy) != before[key]:
                exchange(original, self._moved(copy))

    def of(self, value: Any) -> Any:
        """A part of the result of the call on the device."""
        if not isinstance(value, Tensor):
            return value
        return self._originals[id(value)] if id(value) in self._originals else self._moved(value)

    def _moved(self, tensor: Any) -> Any:
        if device_of(tensor) is not CPU or not is_registered(self._where):
            return tensor
        storage = lib.storage_of(tensor._h)
        if storage not in self._storages:
            if lib.storage_uses(tensor._h) == 1:
                return to_device(tensor, self._where)
            self._storages[storage] = storage_on_device(tensor, self._where)
        return over(self._storages[storage], tensor)
