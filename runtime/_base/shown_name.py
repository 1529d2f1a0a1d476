"""The name of the package in texts that programs read: its own, or that of torch under torch's name."""

from __future__ import annotations

__all__ = ["qualified"]

package = __name__.partition(".")[0]
"""Set by `as_torch`."""


def qualified(name: str) -> str:
    """The name of something public, such as a dtype or the type of a tensor, after that of the package."""
    return f"{package}.{name}"
