"""Products of numbers of eight bits, of which there are none."""

from __future__ import annotations

from enum import Enum

from ..._names.refusals import refused_function

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


_WIDER = "numbers of float8 are only stored here; convert them to bfloat16 and use"

scaled_mm = refused_function(__name__, "scaled_mm", f"{_WIDER} `mm`")
scaled_grouped_mm = refused_function(__name__, "scaled_grouped_mm", f"{_WIDER} `grouped_mm`")
