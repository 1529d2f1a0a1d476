"""Loops for each position of expressions over indices, which `iterate` declares.

What a loop uses of tensors and positions are *terms*, which are computed before it; so the loop is that of an
elementwise operator, and has its kernels and gradients.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..expr.geometry import Geometry
from .compute import Result
from .operator import Elementwise


@dataclass(frozen=True)
class Rounds:
    """The loop, whose tensors are the terms by their names."""

    terms: tuple[Result, ...]
    loop: Elementwise
    integers: Mapping[str, Geometry]
    """The parameters that are integers of the call."""
