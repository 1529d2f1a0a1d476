"""Images of other sizes, for the composite `interpolate`. All modes are separable: one dimension after the other is
resampled by tables of positions and factors, which follow torch's definition of each mode."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from .._base.devices import has_values
from .._base.dtypes import EXPORTS
from .._base.types import contiguous_format
from .._dispatch.ops import ops
from .memory_formats import keeps_memory_format, suggested_format

__all__ = [
    "averaged_parts",
    "check_dimensions",
    "check_interpolation",
    "interpolated_sizes",
    "resampled_by_products",
    "resampled_dimensions",
]

_NEAREST = ("nearest", "area", "nearest-exact")
"""The modes that take inputs of any number of dimensions; and those that take one."""
_DIMS = {"linear": 1, "bilinear": 2, "bicubic": 2, "lanczos": 2, "trilinear": 3}
_ANTIALIASED = ("bilinear", "bicubic", "lanczos")
_CUBIC, _CUBIC_ANTIALIASED = -0.75, -0.5
"""The slope of the cubic kernel where it meets zero."""


# ---- arguments ----------------------------------------------------------------------------------------------


def check_dimensions(input: Any, size: Any, scale_factor: Any) -> None:
    """Check that there is a size or a factor for each dimension behind the channels."""
    for named, shown, value in (
        ("output size", "output size of", size),
        ("scale_factor", "scale_factor of shape", scale_factor),
    ):
        if isinstance(value, (list, tuple)) and len(value) != input.ndim - 2:
            letter = named[0]
            raise ValueError(
                f"Input and {named.removesuffix(' size')} must have the same number of spatial dimensions, but got "
                f"input with spatial dimensions of {list(input.shape[2:])} and {shown} {value}. Please provide input "
                f"tensor in (N, C, d1, d2, ...,dK) format and {named} in ({letter}1, {letter}2, ...,{letter}K) format."
            )


def check_interpolation(input: Any, sizes: Sequence[int], mode: str, align: bool, antialias: bool) -> None:
    """Check that the mode suits the number of dimensions, and that there are elements to sample and to compute."""
    dims = input.ndim - 2
    if antialias and not (mode in _ANTIALIASED and dims == 2):
        raise ValueError(
            "Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires a 4-D tensor as input"
        )
    if (mode not in _NEAREST and mode not in _DIMS) or not 1 <= dims <= 3:
        raise NotImplementedError(
            f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {dims + 2}D) for the modes: nearest | "
            f"linear | bilinear | bicubic | trilinear | lanczos | area | nearest-exact (got {mode})"
        )
    if mode == "lanczos" and align:
        raise ValueError("Lanczos mode does not support align_corners=True")
    if mode == "lanczos" and dims == 2 and not antialias:
        raise ValueError("Lanczos mode requires antialias=True")
    if _DIMS.get(mode, dims) != dims:
        raise NotImplementedError(f"Got {dims + 2}D input, but {mode} mode needs {_DIMS[mode] + 2}D input")
    if min(*sizes, *input.shape[2:]) <= 0:
        raise RuntimeError(
            f"Input and output sizes should be greater than 0, but got input {list(input.shape[2:])} output {sizes}"
        )


def interpolated_sizes(
    input: Any, size: Any, scale_factor: Any, recompute: bool | None
) -> tuple[list[int], list[float] | None]:
    """Return the sizes of the result, and the factors by which positions are computed where they are not the sizes'."""
    dims = input.ndim - 2
    if size is not None:
        return list(size) if isinstance(size, (list, tuple)) else [size] * dims, None
    factors = list(map(float, scale_factor if isinstance(scale_factor, (list, tuple)) else [scale_factor] * dims))
    sizes = [math.floor(extent * factor) for extent, factor in zip(input.shape[2:], factors, strict=True)]
    return sizes, None if recompute else factors


# ---- all dimensions -----------------------------------------------------------------------------------------


def resampled_by_products(image: Any, sizes: Sequence[int], scales: Sequence[float] | None, align: bool) -> Any:
    """Resample columns, then rows, and round each product and sum, as torch's kernels for quantized tensors: ties
    between two integers show in which order that is done."""
    for dim in (3, 2):
        extent, size = image.shape[dim], sizes[dim - 2]
        scale = _scale(extent, size, None if scales is None else scales[dim - 2], align)
        index, weight = _tables(image.dtype, extent, size, scale, "bilinear", align, False)
        parts = zip(index.unbind(1), [each.reshape(-1, *[1] * (3 - dim)) for each in weight.unbind(1)], strict=True)
        first, second = (image.index_select(dim, places) * factors for places, factors in parts)
        image = first + second
    return image


def averaged_parts(input: Any, sizes: Sequence[int]) -> Any:
    """Return the means of as many parts."""
    pools = ops.adaptive_avg_pool1d, ops.adaptive_avg_pool2d, ops.adaptive_avg_pool3d
    return pools[len(sizes) - 1](input, sizes)


@keeps_memory_format(1)
def resampled_dimensions(
    input: Any, sizes: Sequence[int], scales: Sequence[float] | None, mode: str, align: bool, antialias: bool
) -> Any:
    """Resample one dimension after the other."""
    rounds = input.dtype is EXPORTS["uint8"] and len(sizes) == 2
    # Dimensions stand in the order of memory, so that steps run through what lies side by side.
    channels_last = suggested_format(input) is not contiguous_format
    result = input.movedim(1, -1) if channels_last else input
    steps: list[tuple[int, Callable[[Any], Any]]] = []
    for place, size in enumerate(sizes):
        dim = place + 1 if channels_last else place + 2
        scale = _scale(result.shape[dim], size, None if scales is None else scales[place], align)
        steps.append((size - result.shape[dim], _step(result, dim, size, scale, mode, align, antialias)))
    # What makes the image smaller comes first, and what makes it larger from the last dimension on; bytes are rounded
    # after each step, for which torch has an order of its own.
    steps.reverse()
    for growth, step in steps if rounds else sorted(steps, key=lambda each: each[0] > 0):
        result = step(result) if growth or not rounds else result
    return (result.movedim(-1, 1) if channels_last else result).to(input.dtype)


# ---- one dimension ------------------------------------------------------------------------------------------


def _scale(extent: int, size: int, factor: float | None, align: bool) -> float:
    """The distance between neighbours of the result, in elements of the input."""
    if align:
        return (extent - 1) / (size - 1) if size > 1 else 0.0
    return extent / size if factor is None else 1 / factor


def _step(
    input: Any, dim: int, size: int, scale: float, mode: str, align: bool, antialias: bool
) -> Callable[[Any], Any]:
    extent = input.shape[dim]
    if mode.startswith("nearest"):
        return _nearest(dim, extent, size, scale, mode == "nearest-exact")
    if input.dtype is EXPORTS["uint8"]:
        index, weight = _tables(EXPORTS["float64"], extent, size, scale, mode, align, antialias)
        factors, places = _fixed_point(weight if antialias else _merged(index, weight))
        return lambda x: _resampled_bytes(x, dim, index, factors, places)
    index, weight = _tables(input.dtype, extent, size, scale, mode, align, antialias)
    return lambda x: ops.resample(x, dim, index, weight)


def _positions(size: int, dtype: Any) -> Any:
    """0, 1, ... in the precision in which torch computes places."""
    return ops.arange(size, dtype=dtype if dtype.itemsize >= 4 else EXPORTS["float32"])


def _nearest(dim: int, extent: int, size: int, scale: float, exact: bool) -> Callable[[Any], Any]:
    places = _positions(size, EXPORTS["float32"])
    index = ((places + 0.5 if exact else places) * scale).floor().long().clamp(max=extent - 1)
    return lambda x: x.index_select(dim, index)


def _tables(
    dtype: Any, extent: int, size: int, scale: float, mode: str, align: bool, antialias: bool
) -> tuple[Any, Any]:
    """The positions (size, K) that each element of the result is made of, and their factors."""
    places = _positions(size, dtype).unsqueeze(1)
    if antialias:
        return _antialiased(places, extent, scale, mode)
    at = places * scale if align else (places + 0.5) * scale - 0.5
    if mode != "bicubic":
        at = at.clamp(min=0)
        first = at.floor().clamp(max=extent - 1)
        right = (at - first).clamp(max=1)
        index = ops.cat([first, (first + 1).clamp(max=extent - 1)], 1)
        return index.long(), ops.cat([1 - right, right], 1)
    first = at.floor()
    offsets = first.new_tensor([-1.0, 0.0, 1.0, 2.0])
    weight = _cubic((at - first) - offsets, _CUBIC)
    return (first + offsets).clamp(0, extent - 1).long(), weight


def _antialiased(places: Any, extent: int, scale: float, mode: str) -> tuple[Any, Any]:
    """A kernel that is as wide as the step between elements of the result, cut off at the borders."""
    widest = max(scale, 1.0)
    reach, kernel = _KERNELS[mode]
    support = reach * widest
    centre = scale * (places + 0.5)
    first = (centre - support + 0.5).trunc().clamp(min=0)
    last = (centre + support + 0.5).trunc().clamp(max=extent)
    index = first + _positions(math.ceil(support) * 2 + 1, places.dtype)
    distance = (index - centre + 0.5) / widest
    weight = kernel(distance) * (index < last)
    return index.clamp(max=extent - 1).long(), weight / weight.sum(1, keepdim=True)


def _cubic(x: Any, slope: float) -> Any:
    """The kernel of cubic convolution (Keys 1981)."""
    x = x.abs()
    near = ((slope + 2) * x - (slope + 3)) * x * x + 1
    far = ((slope * x - 5 * slope) * x + 8 * slope) * x - 4 * slope
    return near.where(x <= 1, far.where(x < 2, far.new_zeros(())))


def _triangle(x: Any) -> Any:
    return (1 - x.abs()).clamp(min=0)


def _lanczos(x: Any) -> Any:
    """The kernel of Lanczos (1956) with three lobes on each side."""
    near = x.sinc() * (x / 3).sinc()
    return near.where(x.abs() < 3, near.new_zeros(()))


_KERNELS: dict[str, tuple[float, Callable[[Any], Any]]] = {
    "bilinear": (1.0, _triangle),
    "bicubic": (2.0, lambda x: _cubic(x, _CUBIC_ANTIALIASED)),
    "lanczos": (3.0, _lanczos),
}
"""The kernels of `antialias` and their radii, by mode."""


# ---- images of bytes ----------------------------------------------------------------------------------------


def _merged(index: Any, weight: Any) -> Any:
    """The factors of each position in one place, where borders repeat it."""
    same = index.unsqueeze(2) == index.unsqueeze(1)
    return (same * weight.unsqueeze(1)).sum(2) * ~same.tril(-1).any(2)


def _fixed_point(weight: Any) -> tuple[Any, int]:
    """Factors as integers of 16 bits, with as many binary places as the largest has room for; torch's kernels for uint8
    round them so."""
    largest = float(weight.max()) if has_values(weight) else 0.0
    places = next((each for each in range(22) if int(0.5 + largest * 2 ** (each + 1)) >= 2**15), 22)
    return (weight * 2**places + 0.5 * weight.sign()).trunc(), places


def _resampled_bytes(image: Any, dim: int, index: Any, factors: Any, places: int) -> Any:
    """Sums of integers, which are exact in float64, rounded to bytes."""
    sums = ops.resample(image.double(), dim, index, factors)
    return ((sums + 2.0 ** (places - 1)) / 2**places).floor().clamp(0, 255).to(image.dtype)
