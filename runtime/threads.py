"""How many threads an operator may use, and what they do with denormal numbers."""

from __future__ import annotations

from ._C import lib

__all__ = ["get_num_threads", "set_flush_denormal", "set_num_threads"]


def get_num_threads() -> int:
    """Number of threads that share the work of one operator."""
    return lib.get_num_threads()


def set_num_threads(n: int) -> None:
    """Sets the number of threads that share the work of one operator.

    Results do not depend on it, but for the last bits of products of matrices and of Fourier transforms, which other
    libraries compute.
    """
    if isinstance(n, bool) or not isinstance(n, int):
        raise TypeError(f"set_num_threads expects an int, but got {type(n).__name__}")
    if not 0 < n < 2**31:
        raise RuntimeError("set_num_threads expects a positive integer")
    lib.set_num_threads(n)


def set_flush_denormal(mode: bool, /) -> bool:
    """Has operators that this thread calls take denormal numbers for zero, or not; False where that is not possible.

    Its Python numbers are affected as well. Products of matrices that several threads of OpenBLAS compute are not.
    """
    if not isinstance(mode, bool):
        raise RuntimeError(f"flush_denormal expects a bool, but got {type(mode).__name__}")
    return bool(lib.set_flush_denormal(mode))
