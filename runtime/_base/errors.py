"""The errors of the core as Python exceptions.

Reads the pending error of the calling thread through `_C`; raises the exception that PyTorch raises in its place.
"""

from __future__ import annotations

from typing import Any, NoReturn

from .._C import ffi, lib
from .._handle import interruption
from .notes import explained

__all__ = ["LinAlgError", "OutOfMemoryError", "no_values", "raise_pending", "take_pending", "take_warning"]


class OutOfMemoryError(RuntimeError):
    """Error: there is not enough memory for a tensor."""


class LinAlgError(RuntimeError):
    """A matrix does not have the property that an operation needs."""


for _error in (OutOfMemoryError, LinAlgError):
    _error.__module__ = "opweave"

# By ow_error_kind of core/abi/opweave.h, in its order; 0 means that there is no error.
_EXCEPTIONS: tuple[type[Exception] | None, ...] = (
    None,
    RuntimeError,
    IndexError,
    TypeError,
    ValueError,
    NotImplementedError,
    RuntimeError,  # a division by zero: PyTorch raises RuntimeError("ZeroDivisionError")
    OutOfMemoryError,
    RuntimeError,  # an overflow
    LinAlgError,
)

_CAPACITY = 1024


def take_pending() -> BaseException | None:
    """The pending error, which is pending no longer; None when there is none."""
    message = ffi.new("char[]", _CAPACITY)
    kind = lib.error_take(message, _CAPACITY)
    if kind == len(_EXCEPTIONS):  # a handler of a signal raised, which ended a loop
        return interruption() or KeyboardInterrupt()
    exception = _EXCEPTIONS[kind]
    return None if exception is None else exception(_decoded(message))


def take_warning() -> str | None:
    """The pending warning of the core, which is pending no longer; None when there is none."""
    text = ffi.new("char[]", _CAPACITY)
    return _decoded(text) if lib.warning_take(text, _CAPACITY) else None


def _decoded(text: Any) -> str:
    return bytes(ffi.buffer(text)).partition(b"\0")[0].decode("utf-8", "replace")


def no_values() -> NotImplementedError:
    """Return the error of reading the elements of a tensor that has none."""
    return explained(NotImplementedError("Cannot copy out of meta tensor; no data!"), "docs/meta.md")


def raise_pending() -> NoReturn:
    """Raises the pending error of the core."""
    error = take_pending()
    # Without an error the core declines only tensors with dispatch keys, and what comes here has no handler for them.
    raise error or NotImplementedError("this function has no implementation for such tensors")
