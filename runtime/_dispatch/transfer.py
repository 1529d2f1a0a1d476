"""Elements on their way between devices, in the bytes of whole storages."""

from __future__ import annotations

from typing import Any

from .._base.allocation import allocate
from .._base.devices import CPU, device, device_of, functions_of, on_device
from .._base.dtypes import EXPORTS
from .._base.handles import shape_of, strides_of, wrap
from .._C import lib
from .pending_checks import raise_failed
from .substitutes import Substitutes, over

_BYTES = EXPORTS["uint8"].code
_DENSE = 4
"""OW_DENSE, a flag of handles."""


def is_dense(tensor: Any) -> bool:
    """True if elements lie without gaps, each in a place of its own."""
    return bool(lib.flags(tensor._h) & _DENSE)


def to_cpu(tensor: Any) -> Any:
    """A copy on the CPU of the storage of a tensor of a registered device, as a tensor of the same geometry."""
    return Substitutes(storage_on_cpu).of(tensor)


def storage_on_cpu(tensor: Any) -> Any:
    """The bytes of the storage of a tensor of a registered device, on the CPU."""
    storage, where = lib.storage_of(tensor._h), device_of(tensor)
    nbytes = lib.storage_nbytes(storage)
    copied = on_device(CPU, allocate, (nbytes,), _BYTES)
    _copy_out(where, lib.data_ptr(copied._h), lib.storage_data(storage), nbytes)
    return copied


def to_device(tensor: Any, where: device) -> Any:
    """A copy of a tensor of the CPU on a registered device, with the same strides."""
    handle = tensor._h
    if not is_dense(tensor):
        return over(storage_on_device(tensor, where), tensor)
    made = on_device(where, _empty, handle)
    _copy_in(where, lib.data_ptr(made._h), lib.data_ptr(handle), tensor.numel() * tensor.itemsize)
    return made


def copied_directly(target: Any, source: Any) -> bool:
    """Copy the elements of a tensor to one of another device, one of them the CPU's, without others in between: where
    they have one dtype and lie in the same order without gaps, and the target may be written to. Else False."""
    to, of = target._h, source._h
    memory = lib.storage_of(to)
    alike = lib.dtype(to) == lib.dtype(of) and shape_of(to) == shape_of(of) and strides_of(to) == strides_of(of)
    if not (alike and is_dense(target)) or lib.storage_readonly(memory) or lib.storage_is_inference(memory):
        return False
    nbytes = source.numel() * source.itemsize
    if device_of(source) is CPU:
        _copy_in(device_of(target), lib.data_ptr(to), lib.data_ptr(of), nbytes)
    elif device_of(target) is CPU:
        _copy_out(device_of(source), lib.data_ptr(to), lib.data_ptr(of), nbytes)
    else:
        return False
    lib.count_write(to)
    return True


def storage_on_device(tensor: Any, where: device) -> Any:
    """The bytes of the storage of a tensor of the CPU, on a registered device."""
    storage = lib.storage_of(tensor._h)
    nbytes = lib.storage_nbytes(storage)
    copied = on_device(where, allocate, (nbytes,), _BYTES)
    _copy_in(where, lib.data_ptr(copied._h), lib.storage_data(storage), nbytes)
    return copied


def write_storage(tensor: Any, memory: Any) -> None:
    """Overwrite the whole storage of a tensor of a registered device by a tensor of bytes of the CPU."""
    storage, where = lib.storage_of(tensor._h), device_of(tensor)
    _copy_in(where, lib.storage_data(storage), lib.data_ptr(memory._h), lib.storage_nbytes(storage))
    lib.count_write(tensor._h)


def _empty(like: float) -> Any:
    shape = shape_of(like)
    return wrap(lib.empty_strided(shape, strides_of(like), len(shape), lib.dtype(like)))


def _copy_in(where: device, address: int, host: int, nbytes: int) -> None:
    if nbytes:
        functions, index = functions_of(where)
        functions.copy_in(index, address, host, nbytes)


def _copy_out(where: device, host: int, address: int, nbytes: int) -> None:
    raise_failed(where, to_cpu)
    if nbytes:
        functions, index = functions_of(where)
        functions.copy_out(index, host, address, nbytes)
