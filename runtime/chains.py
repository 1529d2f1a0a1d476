"""Products of many matrices, for the composite `chain_matmul`, and what products of vectors check."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from typing import Any

__all__ = ["chained", "check_vectors"]


def check_vectors(function: str, **tensors: Any) -> None:
    for name, tensor in tensors.items():
        if tensor.ndim != 1:
            raise RuntimeError(f"{function}: Expected 1-D argument {name}, but got {tensor.ndim}-D")


def chained(matrices: Sequence[Any]) -> Any:
    """The product of matrices, multiplied in the order that takes the fewest multiplications of numbers."""
    if not matrices:
        raise RuntimeError("chain_matmul(): Expected one or more matrices")
    for matrix in matrices:
        if matrix.ndim != 2:
            raise RuntimeError(f"Tensor dimension is {matrix.ndim}, expected 2 instead.")
    for place, (left, right) in enumerate(itertools.pairwise(matrices)):
        if left.dtype is not right.dtype:
            first, second = matrices[0].dtype.scalar_name.lower(), right.dtype.scalar_name.lower()
            raise RuntimeError(
                f"multi_dot(): all tensors must have be the same dtype but tensor 0 is {first} and tensor {place + 1} "
                f"{second}"
            )
        if left.size(1) != right.size(0):
            raise RuntimeError(
                f"multi_dot(): tensors {place} and {place + 1} with shapes {list(left.shape)} and {list(right.shape)} "
                "cannot be multiplied"
            )
    sizes = [matrices[0].size(0), *(matrix.size(1) for matrix in matrices)]

    @functools.cache
    def best(first: int, last: int) -> tuple[int, int]:
        """The least work for the matrices from `first` to `last`, and where they are divided."""
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
