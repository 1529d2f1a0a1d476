"""Dispatch keys: bits of a tensor, or of what a thread leaves out, that say who answers a call."""

from __future__ import annotations

from .._handle import KEYS

KEY_BITS = {name.lower(): 1 << index for index, name in enumerate(KEYS)}
"""By name, from the table of the core (core/tensor/tensor.h)."""
