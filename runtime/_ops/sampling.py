"""Arguments of sampling at places that are data; messages are torch's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._dispatch.ops import ops
from .values import wide

__all__ = ["check_samples", "places_of_elements", "sample_arguments"]


def sample_arguments(input: Any, grid: Any) -> tuple[Any, list[Any], list[int]]:
    """Volumes, the numbers for their columns, rows and levels, and the sizes of these. Halves are computed in single
    precision, as a place has more digits than they."""
    input, grid = wide(input), wide(grid)
    lines = [each.flatten(1) for each in grid.unbind(-1)]
    return input if input.ndim == 5 else input.unsqueeze(2), lines, list(reversed(input.shape[2:]))


def check_samples(input: Any, grid: Any, mode: int, padding: int) -> None:
    """The grid has a place of as many numbers as the input has dimensions besides batch and channels."""
    given, places = list(input.shape), list(grid.shape)
    shown = f"but got input with sizes {given} and grid with sizes {places}"
    if not places or not given or given[0] != places[0]:
        raise RuntimeError(f"grid_sampler(): expected grid and input to have same batch size, {shown}")
    dims = input.ndim - 2
    if places[-1] != dims:
        raise RuntimeError(
            f"grid_sampler(): expected grid to have size {dims} in last dimension, but got grid with sizes {places}"
        )
    for dim in range(2, input.ndim):
        if not given[dim]:
            raise RuntimeError(
                f"grid_sampler(): expected input to have non-empty spatial dimensions, but input has sizes {given} "
                f"with dimension {dim} being empty"
            )
    if dims not in (2, 3) or grid.ndim != input.ndim:
        expected = 5 if grid.ndim == 5 or dims == 3 else 4
        raise RuntimeError(
            f"grid_sampler(): expected {expected}D input and grid with same number of dimensions, {shown}"
        )
    if mode not in (0, 1, 2) or padding not in (0, 1, 2):
        raise ValueError(f"grid_sampler(): modes are 0, 1 and 2, but got interpolation {mode} and padding {padding}")
    if mode == 2 and dims != 2:
        raise RuntimeError("grid_sampler(): bicubic interpolation only supports 4D input")
    if input.dtype != grid.dtype:
        raise RuntimeError(f"expected scalar type {input.dtype.scalar_name} but found {grid.dtype.scalar_name}")
    if not input.is_floating_point():
        name = input.dtype.scalar_name
        raise NotImplementedError(f"\"grid_sampler_{dims}d_cpu_kernel_impl\" not implemented for '{name}'")


def places_of_elements(like: Any, sizes: Sequence[int], align_corners: bool | None) -> Any:
    """Return the places of elements as numbers from -1 to 1, with the column first, and a one behind each."""
    base = like.new_ones((*sizes, len(sizes) + 1))
    for dim, steps in enumerate(sizes):
        if steps > 1:
            along = ops.linspace(-1, 1, steps, dtype=like.dtype)
            line = along if align_corners else along * ((steps - 1) / steps)
        else:
            line = like.new_zeros(steps)
        behind = len(sizes) - 1 - dim
        base[..., behind] = line.reshape(-1, *(1,) * behind)
    return base
