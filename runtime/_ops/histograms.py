"""Histograms, for the composites `histc`, `histogram`, `histogramdd` and `bincount`; messages are those of torch."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .._base.dtypes import EXPORTS
from .._base.errors import take_pending
from .._base.lazy_imports import load
from .._C import lib
from .._dispatch.ops import ops
from .._dispatch.store import cpp_name
from .numpy_bridge import array_of, tensor_of
from .values import check_values, has_values

__all__ = ["counted_bins", "counted_values", "histogram_of", "histogram_of_points"]

_NAME = "opweave.histogramdd: "
"""Begins messages about both: torch computes a histogram as that of points on a line."""


def _bounds(what: str, array: Any, given: Sequence[float] | None, margin: float) -> tuple[float, float]:
    """Return the given range of the bins, or that of the elements (0 to 1 for none, or where they are unknown).

    An empty range is widened by a margin.
    """
    if given is None:
        given = (float(array.min()), float(array.max())) if array is not None and array.size else (0.0, 1.0)
    low, high = given
    if not (math.isfinite(low) and math.isfinite(high)):
        raise RuntimeError(f"{what} [{low:g}, {high:g}] is not finite")
    if low > high:
        raise RuntimeError(f"{what.partition(':')[0]}: max must be larger than min")
    return (low - margin, high + margin) if low == high else (low, high)


def _bins_of(array: Any, bins: int, low: float, high: float) -> Any:
    """Return the bin of each element within the range; the last bin includes its upper bound."""
    numpy = load("numpy")
    values = array[(array >= low) & (array <= high)]
    if low == high:  # the margin around a single value is less than its last digit
        return numpy.full(len(values), bins // 2)
    if not _computable(numpy.finfo(array.dtype), bins, low, high):
        # Compute in double precision, scaled so that the larger bound is near 1.
        exponent = max(-1000, min(math.frexp(max(abs(low), abs(high)))[1], 1000))
        values = numpy.ldexp(values.astype(numpy.float64), -exponent)
        low, high = math.ldexp(low, -exponent), math.ldexp(high, -exponent)
    number = values.dtype.type
    indices = ((values - number(low)) * number(bins / (high - low))).astype(numpy.int64)
    return numpy.minimum(indices, bins - 1)


def _computable(limits: Any, bins: int, low: float, high: float) -> bool:
    """True if the width of the range and the number of bins per unit are finite and not zero in the given format."""
    largest, least = float(limits.max), float(limits.tiny)
    return high - low <= largest and least <= bins / (high - low) <= largest


def counted_bins(tensor: Any, bins: int, low: float, high: float) -> Any:
    """Count the elements in each of equally wide bins."""
    numpy = load("numpy")
    if not tensor.dtype.is_floating_point:
        raise NotImplementedError(f"\"histogram_cpu\" not implemented for '{tensor.dtype.scalar_name}'")
    if bins <= 0:
        raise RuntimeError(f"opweave.histogram(): bins must be > 0, but got {bins} for dimension 0")
    given = None if low == high else (float(low), float(high))
    if not has_values(tensor):
        _bounds("opweave.histc: range of", None, given, 1)
        return tensor.new_empty((bins,))
    array = array_of(tensor.reshape(-1), wide=True)
    low, high = _bounds("opweave.histc: range of", array, given, 1)
    indices = _bins_of(array, bins, low, high)
    return tensor_of(numpy.bincount(indices, minlength=bins).astype(array.dtype)).to(tensor.dtype)


def histogram_of(tensor: Any, bins: Any, range: Sequence[float] | None, weight: Any, density: bool) -> tuple[Any, Any]:
    """Return the sum of weights (1 without them) in each bin, and the edges of the bins."""
    numpy = load("numpy")
    if hasattr(bins, "_h") and range is not None:
        raise TypeError("histogram(): argument 'range' excludes edges of bins: give their number, or no range")
    points = tensor.reshape(-1, 1)
    _check_points(points, None if weight is None else weight.reshape(-1))
    array = array_of(points, wide=True) if has_values(tensor) else None
    (grid,) = _grid(points, array, [bins], range)
    if array is None:
        return tensor.new_empty((grid.numel() - 1,)), grid.clone()
    edges = array_of(grid, wide=True)
    weights = None if weight is None else array_of(weight.reshape(-1), wide=True)
    counts, _ = numpy.histogram(array[:, 0], edges, weights=weights)
    if density:
        counts = counts / numpy.diff(edges) / counts.sum()
    return tensor_of(counts.astype(array.dtype)).to(tensor.dtype), grid.clone()


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


def _edges(dim: int, dtype: Any, array: Any, bins: int, given: Sequence[float] | None) -> Any:
    """Return the edges of equally wide bins as a tensor."""
    bounds = None if given is None else (float(given[0]), float(given[1]))
    low, high = _bounds(f"{_NAME}dimension {dim}'s range", array, bounds, 0.5)
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
    array = array_of(points, wide=True) if has_values(tensor) else None
    grid = _grid(points, array, bins, range)
    if array is None:
        return tensor.new_empty([each.numel() - 1 for each in grid]), tuple(each.clone() for each in grid)
    edges = [array_of(each, wide=True) for each in grid]
    weights = None if weight is None else array_of(weight.reshape(-1), wide=True)
    counts, _ = numpy.histogramdd(array, edges, weights=weights, density=density)
    results = [tensor_of(numpy.ascontiguousarray(each.astype(array.dtype))) for each in (counts, *edges)]
    return results[0].to(tensor.dtype), tuple(each.to(tensor.dtype) for each in results[1:])


def _grid(points: Any, array: Any, bins: Any, range: Sequence[float] | None) -> list[Any]:
    """Return the edges of the bins along each coordinate. The array of the points is None where these are unknown."""
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
        column = None if array is None else array[:, dim]
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
