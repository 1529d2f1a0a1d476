"""Images at the places that a grid names."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from ... import _operators as ops

if TYPE_CHECKING:
    from ..._tensor.tensor import Tensor

__all__ = ["grid_sample"]

_MODES = ("bilinear", "nearest", "bicubic")
_PADDINGS = ("zeros", "border", "reflection")


def grid_sample(
    input: Tensor,
    grid: Tensor,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Tensor:
    """Sample images or volumes at the places that `grid` names for each position of the result.

    Args:
        input (Tensor): of shape (N, C, H, W) or (N, C, D, H, W).
        grid (Tensor): of shape (N, P, Q, 2) or (N, O, P, Q, 3); places from -1 to 1, with the column first.
        mode (str): `bilinear` (of volumes between eight elements), `nearest` or `bicubic`.
        padding_mode (str): what is beyond the edges: `zeros`, the last elements (`border`) or mirrored ones
            (`reflection`).
        align_corners (bool): whether -1 and 1 are the centres of the outermost elements, and not their borders.

    Returns:
        Shape (N, C, P, Q) or (N, C, O, P, Q), in the dtype of `input`.

    Raises:
        ValueError: there is no such mode.
        RuntimeError: shapes or dtypes do not fit.
    """
    if mode not in _MODES:
        raise ValueError(
            f"nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: '{mode}'"
        )
    if padding_mode not in _PADDINGS:
        raise ValueError(
            "nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', but got: "
            f"'{padding_mode}'"
        )
    if align_corners is None:
        warnings.warn(
            "Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. Please "
            "specify align_corners=True if the old behavior is desired. See the documentation of grid_sample for "
            "details.",
            stacklevel=2,
        )
    modes = _MODES.index(mode), _PADDINGS.index(padding_mode)
    result: Tensor = ops.grid_sampler(input, grid, *modes, bool(align_corners))
    return result
