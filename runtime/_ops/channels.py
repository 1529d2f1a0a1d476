"""Rearrangements of the channels of images, for the composites `pixel_shuffle` and their like."""

from __future__ import annotations

from typing import Any

from .._base.types import contiguous_format
from .memory_formats import channels_back, suggested_format

__all__ = ["rearranged"]


def rearranged(input: Any, parts: Any, order: tuple[int, ...], of_channels: int, shape: tuple[int, ...]) -> Any:
    """Return a copy of parts of the input in the memory order that the input has.

    Behind the dimensions of the batch, the copy has the parts' dimensions in `order`, of which the first `of_channels`
    become the channels of the shape.
    """
    batch = tuple(range(parts.ndim - len(order)))
    are_last = suggested_format(input) is not contiguous_format
    if are_last:
        order, shape = (*order[of_channels:], *order[:of_channels]), (*shape[1:], shape[0])
    copied = parts.permute(*batch, *order).clone(memory_format=contiguous_format)
    return channels_back(copied.view(*copied.shape[: len(batch)], *shape), are_last)
