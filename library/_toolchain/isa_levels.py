"""The instruction-set levels that kernels are compiled for."""

from __future__ import annotations

from .._C import lib

NAMES = ("v1", "v3", "v4")
"""The levels in the order of the core's, by their names in meson.build and `OW_LEVEL`."""


def own() -> str:
    """The level of this process."""
    return NAMES[lib.level()]
