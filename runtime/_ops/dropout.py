"""Dropout of elements and of whole channels, by the random numbers that torch draws."""

from __future__ import annotations

import math
from typing import Any

from .._base.warn import warn
from .._dispatch.ops import ops

__all__ = ["dropped", "dropped_channels", "warn_of_images", "warn_of_volumes"]

_ALPHA = 1.7580993408473766
"""The limit of selu for large negative numbers, without its sign."""


def dropped(input: Any, p: float, channels: bool = False, to_limit: bool = False) -> Any:
    """Return the input with elements or whole channels set to zero or to the limit of selu."""
    if p == 0 or not input.numel():
        return input
    if p == 1:
        return input * ops.zeros((), dtype=input.dtype)
    noise = (_empty_channels(input) if channels else ops.empty_like(input)).bernoulli_(1 - p)
    if not to_limit:
        return input * noise.div_(1 - p)
    scale = 1.0 / math.sqrt((_ALPHA * _ALPHA * p + 1) * (1 - p))
    limit = _ALPHA * scale
    return ops.dropped_to_limit(input, noise, scale=scale, limit=limit, shift=limit * p)


def _empty_channels(input: Any) -> Any:
    """One element for each channel, which broadcasts with the input."""
    return input.new_empty((*input.shape[:2], *(1,) * (input.ndim - 2)))


def dropped_channels(input: Any, p: float, training: bool, inplace: bool, batched: bool) -> Any:
    """Return dropout of channels, the first dimension unless `batched`."""
    if not training:
        return input
    batch = input if batched else input.unsqueeze(0)
    if inplace:
        ops.feature_dropout_(batch, p, True)
        return input
    result = ops.feature_dropout(batch, p, True)
    return result if batched else result.squeeze(0)


def warn_of_images(ndim: int) -> None:
    """Warn of images that are not (N, C, H, W)."""
    if ndim not in (3, 4):
        warn(f"dropout2d: a {ndim}-D input is not (N, C, H, W) or (N, C, L), and is deprecated. Use dropout instead.")
    if ndim == 3:
        warn(
            "dropout2d: a 3-D input is taken as (N, C, L), and channels of one dimension are dropped. Use dropout1d, "
            "or add a dimension of size one at the front."
        )


def warn_of_volumes(ndim: int) -> None:
    """Warn of volumes that are neither (N, C, D, H, W) nor (C, D, H, W)."""
    if ndim not in (4, 5):
        warn(
            f"dropout3d: a {ndim}-D input is not (N, C, D, H, W) or (C, D, H, W), and is deprecated. Use dropout "
            "instead."
        )
