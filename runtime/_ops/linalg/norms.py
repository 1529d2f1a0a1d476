"""Norms of vectors and matrices, and tolerances for singular values, for composites; messages are torch's."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..._base.devices import stands_for_others
from ..._base.finfo import finfo
from ..._base.promotion import promote_types
from ..._base.shapes import wrap_dim
from ..._dispatch.ops import ops
from ..values import has_values, holds, is_differentiated, wide
from .checks import check_floating, check_matrix, default_tolerance

__all__ = [
    "check_vector_norm",
    "distances",
    "extreme",
    "factor_for_squares",
    "kept_shape",
    "limit_of",
    "matrix_norm_dims",
    "normalized",
    "number_text",
    "tolerances",
]


def number_text(value: Any) -> str:
    """Format a number as C++ prints it."""
    return f"{value:g}" if isinstance(value, (int, float)) else str(value)


# ---- norms --------------------------------------------------------------------------------------------------


def check_vector_norm(tensor: Any, order: Any, dtype: Any) -> None:
    """Check the arguments of `linalg.vector_norm`. Raises RuntimeError for orders and dtypes that it does not have."""
    function = "linalg.vector_norm"
    check_floating(function, tensor)
    if isinstance(order, complex):
        raise RuntimeError(f"{function}: Expected a non-complex scalar as the order of norm.")
    _check_dtype(function, tensor, dtype)


def _check_dtype(function: str, tensor: Any, dtype: Any) -> None:
    """Raise unless the norm can be computed in this dtype."""
    if dtype is None:
        return
    own = tensor.dtype
    if not (dtype.is_floating_point or dtype.is_complex):
        raise RuntimeError(f"{function}: dtype should be floating point or complex, but got {dtype.scalar_name}")
    if own.is_complex != dtype.is_complex:
        kind = "complex" if own.is_complex else "real"
        raise RuntimeError(f"{function}: dtype should be {kind} for {kind} inputs, but got {dtype.scalar_name}")
    if promote_types(own, dtype) is not dtype:
        raise RuntimeError(
            f"{function}: the dtype of the input ({own.scalar_name}) should be convertible without narrowing to the "
            f"specified dtype ({dtype.scalar_name})"
        )


def distances(differences: Any, p: float) -> Any:
    """Return the p-norms of rows. NaN gives NaN in the distance, and in the gradient of that element alone."""
    if not differences.size(-1):
        return differences.sum(-1)
    if p == 0:
        return differences.abs().ceil().clamp(max=1).sum(-1)  # the number of elements that are not zero
    if p in (1, float("inf")) and is_differentiated(differences):
        # Unlike the sign of NaN, which is zero, the derivative of its square is NaN.
        differences = differences.where(differences == differences, differences * differences)
    return differences.norm(p, -1)


def normalized(tensor: Any, p: float, dim: int, eps: float) -> Any:
    """Return the tensor divided by its p-norm along `dim`, which counts as `eps` if it is smaller."""
    norm = tensor.norm(p, dim, keepdim=True)
    if not holds(norm.isinf().any(), False):
        return tensor / norm.clamp(min=eps)
    # Where the norm exceeds the range, scale the tensor by a power of two, which leaves the quotient as it is.
    scaled = wide(tensor) * ops.where(norm.isinf(), 2.0**-32, 1.0)
    return (scaled / scaled.norm(p, dim, keepdim=True).clamp(min=eps)).to(tensor.dtype)


def matrix_norm_dims(tensor: Any, order: Any, dims: Sequence[int], dtype: Any) -> tuple[int, int]:
    """Check the arguments and return the dimensions of rows and columns."""
    function = "linalg.matrix_norm"
    check_matrix(function, tensor)
    if order not in ("fro", "nuc") and (isinstance(order, str) or abs(order) not in (1, 2, float("inf"))):
        raise RuntimeError(f"{function}: Order {number_text(order)} not supported.")
    if len(dims) != 2:
        raise RuntimeError(f"{function}: dim must be a 2-tuple. Got {' '.join(map(str, dims))}")
    rows, columns = (wrap_dim(dim, tensor.ndim) for dim in dims)
    if rows == columns:
        raise RuntimeError(f"{function}: dims must be different. Got ({dims[0]}, {dims[1]})")
    check_floating(function, tensor, halves=order not in ("nuc", 2, -2))
    _check_dtype(function, tensor, dtype)
    return rows, columns


def extreme(values: Any, largest: bool, dim: int) -> Any:
    """Return the largest or the smallest value along a dimension, with keepdim; the largest of no values is zero."""
    if not largest:
        return values.amin(dim, True)
    return values.amax(dim, True) if values.size(dim) else values.sum(dim, True)


def kept_shape(shape: Sequence[int], rows: int, columns: int) -> list[int]:
    """Return the shape with size 1 in place of the rows and columns."""
    return [1 if dim in (rows, columns) else size for dim, size in enumerate(shape)]


def factor_for_squares(*tensors: Any) -> float:
    """Return a power of two by which these tensors must be scaled so that sums of squares stay in range; nearly always
    1.
    """
    if not has_values(tensors[0]) or stands_for_others(tensors[0]):
        return 1.0
    most, least = (max(float(value.item()) for value in each) for each in zip(*map(_bounds, tensors), strict=True))
    largest, limits = max(most, least), finfo(tensors[0].dtype)
    count = max(tensors[0].size(-1), 1)
    usual = limits.tiny / limits.eps**2 <= largest * largest <= limits.max / (8 * count)
    return 1.0 if usual or not 0 < largest < math.inf else math.ldexp(1, -math.frexp(largest)[1])


def _bounds(tensor: Any) -> tuple[Any, Any]:
    """Return the largest element and the largest negated element."""
    if not tensor.numel():
        return tensor.new_zeros(()), tensor.new_zeros(())
    return tensor.detach().amax(), -tensor.detach().amin()


# ---- limits of singular values ------------------------------------------------------------------------------


def tolerances(function: str, A: Any, atol: Any, rtol: Any) -> tuple[Any, Any]:
    """Return the absolute and the relative tolerance, each a number or a tensor with one element per matrix."""
    for name, given in (("atol", atol), ("rtol", rtol)):
        if hasattr(given, "dtype") and given.is_complex():
            raise RuntimeError(
                f"{function}: {name} tensor of complex type is not supported. Got {given.dtype.scalar_name}"
            )
    if rtol is None:
        rtol = default_tolerance(A)
        if hasattr(atol, "dtype"):
            rtol = atol.le(0) * rtol
        elif atol is not None and atol > 0:
            rtol = 0.0
    return 0.0 if atol is None else atol, rtol


def limit_of(largest: Any, atol: Any, rtol: Any) -> Any:
    """Return the limit that singular values must exceed; `largest` has one element per matrix, with keepdim."""
    relative = largest * (rtol.unsqueeze(-1) if hasattr(rtol, "dtype") else rtol)
    return relative.maximum(atol.unsqueeze(-1)) if hasattr(atol, "dtype") else relative.clamp(min=atol)
