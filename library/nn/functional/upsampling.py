"""Former names of `interpolate`."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from ... import _operators as ops

if TYPE_CHECKING:
    from ..._tensor.tensor import Tensor

__all__ = ["upsample", "upsample_bilinear", "upsample_nearest"]


def upsample(
    input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None
) -> Tensor:
    """Return `interpolate`, whose former name this is."""
    warnings.warn("`nn.functional.upsample` is deprecated. Use `nn.functional.interpolate` instead.", stacklevel=2)
    return ops.interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """Return `interpolate` with `mode="nearest"`, whose former name this is."""
    return ops.interpolate(input, size, scale_factor, "nearest")


def upsample_bilinear(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """Return `interpolate` with `mode="bilinear", align_corners=True`, whose former name this is."""
    return ops.interpolate(input, size, scale_factor, "bilinear", True)
