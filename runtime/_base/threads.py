"""The number of threads that an operator may use, and their treatment of denormal numbers."""

from __future__ import annotations

import os

from .._C import lib
from .type_names import type_name

__all__ = [
    "get_num_interop_threads",
    "get_num_threads",
    "set_flush_denormal",
    "set_num_interop_threads",
    "set_num_threads",
]

_interop_threads: int | None = None
"""The number that the user set, which is possible once."""


def get_num_threads() -> int:
    """Return the number of threads that share the work of one operator."""
    return lib.get_num_threads()


def set_num_threads(n: int) -> None:
    """Sets the number of threads that share the work of one operator.

    Results do not depend on it, but for the last bits of products of matrices and of Fourier transforms, which other
    libraries compute.
    """
    lib.set_num_threads(_count("set_num_threads", n))


def get_num_interop_threads() -> int:
    """Number of threads that run operators side by side: none do, but programs written for torch ask."""
    return (os.cpu_count() or 1) if _interop_threads is None else _interop_threads


def set_num_interop_threads(n: int, /) -> None:
    """Sets, once in a process, what `get_num_interop_threads` says."""
    global _interop_threads
    count = _count("set_num_interop_threads", n)
    if _interop_threads is not None:
        raise RuntimeError(
            "Error: cannot set number of interop threads after parallel work has started or set_num_interop_threads "
            "called"
        )
    _interop_threads = count


def _count(function: str, n: int) -> int:
    if isinstance(n, bool) or not isinstance(n, int):
        raise RuntimeError(f"{function} expects an int, but got {type_name(n)}")
    if n <= 0:
        raise RuntimeError(f"{function} expects a positive integer")
    if n >= 2**31:
        raise ValueError("Overflow when unpacking long")
    return n


def set_flush_denormal(mode: bool, /) -> bool:
    """Set whether operators that this thread calls treat denormal numbers as zero; False where that is not possible.

    Its Python numbers are affected as well. Products of matrices that several threads of OpenBLAS compute are not.
    """
    if not isinstance(mode, bool):
        raise RuntimeError(f"flush_denormal expects a bool, but got {type_name(mode)}")
    return bool(lib.set_flush_denormal(mode))
