"""Derivatives of operators that split a tensor: the gradients of the parts together, zeros where a part has none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..._base.shapes import wrap_dim
from ..._dispatch.ops import ops
from ..splitting import even_parts

__all__ = ["join_parts", "stack_parts"]


def stack_parts(grads: Sequence[Any], dim: int) -> Any:
    """Return the gradients of all positions along `dim` in a tensor with that dimension."""
    there = next(grad for grad in grads if grad is not None)
    nothing = ops.zeros_like(there)
    return ops.stack([nothing if grad is None else grad for grad in grads], dim)


def join_parts(grads: Sequence[Any], shape: Sequence[int], dim: int, sizes: Any) -> Any:
    """Return the gradients of parts along `dim`, of the given sizes or all of one size, one after the other."""
    if hasattr(sizes, "__index__"):
        sizes = [size for _, size in even_parts(sizes, shape, dim)]
    there = next(grad for grad in grads if grad is not None)
    dim = wrap_dim(dim, len(shape))
    before, after = shape[:dim], shape[dim + 1 :]
    parts = [
        there.new_zeros((*before, size, *after)) if grad is None else grad
        for grad, size in zip(grads, sizes, strict=True)
    ]
    return ops.cat(parts, dim)
