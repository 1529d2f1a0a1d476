"""`opweave.backends.cpu`: the instruction sets in use."""

from __future__ import annotations

from .._C import lib

__all__ = ["get_cpu_capability"]

# By the levels' numbers in the core.
_CAPABILITIES = ("DEFAULT", "AVX2", "AVX512")


def get_cpu_capability() -> str:
    """Return torch's name of the instruction-set level whose kernels are in use: DEFAULT, AVX2 or AVX512."""
    return _CAPABILITIES[lib.level()]
