"""Rearrangements of channels and grids of positions."""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from typing import Any

from ... import _operators as ops
from ..._base.types import contiguous_format
from ..._ops.memory_formats import channels_back, keeps_memory_format, suggested_format
from ..._tensor.tensor import Tensor

__all__ = ["affine_grid", "channel_shuffle", "native_channel_shuffle", "pixel_shuffle", "pixel_unshuffle"]


@keeps_memory_format(1)
def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    """Return the tensor with each `r * r` channels as one of `r` times the height and width, by `upscale_factor` r.

    Args:
        input (Tensor): of shape (*, C * r * r, H, W).
        upscale_factor (int): r.

    Returns:
        Shape (*, C, H * r, W * r).

    Raises:
        RuntimeError: the channels are not divisible, or the factor is not positive.
    """
    r = upscale_factor
    if input.dim() < 3:
        raise RuntimeError(
            f"pixel_shuffle expects input to have at least 3 dimensions, but got input with {input.dim()} dimension(s)"
        )
    if r <= 0:
        raise RuntimeError(f"pixel_shuffle expects a positive upscale_factor, but got {r}")
    *batch, channels, height, width = input.shape
    if channels % (r * r):
        raise RuntimeError(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, "
            f"but input.size(-3)={channels} is not divisible by {r * r}"
        )
    parts = input.reshape(*batch, channels // (r * r), r, r, height, width)
    n = len(batch)
    order = (n, n + 3, n + 1, n + 4, n + 2)
    return _rearranged(input, parts, order, 1, (channels // (r * r), height * r, width * r))


@keeps_memory_format(1)
def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Tensor:
    """Return the inverse of `pixel_shuffle`.

    Args:
        input (Tensor): of shape (*, C, H * r, W * r).
        downscale_factor (int): r.

    Returns:
        Shape (*, C * r * r, H, W).

    Raises:
        RuntimeError: height or width are not divisible, or the factor is not positive.
    """
    r = downscale_factor
    if input.dim() < 3:
        raise RuntimeError(
            "pixel_unshuffle expects input to have at least 3 dimensions, but got input with "
            f"{input.dim()} dimension(s)"
        )
    if r <= 0:
        raise RuntimeError(f"pixel_unshuffle expects a positive downscale_factor, but got {r}")
    *batch, channels, height, width = input.shape
    for name, size, place in (("height", height, -2), ("width", width, -1)):
        if size % r:
            raise RuntimeError(
                f"pixel_unshuffle expects {name} to be divisible by downscale_factor, but input.size({place})={size} "
                f"is not divisible by {r}"
            )
    parts = input.reshape(*batch, channels, height // r, r, width // r, r)
    n = len(batch)
    order = (n, n + 2, n + 4, n + 1, n + 3)
    return _rearranged(input, parts, order, 3, (channels * r * r, height // r, width // r))


@keeps_memory_format(1)
def channel_shuffle(input: Tensor, groups: int) -> Tensor:
    """Return the tensor with channels from each of `groups` groups in turn.

    Args:
        input (Tensor): of shape (N, C, *).
        groups (int): divides C.

    Raises:
        RuntimeError: it does not.
    """
    if input.dim() <= 2:
        raise RuntimeError(f"channel_shuffle expects input with > 2 dims, but got input with sizes {list(input.shape)}")
    if groups <= 0:
        raise RuntimeError(f"Number of groups to divide channels in must be positive. Value of groups:{groups}")
    if input.size(1) % groups:
        raise RuntimeError(
            f"Number of channels must be divisible by groups. Got {input.size(1)} channels and {groups} groups."
        )
    batch, channels, *rest = input.shape
    parts = input.reshape(batch, groups, channels // groups, *rest)
    return _rearranged(input, parts, (2, 1, *range(3, parts.ndim)), 2, input.shape[1:])


def _rearranged(
    input: Tensor, parts: Tensor, order: tuple[int, ...], of_channels: int, shape: tuple[int, ...]
) -> Tensor:
    """Return a copy of parts of the input in the memory order that the input has.

    Behind the dimensions of the batch, the copy has the parts' dimensions in `order`, of which the first `of_channels`
    become the channels of the shape.
    """
    batch = tuple(range(parts.ndim - len(order)))
    if suggested_format(input) is not contiguous_format:
        order, shape = (*order[of_channels:], *order[:of_channels]), (*shape[1:], shape[0])
    copied = parts.permute(*batch, *order).clone(memory_format=contiguous_format)
    result = copied.view(*copied.shape[: len(batch)], *shape)
    return channels_back(result, suggested_format(input) is not contiguous_format)


native_channel_shuffle = channel_shuffle


def affine_grid(theta: Any, size: Any, align_corners: bool | None = None) -> Any:
    """Return the grid of positions for `grid_sample` that affine maps make of a regular grid.

    Args:
        theta (Tensor): the maps, of shape (N, 2, 3) or (N, 3, 4).
        size (list of int): that of the result of `grid_sample`, (N, C, H, W) or (N, C, D, H, W).
        align_corners (bool): whether -1 and 1 are the centres of the outermost elements, and not their borders.

    Returns:
        Shape (N, H, W, 2) or (N, D, H, W, 3).

    Raises:
        ValueError: shapes do not fit, or sizes are not positive.
        RuntimeError: there are not as many maps as images.
    """
    if not theta.is_floating_point():
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    size = list(size)
    if len(size) not in (4, 5):
        raise NotImplementedError(
            "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. "
            f"Got size {tuple(size)}."
        )
    spatial = len(size) - 2
    if theta.dim() != 3 or list(theta.shape[1:]) != [spatial, spatial + 1]:
        raise ValueError(
            f"Expected a batch of {spatial}D affine matrices of shape Nx{spatial}x{spatial + 1} for size "
            f"{tuple(size)}. Got {theta.shape}."
        )
    if min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {tuple(size)}")
    if theta.size(0) != size[0]:
        raise RuntimeError(f"affine_grid(): {theta.size(0)} maps for a result of {size[0]} images, size {tuple(size)}")
    dtype = theta.dtype

    def line(steps: int) -> Any:
        if steps <= 1:
            return theta.new_zeros((steps,))
        along = ops.linspace(-1, 1, steps, dtype=dtype)
        return along if align_corners else along * ((steps - 1) / steps)

    shape = size[2:]
    base = theta.new_ones((*shape, spatial + 1))
    for place, steps in enumerate(shape):  # x belongs to the last dimension
        base[..., spatial - 1 - place] = line(steps).reshape(-1, *(1,) * (spatial - 1 - place))
    flat = base.view(1, -1, spatial + 1).expand(size[0], -1, -1)
    return flat.matmul(theta.transpose(1, 2)).view(size[0], *shape, spatial)
