"""`opweave.backends.openmp`: threads are the core's own."""

from __future__ import annotations

__all__ = ["is_available"]


def is_available() -> bool:
    """Return whether the library is in use: False."""
    return False
