"""Dispatch keys: bits of a tensor, or of what a thread leaves out, that say who answers a call."""

from __future__ import annotations

from .._handle import KEYS

KEY_BITS = {name.lower(): 1 << index for index, name in enumerate(KEYS)}
"""The bits of dispatch keys by name: those of the core's table (core/tensor/tensor.h), then those that programs add."""

_FIRST_ADDED, _FIRST_OF_DEVICES = 16, 24
DEVICE_KEYS = {kind: 1 << bit for kind, bit in enumerate(range(_FIRST_OF_DEVICES, 32), start=2)}
"""The dispatch keys of devices, by the number of a kind of device that is registered."""


def new_key(name: str) -> int:
    """The bit of a new dispatch key. Raises RuntimeError where none is free."""
    bit = 1 << _FIRST_ADDED
    while bit in KEY_BITS.values():
        bit <<= 1
    if bit >= 1 << _FIRST_OF_DEVICES:
        raise RuntimeError(f"there are as many dispatch keys as tensors have bits for: no room for {name!r}")
    KEY_BITS[name] = bit
    return bit
