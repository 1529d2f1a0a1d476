"""Rearrangements of channels and grids of positions."""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from typing import Any

from ... import _operators as ops

__all__ = ["affine_grid"]


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
