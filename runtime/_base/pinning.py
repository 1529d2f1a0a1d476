"""Pinned memory: memory of the CPU that a registered device has allocated, as copies to and from it prefer."""

from __future__ import annotations

from typing import Any

from .._C import lib
from .._handle import ELSEWHERE, pinned_like
from .devices import (
    BY_NUMBER,
    CPU,
    META,
    accelerator,
    available,
    device,
    device_of,
    functions_of,
    has_values,
    number_of,
)
from .keys import KEY_BITS
from .warn import warn

__all__ = ["can_pin", "is_pinned", "pinned_copy", "pinned_result"]

_NOT_DENSE = (ELSEWHERE | KEY_BITS["meta"]) & ~KEY_BITS["conj"]


def can_pin() -> bool:
    """Return whether there is an accelerator that allocates pinned memory."""
    row = accelerator()
    return row is not None and row.allocate_pinned is not None


def pinned_copy(tensor: Any, where: Any) -> Any:
    """A copy in memory that a device allocates; None: the accelerator."""
    if lib.keys(tensor._h) & _NOT_DENSE:
        raise RuntimeError(f"cannot pin '{_type_of(tensor)}' only dense CPU tensors can be pinned")
    return pinned_like(tensor, _number(where)).copy_(tensor)


def pinned_result(result: Any) -> Any:
    """Return the result of a function with `pin_memory=True`: in pinned memory, or as it is on `meta`."""
    if not has_values(result):
        return result
    if device_of(result) is not CPU:
        raise RuntimeError("Only dense CPU tensors can be pinned")
    if not can_pin():
        raise RuntimeError(
            "pin_memory=True requires a CUDA or other accelerator backend; no pinned memory allocator is available on "
            "this system."
        )
    return result.pin_memory()


def is_pinned(tensor: Any, where: Any) -> bool:
    """Return whether a device has allocated the memory of a tensor; None: any device."""
    if where is not None:
        _warn_of_device("is_pinned")
    number = lib.storage_pinned_for(lib.storage_of(tensor._h))
    return bool(number) and (where is None or device(where).type == BY_NUMBER[number].type)


def _warn_of_device(method: str) -> None:
    warn(
        f"The argument 'device' of Tensor.{method}() is deprecated. Please do not pass this argument.",
        DeprecationWarning,
    )


def _number(where: Any) -> int:
    """The kind of device that allocates, as the core numbers it."""
    if where is not None:
        _warn_of_device("pin_memory")
        chosen = available(where)
        row = None if chosen in (CPU, META) else functions_of(chosen)[0]
    else:
        row = accelerator()
    if row is None:
        raise RuntimeError("Cannot access accelerator device when none is available.")
    return number_of(device(row.name, 0))


def _type_of(tensor: Any) -> str:
    """The type of a tensor that is not dense, or not of the CPU, as torch names it here."""
    kind = "QuantizedCPU" if tensor.is_quantized else device_of(tensor).type if has_values(tensor) else "Meta"
    return f"{kind}{tensor.dtype.scalar_name}Type"
