"""`opweave.backends.mkl`: Intel's library of mathematics, in whose place OpenBLAS is."""

from __future__ import annotations

__all__ = ["is_available"]


def is_available() -> bool:
    """Return whether the library is in use: False."""
    return False
