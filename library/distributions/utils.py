"""Common parts of distributions: parameters of one shape, probabilities and their logits, standard draws."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from .. import _operators as ops
from .._autograd.grad_mode import enable_grad
from .._base.dtypes import EXPORTS, get_default_dtype
from .._base.finfo import finfo
from .._base.types import Size
from .._tensor.construct import tensor
from .._tensor.tensor import Tensor

__all__ = [
    "broadcast_all", "clamp_probs", "lazy_property", "logits_to_probs", "probs_to_logits",
    "tril_matrix_to_vec", "vec_to_tril_matrix",
]  # fmt: skip

euler_constant = 0.57721566490153286060


def broadcast_all(*values: Any) -> tuple[Any, ...]:
    """Return numbers and tensors as tensors of the shape to which all broadcast.

    Raises:
        ValueError: one is neither.
    """
    if not all(isinstance(each, (Tensor, int, float)) for each in values):
        raise ValueError("Input arguments must all be instances of Number, opweave.Tensor")
    tensors = [each for each in values if isinstance(each, Tensor)]
    dtype = tensors[0].dtype if tensors else get_default_dtype()
    made = [each if isinstance(each, Tensor) else tensor(each, dtype=dtype) for each in values]
    return tuple(ops.broadcast_tensors(made))


def shape_of(*values: Any) -> tuple[tuple[Any, ...], Size]:
    """The values as by `broadcast_all`, and their shape; that of numbers alone is ()."""
    tensors = broadcast_all(*values)
    return tensors, tensors[0].shape


def _sum_rightmost(value: Any, dim: int) -> Any:
    """Return the sums over the last `dim` dimensions."""
    return value if dim == 0 else value.reshape((*value.shape[: value.dim() - dim], -1)).sum(-1)


def clamp_probs(probs: Any) -> Any:
    """Return probabilities that are neither 0 nor 1."""
    eps = finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def logits_to_probs(logits: Any, is_binary: bool = False) -> Any:
    """Return probabilities, of two classes or of those along the last dimension."""
    return logits.sigmoid() if is_binary else logits.softmax(-1)


def probs_to_logits(probs: Any, is_binary: bool = False) -> Any:
    """Return logits of probabilities."""
    clamped = clamp_probs(probs)
    return clamped.log() - (-clamped).log1p() if is_binary else clamped.log()


def tril_matrix_to_vec(mat: Any, diag: int = 0) -> Any:
    """Return what is up to a diagonal of matrices (*, n, n), row by row. Raises ValueError if there is no such one."""
    n = mat.shape[-1]
    if not -n <= diag < n:
        raise ValueError(f"diag ({diag}) provided is outside [{-n}, {n - 1}].")
    row, column = ops.tril_indices(n, n, diag)
    return mat[..., row, column]


def vec_to_tril_matrix(vec: Any, diag: int = 0) -> Any:
    """Return matrices that have the numbers up to a diagonal, row by row, and zeros. Raises ValueError if there are no
    matrices of so many.
    """
    count, shift = vec.shape[-1], 1 + 2 * diag
    exact = (math.sqrt(shift**2 + 8 * count + 4 * abs(diag) * (diag + 1)) - shift) / 2
    n = round(exact)
    if n - exact > finfo(vec.dtype).eps:
        raise ValueError(
            f"The size of last dimension is {count} which cannot be expressed as the lower triangular part of a square "
            "D x D matrix."
        )
    row, column = ops.tril_indices(n, n, diag)
    mat = vec.new_zeros((*vec.shape[:-1], n, n))
    mat[..., row, column] = vec
    return mat


class lazy_property:  # noqa: N801 (PyTorch's name)
    """Decorator: an attribute that is computed when it is first read, and then stays."""

    def __init__(self, wrapped: Callable[[Any], Any]) -> None:
        self.wrapped, self.__doc__ = wrapped, wrapped.__doc__

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        with enable_grad():
            value = self.wrapped(instance)
        setattr(instance, self.wrapped.__name__, value)
        return value


def _standard_normal(shape: Any, dtype: Any, device: Any = None) -> Any:
    """Draws of the standard normal distribution."""
    zeros = ops.zeros(shape, dtype=dtype, device=device)
    return ops.normal(zeros, ops.ones_like(zeros))


def uniform_inside(shape: Any, dtype: Any) -> Any:
    """Draws between 0 and 1 that are not 0."""
    return ops.rand(shape, dtype=dtype).clamp(min=finfo(dtype).tiny)


def integers(value: Any) -> Any:
    """The value as int64."""
    return value.to(EXPORTS["int64"])
