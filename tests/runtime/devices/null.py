"""`null`: a device that keeps nothing and computes nothing: calls have results of the right dtype and shape.

What is read back is zero.
"""

from __future__ import annotations

import ctypes
from itertools import count
from typing import Any

from opweave import library

_addresses = count(1 << 60, 1 << 20)


def _nothing(*numbers: int) -> None:
    """Neither frees nor copies."""


def _zeros(index: int, to: int, source: int, nbytes: int) -> None:
    ctypes.memset(to, 0, nbytes)


library.register_device(
    library.Device(
        "null",
        allocate=lambda index, nbytes: next(_addresses),
        free=_nothing,
        copy_in=_nothing,
        copy_out=_zeros,
        copy=_nothing,
    )
)
library.register("item", "null")(library.cpu_fallback)


@library.register("assert_values", "null")
@library.register_fallback("null")
def made(op: Any, args: Any, out: Any, mode: int) -> Any:
    """The results of a call, with whatever elements."""
    return library.make_results(op, args, out, mode)
