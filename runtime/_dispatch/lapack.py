"""The call of operators with a lapack body, which only other operators call: their arguments have been checked."""

from __future__ import annotations

from typing import Any

from .._base import histories
from .._base.errors import raise_pending
from .._base.handles import wrap
from .._base.histories import needs_grad
from .._C import ffi, lib
from .dispatcher import Op, decline, pad3

_MOST_RESULTS = 4


def call(op: Op, tensors: tuple[Any, ...], flags: tuple[int, ...], number: float | None = None) -> Any:
    """The result, or a tuple of several."""
    arguments = (*tensors, *flags) if number is None else (*tensors, *flags, number)
    if needs_grad(tensors):
        return histories.recording.call(op, arguments, lambda: call(op, tensors, flags, number))
    if lib.error_pending():  # the quick call of the core has failed
        raise_pending()
    handles = [tensor._h for tensor in tensors]
    results = ffi.new("double[]", _MOST_RESULTS)
    count = lib.lapack(op.index, *pad3(handles), flags, number or 0.0, results)
    if not count:
        return decline(op, handles, *arguments)
    found = tuple([wrap(results[place]) for place in range(count)])
    return found[0] if count == 1 else found
