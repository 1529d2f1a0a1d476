"""`opweave.backends.mps`: nothing is built for Apple's devices."""

from __future__ import annotations

__all__ = ["is_available", "is_built", "is_macos_or_newer"]


def is_built() -> bool:
    """Return whether this build is for such devices: False."""
    return False


def is_macos_or_newer(major: int, minor: int) -> bool:
    """Return whether this is such a release of macOS that has such devices: False."""
    return False


def is_available() -> bool:
    """Return whether there is such a device: False."""
    return False
