"""`opweave.backends.mkldnn`: Intel's library of neural networks, which is not there."""

from __future__ import annotations

__all__ = ["is_available"]

enabled = False


def is_available() -> bool:
    """Return whether the library is in use: False."""
    return False
