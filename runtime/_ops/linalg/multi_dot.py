"""Products of many matrices, for the composites `chain_matmul` and `linalg.multi_dot`, and checks of vectors."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from typing import Any

__all__ = ["chained", "check_vectors", "multiplied"]


def check_vectors(function: str, **tensors: Any) -> None:
    """Raise RuntimeError unless each tensor has one dimension."""
    for name, tensor in tensors.items():
        if tensor.ndim != 1:
            raise RuntimeError(f"{function}: Expected 1-D argument {name}, but got {tensor.ndim}-D")


def chained(matrices: Sequence[Any]) -> Any:
    """Multiply matrices in the order that takes the fewest multiplications of numbers."""
    if not matrices:
        raise RuntimeError("chain_matmul(): Expected one or more matrices")
    for matrix in matrices:
        if matrix.ndim != 2:
            raise RuntimeError(f"Tensor dimension is {matrix.ndim}, expected 2 instead.")
    if len(matrices) == 1:
        return matrices[0].clone()
    return _product(matrices, matrices)


def multiplied(tensors: Sequence[Any]) -> Any:
    """Multiply as `chained` does; the first tensor may be a row vector and the last one a column vector."""
    count = len(tensors)
    if count < 2:
        raise RuntimeError(f"multi_dot(): expected at least 2 tensors but got {count}")
    for what, tensor in (("first", tensors[0]), ("last", tensors[-1])):
        if tensor.ndim not in (1, 2):
            raise RuntimeError(f"multi_dot(): the {what} tensor must be 1D or 2D but got {tensor.ndim}D")
    for index, tensor in enumerate(tensors[1:-1], 1):
        if tensor.ndim != 2:
            raise RuntimeError(f"multi_dot(): tensor {index} must be 2D but got {tensor.ndim}D")
    matrices = list(tensors)
    if tensors[0].ndim == 1:
        matrices[0] = tensors[0].unsqueeze(0)
    if tensors[-1].ndim == 1:
        matrices[-1] = tensors[-1].unsqueeze(-1)
    product = _product(tensors, matrices)
    if tensors[-1].ndim == 1:
        product = product.squeeze(-1)
    return product.squeeze(0) if tensors[0].ndim == 1 else product


def _product(tensors: Sequence[Any], matrices: Sequence[Any]) -> Any:
    """Multiply the matrices that the tensors stand for; messages are about the tensors."""
    for index, (left, right) in enumerate(itertools.pairwise(matrices)):
        if left.dtype is not right.dtype:
            first, second = matrices[0].dtype.scalar_name.lower(), right.dtype.scalar_name.lower()
            raise RuntimeError(
                f"multi_dot(): all tensors must have be the same dtype but tensor 0 is {first} and tensor {index + 1} "
                f"{second}"
            )
        if left.size(1) != right.size(0):
            shapes = f"{list(tensors[index].shape)} and {list(tensors[index + 1].shape)}"
            raise RuntimeError(
                f"multi_dot(): tensors {index} and {index + 1} with shapes {shapes} cannot be multiplied"
            )
    sizes = [matrices[0].size(0), *(matrix.size(1) for matrix in matrices)]

    @functools.cache
    def best(first: int, last: int) -> tuple[int, int]:
        """Return the cost of multiplying the matrices from `first` to `last`, and where to divide them."""
        if first == last:
            return 0, first
        outer = sizes[first] * sizes[last + 1]
        return min((best(first, k)[0] + best(k + 1, last)[0] + outer * sizes[k + 1], k) for k in range(first, last))

    def product(first: int, last: int) -> Any:
        if first == last:
            return matrices[first]
        middle = best(first, last)[1]
        return product(first, middle).mm(product(middle + 1, last))

    return product(0, len(matrices) - 1)
