"""Histograms, for the composites `histc`, `histogram`, `histogramdd` and `bincount`; messages are those of torch."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .._base.dtypes import EXPORTS
from .._base.errors import take_pending
from .._base.finfo import finfo
from .._base.lazy_imports import load
from .._C import lib
from .._dispatch.ops import ops
from .._dispatch.store import cpp_name
from .numpy_bridge import array_of, tensor_of
from .values import check_values, has_values

__all__ = ["counted_bins", "counted_values", "histogram_of", "histogram_of_points"]

_NAME = "opweave.histogramdd: "
"""Begins messages about both: torch computes a histogram as that of points on a line."""


_OF_RANGE, _EVEN, _LISTED = range(3)
"""Rules by which values find their bins: `ow_bin_rule` of the core."""


def _bounds(what: str, tensor: Any, given: Sequence[float] | None, margin: float) -> tuple[float, float]:
    """Return the given range of the bins, or that of the elements (0 to 1 for none, or where they are unknown).

    An empty range is widened by a margin.
    """
    if given is None:
        known = tensor is not None and tensor.numel()
        given = tuple(float(each.item()) for each in tensor.aminmax()) if known else (0.0, 1.0)
    low, high = given
    if not (math.isfinite(low) and math.isfinite(high)):
        raise RuntimeError(f"{what} [{low:g}, {high:g}] is not finite")
    if low > high:
        raise RuntimeError(f"{what.partition(':')[0]}: max must be larger than min")
    return (low - margin, high + margin) if low == high else (low, high)


def _sums(values: Any, weights: Any, edges: Any, rule: int, bins: int) -> Any:
    """Return the sum of weights (None: 1 for each value) in each bin. Half formats are computed in float32."""
    dtype = EXPORTS["float64" if values.dtype is EXPORTS["float64"] else "float32"]
    values, edges, weights = (
        None if each is None else each.detach().to(dtype).reshape(-1).contiguous() for each in (values, edges, weights)
    )
    sums = ops.zeros(bins, dtype=EXPORTS["float64"])
    if not lib.add_to_bins(values._h, 0.0 if weights is None else weights._h, edges._h, rule, sums._h):
        raise take_pending() or RuntimeError("histogram: its tensors changed while they were read")
    return sums


def counted_bins(tensor: Any, bins: int, low: float, high: float) -> Any:
    """Count the elements in each of equally wide bins."""
    if not tensor.dtype.is_floating_point:
        raise NotImplementedError(f"\"histogram_cpu\" not implemented for '{tensor.dtype.scalar_name}'")
    if bins <= 0:
        raise RuntimeError(f"opweave.histogram(): bins must be > 0, but got {bins} for dimension 0")
    given = None if low == high else (float(low), float(high))
    if not has_values(tensor):
        _bounds("opweave.histc: range of", None, given, 1)
        return tensor.new_empty((bins,))
    low, high = _bounds("opweave.histc: range of", tensor, given, 1)
    values, ends = tensor, tensor.new_tensor([low, high])
    if not (high - low) * bins <= finfo(tensor.dtype).max:
        # Compute in double precision, scaled so that the larger bound is near 1.
        scale = 2.0 ** -min(math.frexp(max(abs(low), abs(high)))[1], 1000)
        values, ends = (each.to(EXPORTS["float64"]) * scale for each in (tensor, ends))
    return _sums(values, None, ends, _OF_RANGE, bins).to(tensor.dtype)


def histogram_of(tensor: Any, bins: Any, range: Sequence[float] | None, weight: Any, density: bool) -> tuple[Any, Any]:
    """Return the sum of weights (1 without them) in each bin, and the edges of the bins."""
    if hasattr(bins, "_h") and range is not None:
        raise TypeError("histogram(): argument 'range' excludes edges of bins: give their number, or no range")
    points = tensor.reshape(-1, 1)
    _check_points(points, None if weight is None else weight.reshape(-1))
    (grid,) = _grid(points, [bins], range)
    if not has_values(tensor):
        return tensor.new_empty((grid.numel() - 1,)), grid.clone()
    if hasattr(bins, "_h") and bool((grid.diff() < 0).any()):
        raise ValueError("histogram(): edges of bins must increase monotonically")
    sums = _sums(points, weight, grid, _LISTED if hasattr(bins, "_h") else _EVEN, grid.numel() - 1)
    if density:
        sums = sums / grid.diff() / sums.sum()
    return sums.to(tensor.dtype), grid.clone()


def _check_points(points: Any, weight: Any) -> None:
    if not points.dtype.is_floating_point:
        raise NotImplementedError(f"\"histogramdd\" not implemented for '{points.dtype.scalar_name}'")
    if weight is None:
        return
    if weight.dtype is not points.dtype:
        kinds = f"input({cpp_name(points)}), and weight({cpp_name(weight)})"
        raise RuntimeError(
            f"{_NAME}if weight tensor is provided, input tensor and weight tensor should have the same dtype, but got "
            f"{kinds}"
        )
    if weight.shape != points.shape[:-1]:
        raise RuntimeError(
            f"{_NAME}if weight tensor is provided it should have the same shape as the input tensor excluding its "
            f"innermost dimension, but got input with shape {list(points.shape)} and weight with shape "
            f"{list(weight.shape)}"
        )


def _edges(dim: int, dtype: Any, values: Any, bins: int, given: Sequence[float] | None) -> Any:
    """Return the edges of equally wide bins as a tensor."""
    bounds = None if given is None else (float(given[0]), float(given[1]))
    low, high = _bounds(f"{_NAME}dimension {dim}'s range", values, bounds, 0.5)
    return ops.linspace(low, high, bins + 1, dtype=dtype)


def histogram_of_points(
    tensor: Any, bins: Any, range: Sequence[float] | None, weight: Any, density: bool
) -> tuple[Any, tuple[Any, ...]]:
    """Return the sum of weights (1 without them) in each cell of a grid, and the edges along each coordinate."""
    numpy = load("numpy")
    if tensor.ndim < 2:
        raise RuntimeError(f"{_NAME}input tensor should have at least 2 dimensions")
    _check_points(tensor, weight)
    points = tensor.reshape(-1, tensor.size(-1))
    grid = _grid(points, bins, range)
    if not has_values(tensor):
        return tensor.new_empty([each.numel() - 1 for each in grid]), tuple(each.clone() for each in grid)
    array, edges = array_of(points, wide=True), [array_of(each, wide=True) for each in grid]
    weights = None if weight is None else array_of(weight.reshape(-1), wide=True)
    counts, _ = numpy.histogramdd(array, edges, weights=weights, density=density)
    results = [tensor_of(numpy.ascontiguousarray(each.astype(array.dtype))) for each in (counts, *edges)]
    return results[0].to(tensor.dtype), tuple(each.to(tensor.dtype) for each in results[1:])


def _grid(points: Any, bins: Any, range: Sequence[float] | None) -> list[Any]:
    """Return the edges of the bins along each coordinate."""
    width, dtype = points.size(1), points.dtype
    sizes = [bins] * width if isinstance(bins, int) else list(bins)
    if sizes and hasattr(sizes[0], "_h"):
        return _given_edges(points, sizes)
    if len(sizes) != width:
        raise RuntimeError("histogramdd: The size of bins must be equal to the innermost dimension of the input.")
    if range is not None and len(range) != 2 * width:
        raise RuntimeError(
            f"{_NAME}for a {width}-dimensional histogram range should have {2 * width} elements, but got {len(range)}"
        )
    edges = []
    for dim, size in enumerate(sizes):
        if size <= 0:
            raise RuntimeError(f"opweave.histogram(): bins must be > 0, but got {size} for dimension {dim}")
        given = None if range is None else range[2 * dim : 2 * dim + 2]
        if given is not None and given[0] > given[1]:
            low, high = given
            raise RuntimeError(
                f"{_NAME}min should not exceed max, but got min {low:g} max {high:g} for dimension {dim}"
            )
        column = points.select(1, dim) if has_values(points) else None
        edges.append(_edges(dim, dtype, column, size, given))
    return edges


def _given_edges(points: Any, tensors: Sequence[Any]) -> list[Any]:
    width = points.size(-1)
    if len(tensors) != width:
        raise RuntimeError(
            f"{_NAME}expected {width} sequences of bin edges for a {width}-dimensional histogram but got {len(tensors)}"
        )
    for dim, tensor in enumerate(tensors):
        if tensor.dtype is not points.dtype:
            raise RuntimeError(
                f"{_NAME}input tensor and bins tensors should have the same dtype, but got input with dtype "
                f"{cpp_name(points)} and bins for dimension {dim} with dtype "
                f"{cpp_name(tensor)}"
            )
        if tensor.ndim != 1:
            raise RuntimeError(
                f"{_NAME}bins tensor should have one dimension, but got {tensor.ndim} dimensions in the bins tensor "
                f"for dimension {dim}"
            )
        if not tensor.numel():
            raise RuntimeError(
                f"{_NAME}bins tensor should have at least 1 element, but got 0 elements in the bins tensor for "
                f"dimension {dim}"
            )
    return [*tensors]


def counted_values(tensor: Any, weights: Any, minlength: int) -> Any:
    """Count how often each natural number occurs, or add up its weights."""
    if tensor.dtype.is_floating_point or tensor.dtype.scalar_name == "Bool":
        raise NotImplementedError(f"\"bincount_cpu\" not implemented for '{tensor.dtype.scalar_name}'")
    if minlength < 0:
        raise RuntimeError("minlength should be >= 0")
    check_values("bincount", tensor)
    least, largest = (int(each.item()) for each in tensor.aminmax()) if tensor.numel() else (0, -1)
    if tensor.ndim != 1 or least < 0:
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    if weights is None:
        numbers, result = tensor.to(EXPORTS["int64"]), _zeros(largest, minlength, "int64")
        if not lib.count_values(numbers._h, result._h):
            error = take_pending()
            raise error or RuntimeError("bincount: the input was written to while its values were counted")
        return result
    array = array_of(tensor)
    if weights.ndim != 1 or len(weights) != len(array):
        raise RuntimeError("weights should be 1-d and have the same length as input")
    result = _zeros(largest, minlength, "float32" if weights.dtype.scalar_name == "Float" else "float64")
    # NumPy reads the array twice, and other threads may write to it between.
    sums = load("numpy").bincount(array.copy(), array_of(weights, wide=True))
    result.numpy()[: len(sums)] = sums
    return result


def _zeros(largest: int, minlength: int, dtype: str) -> Any:
    """Allocate a zero for each number up to the largest, which is -1 if there are no numbers."""
    if largest >= 2**63 - 1:
        raise RuntimeError(f"maximum value of input overflowed, it should be < {2**63 - 1} but got {largest}")
    return ops.zeros(max(largest + 1, minlength), dtype=EXPORTS[dtype if largest >= 0 else "int64"])
