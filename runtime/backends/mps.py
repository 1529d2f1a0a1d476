"""`opweave.backends.mps`: nothing is built for Apple's devices."""

from __future__ import annotations

__all__ = ["is_available", "is_built"]


def is_built() -> bool:
    """Return whether this build is for such devices: False."""
    return False


def is_available() -> bool:
    """Return whether there is such a device: False."""
    return False
