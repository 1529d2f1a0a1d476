"""Products of numbers of eight bits, of which there are none."""

from __future__ import annotations

from enum import Enum
from typing import Any

__all__ = ["ScalingType", "SwizzleType", "scaled_grouped_mm", "scaled_mm"]


class ScalingType(Enum):
    """The part of a matrix of few bits that has a scale of its own."""

    TensorWise = 0
    RowWise = 1
    BlockWise1x16 = 2
    BlockWise1x32 = 3
    BlockWise1x128 = 4
    BlockWise128x128 = 5


class SwizzleType(Enum):
    """The order of scales in memory."""

    NO_SWIZZLE = 0
    SWIZZLE_32_4_4 = 1


def scaled_mm(*args: Any, **kwargs: Any) -> Any:
    """Raise NotImplementedError: numbers of eight bits are stored and converted, not multiplied."""
    raise NotImplementedError(
        "scaled_mm() multiplies matrices of float8, which opweave only stores: convert to bfloat16 and use `mm`"
    )


def scaled_grouped_mm(*args: Any, **kwargs: Any) -> Any:
    """Raise NotImplementedError: numbers of eight bits are stored and converted, not multiplied."""
    raise NotImplementedError(
        "scaled_grouped_mm() multiplies matrices of float8, which opweave only stores: convert to bfloat16 and use "
        "`grouped_mm`"
    )
