"""Sorting, order statistics and search, for the composites `sort`, `topk` and their like; messages are torch's."""

from __future__ import annotations

from typing import Any

from .._base.dtypes import EXPORTS
from .._base.handles import type_name
from .._base.lazy_imports import load
from .._base.shapes import wrap_dim
from .._dispatch.ops import ops
from .._handle import median
from .numpy_bridge import array_of, tensor_of
from .values import has_values, holds

__all__ = [
    "as_operand",
    "contained",
    "insertion_indices",
    "kth_lines",
    "medians",
    "modes",
    "quantiles",
]  # fmt: skip


def kth_lines(tensor: Any, k: int, dim: int, keepdim: bool) -> tuple[Any, ...]:
    """Return the k-th smallest values along `dim`, and their indices."""
    dim = wrap_dim(dim, tensor.ndim)
    size = tensor.size(dim) if tensor.ndim else 1
    if not size:
        raise IndexError(f"kthvalue(): Expected reduction dim {dim} to have non-zero size.")
    if not 1 <= k <= size:
        raise RuntimeError(f"kthvalue(): selected number k out of range for dimension {dim}")
    results: tuple[Any, ...] = ops.topk(tensor, k, dim, False)
    if not tensor.ndim:
        return results
    return tuple((each.narrow(dim, k - 1, 1) if keepdim else each.select(dim, k - 1)).clone() for each in results)


# ---- medians and modes --------------------------------------------------------------------------------------


def medians(tensor: Any, dim: int | None, keepdim: bool, ignore_nan: bool) -> Any:
    """Return the lower medians along `dim` and their first indices; the median of all elements if `dim` is None."""
    if dim is None:
        return _median_of_all(tensor.reshape(-1), ignore_nan)
    dim, values, indices = _ranked("median", tensor, dim)
    size = values.size(dim)
    # NaN is at the end of a line, in the original order.
    missing = values.isnan().sum(dim, keepdim=True)
    if ignore_nan:
        ranks = ((size - 1 - missing) // 2).clamp(0)
    else:
        ranks = (size - missing).masked_fill(missing == 0, (size - 1) // 2)
    return _picked(values, indices, ranks, dim, keepdim and tensor.ndim)


def _median_of_all(elements: Any, ignore_nan: bool) -> Any:
    result = median(elements.contiguous(), None, ignore_nan)
    if result is not None:
        return result
    if elements.numel():
        return medians(elements, 0, False, ignore_nan)[0]
    # The median of no elements is NaN, converted to the dtype.
    return elements.new_full((), float("nan"), dtype=EXPORTS["float64"]).to(elements.dtype)


def modes(tensor: Any, dim: int, keepdim: bool) -> tuple[Any, ...]:
    """Return the smallest of the most frequent values along `dim`, and their last indices; NaN equals NaN and is the
    largest.
    """
    dim, values, indices = _ranked("mode", tensor, dim)
    size = values.size(dim)
    # The distance of each value from the first that equals it.
    left, right = values.narrow(dim, 0, size - 1), values.narrow(dim, 1, size - 1)
    differs = (left != right) & ((left == left) | (right == right))
    steps = indices.new_ones(indices.shape).cumsum(dim) - 1
    starts = steps.clone()
    starts.narrow(dim, 1, size - 1).mul_(differs)
    distances = steps - starts.cummax(dim)[0]
    ranks = distances.argmax(dim, keepdim=True)
    return _picked(values, indices, ranks, dim, keepdim and tensor.ndim)


def _ranked(name: str, tensor: Any, dim: int) -> tuple[int, Any, Any]:
    """Return the dimension, and the sorted values along it with their indices."""
    dim = wrap_dim(dim, tensor.ndim)
    lines = tensor if tensor.ndim else tensor.reshape(1)
    if not lines.size(dim):
        raise IndexError(f"{name}(): Expected reduction dim {dim} to have non-zero size.")
    values, indices = ops.sort(lines, dim)
    return dim, values, indices


def _picked(values: Any, indices: Any, ranks: Any, dim: int, keepdim: Any) -> tuple[Any, ...]:
    """Return the values at `ranks` of each line, and their indices."""
    picked = (values.gather(dim, ranks), indices.gather(dim, ranks))
    return picked if keepdim else tuple(each.squeeze(dim) for each in picked)


# ---- quantiles ----------------------------------------------------------------------------------------------

_INTERPOLATIONS = ("linear", "lower", "higher", "midpoint", "nearest")


def quantiles(tensor: Any, q: Any, dim: int | None, keepdim: bool, interpolation: str, ignore_nan: bool) -> Any:
    """Return quantiles along `dim`, or of all elements. Several `q` form a new first dimension."""
    q = _fractions(tensor, q, interpolation)
    kept, dropped = [1] * tensor.ndim, []
    lines = tensor.reshape(-1)
    axis = 0 if dim is None else wrap_dim(dim, tensor.ndim)
    if dim is not None and tensor.ndim:
        lines = tensor.movedim(axis, -1)
        dropped = list(lines.shape)[:-1]
        kept = list(tensor.shape)
        kept[axis] = 1
    result = _at_fractions(lines.sort(-1)[0], q.reshape(-1), interpolation, ignore_nan)
    return result.movedim(-1, 0).reshape([*q.shape, *(kept if keepdim else dropped)])


def _at_fractions(ordered: Any, q: Any, interpolation: str, ignore_nan: bool) -> Any:
    """Return the values at fractions `q` of sorted lines, which have NaN at their ends."""
    last = ordered.size(-1) - 1
    if ignore_nan:
        ranks = q * (ordered.isnan().logical_not().sum(-1, keepdim=True) - 1).clamp(0)
    else:
        ranks = (q * last).masked_fill(ordered.narrow(-1, last, 1).isnan(), last)
    rounded = {"lower": ranks.floor, "higher": ranks.ceil, "nearest": ranks.round}.get(interpolation)
    if rounded is not None:
        return ordered.gather(-1, rounded().long())
    below = ranks.long()
    weights = (ranks - below) if interpolation == "linear" else q.new_full((), 0.5)
    low, high = ordered.gather(-1, below), ordered.gather(-1, ranks.ceil().long())
    result = low.lerp(high, weights)
    if holds(result.isfinite().all(), True):
        return result
    # Where the difference is infinite or that of equal infinities, add weighted parts unless one weight is zero.
    parts = (1 - weights) * low + weights * high
    return result.where(result.isfinite(), low.where((weights == 0) | (low == high), parts))


def _fractions(tensor: Any, q: Any, interpolation: str) -> Any:
    """Check the arguments and return `q` as a tensor."""
    is_number = not hasattr(q, "_h")
    if is_number and not 0 <= q <= 1:
        raise RuntimeError(f"quantile() q must be in the range [0, 1] but got {q:g}")
    if interpolation not in _INTERPOLATIONS:
        raise RuntimeError(
            f"quantile() interpolation must be one of linear, lower, higher, midpoint or nearest, but got "
            f"{interpolation}"
        )
    if not tensor.numel():
        raise RuntimeError("quantile() input tensor must be non-empty")
    if not is_number and q.ndim > 1:
        raise RuntimeError("quantile() q must be a scalar or 1D tensor")
    if tensor.dtype.scalar_name not in ("Float", "Double"):
        raise RuntimeError("quantile() input tensor must be either float or double dtype")
    if is_number:
        return tensor.new_full((), q)
    if q.dtype is not tensor.dtype:
        raise RuntimeError("quantile() q tensor must be same dtype as the input tensor")
    inside = (q >= 0) & (q <= 1)
    ops.assert_values(inside, "RuntimeError", "quantile() q values must be in the range [0, 1]")
    return q


# ---- search -------------------------------------------------------------------------------------------------


def as_operand(value: Any, like: Any) -> Any:
    """Return a tensor as it is and a number as a tensor."""
    if hasattr(value, "_h"):
        return value
    if not hasattr(like, "_h"):
        raise TypeError(f"expected a Tensor among the arguments, but got {type_name(value)} and {type_name(like)}")
    dtype = like.dtype
    holds = type(value) is int and dtype.is_integer and dtype.minimum <= value <= dtype.maximum
    if not dtype.is_floating_point and not holds:
        dtype = EXPORTS["uint64"] if type(value) is int and value >= 2**63 else None
    return ops.full((), value, dtype=dtype)


def _search_side(right: bool, side: str | None) -> str:
    if side not in (None, "left", "right"):
        raise RuntimeError(f"opweave.searchsorted(): side can only be 'left' or 'right' but got {side}")
    if side == "left" and right:
        raise RuntimeError(
            "opweave.searchsorted(): side and right can't be set to opposites, got side of left while right was True"
        )
    return "right" if right or side == "right" else "left"


def insertion_indices(
    sequence: Any, values: Any, out_int32: bool, right: bool, side: str | None = None, sorter: Any = None
) -> Any:
    """Return the index at which each value must be inserted into the last dimension of `sequence` to keep it sorted."""
    numpy = load("numpy")
    search: Any = numpy.searchsorted
    side = _search_side(right, side)
    _check_search(sequence, values, sorter)
    for tensor in (sequence, values):
        if tensor.is_complex():
            raise NotImplementedError(f"\"searchsorted_out_cpu\" not implemented for '{tensor.dtype.scalar_name}'")
    if not has_values(values):
        return values.new_empty(values.shape, dtype=EXPORTS["int32" if out_int32 else "int64"])
    order = None if sorter is None else array_of(sorter).copy()  # which no other thread overwrites after the check
    boundaries, wanted = array_of(sequence, wide=True), array_of(values, wide=True)
    if order is not None and order.size and not 0 <= order.min() <= order.max() < boundaries.shape[-1]:
        raise RuntimeError("opweave.searchsorted(): sorter index out of range")
    if boundaries.ndim == 1:
        indices = search(boundaries, wanted, side, order)
    else:
        indices = numpy.empty(wanted.shape, numpy.int64)
        for line in numpy.ndindex(boundaries.shape[:-1]):
            sorting = None if order is None else order[line]
            indices[line] = search(boundaries[line], wanted[line], side, sorting)
    return tensor_of(numpy.asarray(indices, numpy.int32 if out_int32 else numpy.int64))


def _check_search(sequence: Any, values: Any, sorter: Any) -> None:
    name, shape = "opweave.searchsorted(): ", list(sequence.shape)
    if not shape:
        raise RuntimeError(f"{name}boundaries tensor should have positive dimension, but got 0 dimension")
    if len(shape) > 1 and shape[:-1] != list(values.shape)[:-1]:
        raise RuntimeError(
            f"{name}boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries tensor and input "
            f"value tensor must match, but we got boundaries tensor {shape} and input value tensor {list(values.shape)}"
        )
    if sorter is None:
        return
    if list(sorter.shape) != shape:
        raise RuntimeError(
            f"{name}boundary and sorter must have the same size, but got boundary tensor {shape}and got sorter tensor "
            f"{list(sorter.shape)}"
        )
    if sorter.dtype.scalar_name != "Long":
        raise RuntimeError(f"{name}sorter must be a tensor of long dtype but got dtype {sorter.dtype.scalar_name}")


def contained(elements: Any, test_elements: Any, invert: bool) -> Any:
    """Return for each element whether it is one of `test_elements`."""
    for tensor in (elements, test_elements):
        if tensor.is_complex():
            raise RuntimeError(f"Unsupported input type encountered for isin(): {tensor.dtype.scalar_name}")
    if not has_values(elements):
        return elements.new_empty(elements.shape, dtype=EXPORTS["bool"])
    numpy = load("numpy")
    result = numpy.isin(array_of(elements, wide=True), array_of(test_elements, wide=True), invert=invert)
    return tensor_of(numpy.asarray(result))
