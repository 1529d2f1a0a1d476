"""Images of other sizes. All modes are separable: one dimension after the other is resampled by tables of positions and
factors, which follow torch's definition of each mode."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ... import _nn_functional, _operators
from ..._base.devices import has_values
from ..._base.dtypes import EXPORTS
from ..._base.types import contiguous_format
from ..._ops.memory_formats import keeps_memory_format, suggested_format
from ..._tensor.quantized_methods import averaged, with_integers

if TYPE_CHECKING:
    from ..._tensor.tensor import Tensor

__all__ = ["interpolate", "upsample", "upsample_bilinear", "upsample_nearest"]

_NEAREST = ("nearest", "area", "nearest-exact")
"""The modes that take inputs of any number of dimensions; and those that take one."""
_DIMS = {"linear": 1, "bilinear": 2, "bicubic": 2, "lanczos": 2, "trilinear": 3}
_ANTIALIASED = ("bilinear", "bicubic", "lanczos")
_CUBIC, _CUBIC_ANTIALIASED = -0.75, -0.5
"""The slope of the cubic kernel where it meets zero."""


def interpolate(
    input: Tensor,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """Resample signals, images or volumes (N, C, *) to another `size`, or to their size times `scale_factor`.

    `mode` is `nearest`, `nearest-exact`, `linear` (3 dimensions), `bilinear`, `bicubic`, `lanczos` (4), `trilinear`
    (5) or `area`. With `align_corners` the centres of the corners keep their places, else the corners themselves.
    `antialias` has the kernel of `bilinear` and `bicubic` grow where images become smaller; `lanczos` needs it. The
    result has shape (N, C, *) and the dtype of `input`; images of uint8 are resampled in fixed-point numbers. Raises
    ValueError for arguments that do not fit together, NotImplementedError for a mode that does not suit the number of
    dimensions or the dtype.
    """
    dims = input.ndim - 2
    if mode in _NEAREST and align_corners is not None:
        raise ValueError(
            "align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | trilinear"
        )
    sizes, scales = _sizes(input, dims, size, scale_factor, recompute_scale_factor)
    _check_mode(mode, bool(align_corners), antialias, dims)
    if any(each <= 0 for each in (*sizes, *input.shape[2:])):
        raise RuntimeError(
            f"Input and output sizes should be greater than 0, but got input {list(input.shape[2:])} output {sizes}"
        )
    if input.is_quantized:
        return _resampled_quantized(input, sizes, scales, mode, bool(align_corners), antialias)
    if mode == "area":
        return _area(input, sizes)
    in_bytes = input.dtype is EXPORTS["uint8"] and dims == 2
    if mode in _DIMS and not input.is_floating_point() and not in_bytes:
        raise NotImplementedError(f"\"interpolate\" with mode {mode} not implemented for '{input.dtype.scalar_name}'")
    return _resampled(input, sizes, scales, mode, bool(align_corners), antialias)


def _resampled_quantized(
    input: Tensor, sizes: list[int], scales: list[float | None], mode: str, align: bool, antialias: bool
) -> Tensor:
    """Resample the integers of a quantized tensor."""
    resampled: Tensor
    if mode == "bilinear" and not antialias:
        resampled = with_integers(input, lambda integers: _bilinear(integers, sizes, scales, align))
    elif mode == "area":
        resampled = averaged(input, lambda numbers: _area(numbers, sizes))
    else:
        resampled = averaged(input, lambda numbers: _resampled(numbers, sizes, scales, mode, align, antialias))
    return resampled


def _bilinear(image: Tensor, sizes: list[int], scales: list[float | None], align: bool) -> Tensor:
    """Resample columns, then rows, and round each product and sum, as torch's kernels for quantized tensors: ties
    between two integers show in which order that is done."""
    for dim in (3, 2):
        extent, size = image.shape[dim], sizes[dim - 2]
        scale = _scale(extent, size, scales[dim - 2], align)
        index, weight = _tables(image, extent, size, scale, "bilinear", align, False)
        parts = zip(index.unbind(1), [each.reshape(-1, *[1] * (3 - dim)) for each in weight.unbind(1)], strict=True)
        first, second = (image.index_select(dim, places) * factors for places, factors in parts)
        image = first + second
    return image


@keeps_memory_format(1)
def _resampled(
    input: Tensor, sizes: list[int], scales: list[float | None], mode: str, align: bool, antialias: bool
) -> Tensor:
    """Resample one dimension after the other."""
    rounds = input.dtype is EXPORTS["uint8"] and len(sizes) == 2
    # Dimensions stand in the order of memory, so that steps run through what lies side by side.
    channels_last = suggested_format(input) is not contiguous_format
    result = input.movedim(1, -1) if channels_last else input
    steps: list[tuple[int, Callable[[Tensor], Tensor]]] = []
    for place in range(len(sizes)):
        dim = place + 1 if channels_last else place + 2
        step = _step(result, dim, sizes[place], scales[place], mode, align, antialias)
        steps.append((sizes[place] - result.shape[dim], step))
    # What makes the image smaller comes first, and what makes it larger from the last dimension on; bytes are rounded
    # after each step, for which torch has an order of its own.
    steps.reverse()
    for growth, step in steps if rounds else sorted(steps, key=lambda each: each[0] > 0):
        result = step(result) if growth or not rounds else result
    return (result.movedim(-1, 1) if channels_last else result).to(input.dtype)


def _check_mode(mode: str, align: bool, antialias: bool, dims: int) -> None:
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


def _sizes(
    input: Tensor, dims: int, size: Any, scale_factor: Any, recompute: bool | None
) -> tuple[list[int], list[float | None]]:
    """The sizes of the result, and the factors from which positions are computed where they are not the sizes'."""
    if (size is None) == (scale_factor is None):
        raise ValueError(
            "either size or scale_factor should be defined" if size is None
            else "only one of size or scale_factor should be defined"
        )  # fmt: skip
    if size is not None:
        if recompute:
            raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
        sizes = _listed("size", size, input, dims)
        return [int(each) for each in sizes], [None] * dims
    factors = [float(each) for each in _listed("scale_factor", scale_factor, input, dims)]
    sizes = [math.floor(extent * factor) for extent, factor in zip(input.shape[2:], factors, strict=True)]
    return sizes, [None] * dims if recompute else list(factors)


def _listed(name: str, value: Any, input: Tensor, dims: int) -> list[Any]:
    if not isinstance(value, (list, tuple)):
        return [value] * dims
    if len(value) != dims:
        named, letter = ("output size", "o") if name == "size" else (name, "s")
        given = f"{named} of {value}" if name == "size" else f"{named} of shape {value}"
        raise ValueError(
            f"Input and {named.removesuffix(' size')} must have the same number of spatial dimensions, but got input "
            f"with spatial dimensions of {list(input.shape[2:])} and {given}. Please provide input tensor in (N, C, "
            f"d1, d2, ...,dK) format and {named} in ({letter}1, {letter}2, ...,{letter}K) format."
        )
    return list(value)


def _area(input: Tensor, sizes: list[int]) -> Tensor:
    pool: Any = getattr(_operators if len(sizes) == 1 else _nn_functional, f"adaptive_avg_pool{len(sizes)}d")
    result: Tensor = pool(input, sizes)
    return result


# ---- one dimension ------------------------------------------------------------------------------------------


def _scale(extent: int, size: int, factor: float | None, align: bool) -> float:
    """The distance between neighbours of the result, in elements of the input."""
    if align:
        return (extent - 1) / (size - 1) if size > 1 else 0.0
    return extent / size if factor is None else 1 / factor


def _step(
    input: Tensor, dim: int, size: int, factor: float | None, mode: str, align: bool, antialias: bool
) -> Callable[[Tensor], Tensor]:
    extent = input.shape[dim]
    scale = _scale(extent, size, factor, align)
    if mode.startswith("nearest"):
        return _nearest(input, dim, extent, size, scale, mode == "nearest-exact")
    if input.dtype is EXPORTS["uint8"]:
        index, weight = _tables(input.new_empty(0).double(), extent, size, scale, mode, align, antialias)
        factors, places = _fixed_point(weight if antialias else _merged(index, weight))
        return lambda x: _resampled_bytes(x, dim, index, factors, places)
    index, weight = _tables(input, extent, size, scale, mode, align, antialias)
    return lambda x: _nn_functional.resample(x, dim, index, weight)


def _positions(input: Tensor, size: int) -> Tensor:
    """0, 1, ... in the precision in which torch computes places."""
    result: Tensor = input.new_ones(size, dtype=input.dtype if input.dtype.itemsize >= 4 else input.float().dtype)
    return result.cumsum(0) - 1


def _nearest(input: Tensor, dim: int, extent: int, size: int, scale: float, exact: bool) -> Callable[[Tensor], Tensor]:
    places = _positions(input.new_empty(0).float(), size)
    index = ((places + 0.5 if exact else places) * scale).floor().long().clamp(max=extent - 1)
    return lambda x: x.index_select(dim, index)


def _tables(
    input: Tensor, extent: int, size: int, scale: float, mode: str, align: bool, antialias: bool
) -> tuple[Tensor, Tensor]:
    """The positions (size, K) that each element of the result is made of, and their factors."""
    places = _positions(input, size).unsqueeze(1)
    if antialias:
        return _antialiased(places, extent, scale, mode)
    at = places * scale if align else (places + 0.5) * scale - 0.5
    if mode != "bicubic":
        at = at.clamp(min=0)
        first = at.floor().clamp(max=extent - 1)
        right = (at - first).clamp(max=1)
        index = _operators.cat([first, (first + 1).clamp(max=extent - 1)], 1)
        return index.long(), _operators.cat([1 - right, right], 1)
    first = at.floor()
    offsets = first.new_tensor([-1.0, 0.0, 1.0, 2.0])
    weight = _cubic((at - first) - offsets, _CUBIC)
    return (first + offsets).clamp(0, extent - 1).long(), weight


def _antialiased(places: Tensor, extent: int, scale: float, mode: str) -> tuple[Tensor, Tensor]:
    """A kernel that is as wide as the step between elements of the result, cut off at the borders."""
    widest = max(scale, 1.0)
    reach, kernel = _KERNELS[mode]
    support = reach * widest
    centre = scale * (places + 0.5)
    first = (centre - support + 0.5).trunc().clamp(min=0)
    last = (centre + support + 0.5).trunc().clamp(max=extent)
    index = first + _positions(places, math.ceil(support) * 2 + 1)
    distance = (index - centre + 0.5) / widest
    weight = kernel(distance) * (index < last)
    return index.clamp(max=extent - 1).long(), weight / weight.sum(1, keepdim=True)


def _cubic(x: Tensor, slope: float) -> Tensor:
    """The kernel of cubic convolution (Keys 1981)."""
    x = x.abs()
    near = ((slope + 2) * x - (slope + 3)) * x * x + 1
    far = ((slope * x - 5 * slope) * x + 8 * slope) * x - 4 * slope
    return near.where(x <= 1, far.where(x < 2, far.new_zeros(())))


def _triangle(x: Tensor) -> Tensor:
    return (1 - x.abs()).clamp(min=0)


def _lanczos(x: Tensor) -> Tensor:
    """The kernel of Lanczos (1956) with three lobes on each side."""
    near: Tensor = x.sinc() * (x / 3).sinc()
    return near.where(x.abs() < 3, near.new_zeros(()))


_KERNELS: dict[str, tuple[float, Callable[[Tensor], Tensor]]] = {
    "bilinear": (1.0, _triangle),
    "bicubic": (2.0, lambda x: _cubic(x, _CUBIC_ANTIALIASED)),
    "lanczos": (3.0, _lanczos),
}
"""The kernels of `antialias` and their radii, by mode."""


# ---- images of bytes ----------------------------------------------------------------------------------------


def _merged(index: Tensor, weight: Tensor) -> Tensor:
    """The factors of each position in one place, where borders repeat it."""
    same = index.unsqueeze(2) == index.unsqueeze(1)
    return (same * weight.unsqueeze(1)).sum(2) * ~same.tril(-1).any(2)


def _fixed_point(weight: Tensor) -> tuple[Tensor, int]:
    """Factors as integers of 16 bits, with as many binary places as the largest has room for; torch's kernels for uint8
    round them so."""
    largest = float(weight.max()) if has_values(weight) else 0.0
    places = next((each for each in range(22) if int(0.5 + largest * 2 ** (each + 1)) >= 2**15), 22)
    return (weight * 2**places + 0.5 * weight.sign()).trunc(), places


def _resampled_bytes(image: Tensor, dim: int, index: Tensor, factors: Tensor, places: int) -> Tensor:
    """Sums of integers, which are exact in float64, rounded to bytes."""
    sums = _nn_functional.resample(image.double(), dim, index, factors)
    result: Tensor = ((sums + 2.0 ** (places - 1)) / 2**places).floor().clamp(0, 255).to(image.dtype)
    return result


# ---- torch's former names -----------------------------------------------------------------------------------


def upsample(
    input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None
) -> Tensor:
    """Return `interpolate`, whose former name this is."""
    warnings.warn("`nn.functional.upsample` is deprecated. Use `nn.functional.interpolate` instead.", stacklevel=2)
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """Return `interpolate` with `mode="nearest"`, whose former name this is."""
    return interpolate(input, size, scale_factor, "nearest")


def upsample_bilinear(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """Return `interpolate` with `mode="bilinear", align_corners=True`, whose former name this is."""
    return interpolate(input, size, scale_factor, "bilinear", True)
