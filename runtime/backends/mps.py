"""`opweave.backends.mps`: nothing is built for Apple's devices."""

from __future__ import annotations

__all__ = ["is_available", "is_built"]


def is_built() -> bool:
    """Is this build for them? No."""
    return False


def is_available() -> bool:
    """Is there such a device? No."""
    return False
