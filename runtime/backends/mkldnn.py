"""`opweave.backends.mkldnn`: Intel's library of neural networks, which is not there."""

from __future__ import annotations

__all__ = ["is_available"]

enabled = False


def is_available() -> bool:
    """Is the library in use? No."""
    return False
