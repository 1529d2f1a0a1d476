"""Reductions: `axis` is None, an int, or a tuple of any length, of which an empty one reduces nothing; integers are
added up as the widest dtype of their kind."""

from __future__ import annotations

from typing import Any

from .._base.dtypes import EXPORTS, dtype
from .._base.shapes import distinct_dims
from .._dispatch.ops import ops
from ._derive import standard

__all__ = [
    "all", "any", "count_nonzero", "cumulative_prod", "cumulative_sum", "max", "mean", "min", "prod", "std", "sum",
    "var",
]  # fmt: skip

_INT64, _UINT64, _BOOL = EXPORTS["int64"], EXPORTS["uint64"], EXPORTS["bool"]


def sum_dtype(x: Any, wanted: dtype | None) -> dtype | None:
    """The dtype of sums and products: that which is wanted, else of integers the widest of their kind."""
    if wanted is not None or not x.dtype.is_integer:
        return wanted
    return _INT64 if x.dtype.is_signed else _UINT64


def reduce_axes(operator: Any, x: Any, axis: Any, keepdims: bool, **others: Any) -> Any:
    """The operator along one dimension, into which those that are reduced have been merged."""
    axes = tuple(range(x.ndim)) if axis is None else tuple(axis) if isinstance(axis, tuple) else (axis,)
    dims = [dim for dim in distinct_dims(axes, x.ndim) if x.ndim]
    kept = [dim for dim in range(x.ndim) if dim not in dims]
    count = 1
    for dim in dims:
        count *= x.shape[dim]
    sizes = [x.shape[dim] for dim in kept]
    merged = ops.reshape(ops.permute(x, [*kept, *dims]) if x.ndim else x, [*sizes, count])
    result = operator(merged, dim=-1, **others)
    return ops.reshape(result, [1 if dim in dims else x.shape[dim] for dim in range(x.ndim)]) if keepdims else result


@standard
def sum(x: Any, /, *, axis: Any = None, dtype: dtype | None = None, keepdims: bool = False) -> Any:
    """Return the sums along the axes."""
    return reduce_axes(ops.sum, x, axis, keepdims, dtype=sum_dtype(x, dtype))


@standard
def prod(x: Any, /, *, axis: Any = None, dtype: dtype | None = None, keepdims: bool = False) -> Any:
    """Return the products along the axes."""
    return reduce_axes(ops.prod, x, axis, keepdims, dtype=sum_dtype(x, dtype))


@standard
def max(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """Return the largest elements along the axes."""
    return reduce_axes(ops.amax, x, axis, keepdims)


@standard
def min(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """Return the smallest elements along the axes."""
    return reduce_axes(ops.amin, x, axis, keepdims)


@standard
def mean(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """Return the means along the axes."""
    return reduce_axes(ops.mean, x, axis, keepdims)


@standard
def var(x: Any, /, *, axis: Any = None, correction: float = 0.0, keepdims: bool = False) -> Any:
    """Return the variances along the axes: sums of squares divided by the number of elements less the correction."""
    return reduce_axes(ops.var, x, axis, keepdims, correction=correction)


@standard
def std(x: Any, /, *, axis: Any = None, correction: float = 0.0, keepdims: bool = False) -> Any:
    """Return the standard deviations along the axes."""
    return reduce_axes(ops.std, x, axis, keepdims, correction=correction)


@standard
def all(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """Return whether all elements along the axes are other than zero."""
    return reduce_axes(ops.all, x, axis, keepdims).to(_BOOL)


@standard
def any(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """Return whether an element along the axes is other than zero."""
    return reduce_axes(ops.any, x, axis, keepdims).to(_BOOL)


@standard
def count_nonzero(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """Return how many elements along the axes are other than zero."""
    return reduce_axes(ops.count_nonzero, x, axis, keepdims)


@standard
def cumulative_sum(
    x: Any, /, *, axis: int | None = None, dtype: dtype | None = None, include_initial: bool = False
) -> Any:
    """Return the sums of the elements up to each along the axis, which arrays of one dimension do not need."""
    return _cumulative(ops.cumsum, 0, x, axis, dtype, include_initial)


@standard
def cumulative_prod(
    x: Any, /, *, axis: int | None = None, dtype: dtype | None = None, include_initial: bool = False
) -> Any:
    """Return the products of the elements up to each along the axis, which arrays of one dimension do not need."""
    return _cumulative(ops.cumprod, 1, x, axis, dtype, include_initial)


def _cumulative(operator: Any, start: int, x: Any, axis: int | None, dtype: dtype | None, include_initial: bool) -> Any:
    if axis is None:
        if x.ndim != 1:
            raise ValueError(f"an axis must be given for an array of {x.ndim} dimensions")
        axis = 0
    result = operator(x, axis, dtype=sum_dtype(x, dtype))
    if not include_initial:
        return result
    shape = [1 if dim == axis % x.ndim else size for dim, size in enumerate(x.shape)]
    return ops.cat([ops.full(shape, start, dtype=result.dtype, device=result.device), result], axis)
