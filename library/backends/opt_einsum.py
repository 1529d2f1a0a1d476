"""`opweave.backends.opt_einsum`: orders of contraction are chosen by the package itself."""

from __future__ import annotations

__all__ = ["is_available"]

enabled = False


def is_available() -> bool:
    """Return whether the library is in use: False."""
    return False
