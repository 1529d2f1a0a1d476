"""How many threads an operator may use."""

from __future__ import annotations

from ._C import lib

__all__ = ["get_num_threads", "set_num_threads"]


def get_num_threads() -> int:
    """Number of threads that share the work of one operator."""
    return lib.get_num_threads()


def set_num_threads(n: int) -> None:
    """Sets the number of threads that share the work of one operator.

    Results do not depend on it, but for the last bits of products of matrices, which OpenBLAS computes.
    """
    if isinstance(n, bool) or not isinstance(n, int):
        raise TypeError(f"set_num_threads expects an int, but got {type(n).__name__}")
    if not 0 < n < 2**31:
        raise RuntimeError("set_num_threads expects a positive integer")
    lib.set_num_threads(n)
