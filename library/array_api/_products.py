"""Products and what follows from them, of operands that are promoted; torch's functions want one dtype."""

from __future__ import annotations

from typing import Any

from .._base.shapes import broadcast_shapes
from .._dispatch.ops import ops
from ._derive import promoted, standard
from ._reductions import reduce_axes, sum_dtype

__all__ = ["cross", "matmul", "solve", "tensordot", "trace", "vecdot", "vector_norm"]


@standard
def matmul(x1: Any, x2: Any, /) -> Any:
    """Return the products of matrices, or of vectors."""
    x1, x2 = promoted(x1, x2)
    return ops.matmul(x1, x2)


@standard
def tensordot(x1: Any, x2: Any, /, *, axes: Any = 2) -> Any:
    """Return sums of products over pairs of axes: two sequences of them, or how many last and first ones."""
    x1, x2 = promoted(x1, x2)
    return ops.tensordot(x1, x2, axes if isinstance(axes, int) else [list(each) for each in axes])


@standard
def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """Return the products of vectors along an axis, of which the first ones are conjugated."""
    x1, x2 = promoted(x1, x2)
    if x1.shape[axis] != x2.shape[axis]:
        raise ValueError(f"vectors of {x1.shape[axis]} and {x2.shape[axis]} elements have no product")
    if x1.dtype.is_integer:
        return ops.sum(ops.mul(x1, x2), axis, dtype=x1.dtype)
    return ops.linalg_vecdot(x1, x2, dim=axis)


@standard
def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """Return the cross products of vectors of three elements along an axis."""
    x1, x2 = promoted(x1, x2)
    return ops.linalg_cross(x1, x2, dim=axis)


@standard
def solve(x1: Any, x2: Any, /) -> Any:
    """Return the solutions of systems of equations: x2 is one right-hand side, or matrices of them."""
    x1, x2 = promoted(x1, x2)
    if x2.ndim == 1:
        return ops.squeeze(ops.linalg_solve(x1, ops.unsqueeze(x2, -1)), -1)
    # torch's rule takes x2 for a batch of vectors where it has one dimension less than x1.
    batch = broadcast_shapes(x1.shape[:-2], x2.shape[:-2])
    return ops.linalg_solve(*[ops.broadcast_to(each, (*batch, *each.shape[-2:])) for each in (x1, x2)])


@standard
def trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Any:
    """Return the sums along the diagonals of matrices, integers as the widest of their kind."""
    return ops.sum(ops.linalg_diagonal(x, offset=offset), -1, dtype=sum_dtype(x, dtype))


@standard
def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: float = 2) -> Any:
    """Return the norms of the elements along the axes."""
    return reduce_axes(ops.linalg_vector_norm, x, axis, keepdims, ord=ord)
