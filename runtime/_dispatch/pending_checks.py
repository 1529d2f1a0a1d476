"""Checks of values on registered devices. A device computes the condition and goes on: whether it holds is found out
when the program waits for the device, or copies elements from it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from .._base.devices import device, device_of
from .op import Op
from .ops import ops

__all__ = ["raise_failed", "remember"]

_MOST = 64
"""The largest number of checks of a device that wait, so that programs which never wait for it do not gather more."""

_pending: dict[device, list[tuple[Any, str, str]]] = {}
"""By device: the conditions, each as one element of the device, with the errors and messages, in the order of calls."""
_lock = threading.Lock()


def remember(op: Op, args: Sequence[Any], out: Any, mode: int) -> bool:
    """Answer `assert_values` for a registered device: the check is made later."""
    condition, error, message = args
    holds = condition.all()
    with _lock:
        waiting = _pending.setdefault(device_of(holds), [])
        waiting.append((holds, error, message))
    if len(waiting) > _MOST:
        holds.item()  # whatever is copied from the device makes the checks that wait
    return True


def raise_failed(where: device, copied: Callable[[Any], Any]) -> None:
    """Raise the error of the first check of a device that has failed; none of them waits any longer. `copied` gives a
    copy of a tensor on the CPU."""
    if where not in _pending:
        return
    with _lock:
        waiting = _pending.pop(where, [])
    for holds, error, message in waiting:
        ops.assert_values(copied(holds), error, message)
