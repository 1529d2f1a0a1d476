"""Checks and failures that functions of matrices share, for the composites of `linalg`; messages are torch's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..._base.errors import LinAlgError
from ..._base.finfo import finfo
from ..._base.shapes import common_shape
from ..assertions import assert_explained

__all__ = [
    "batches_of_one_shape",
    "check_floating",
    "check_kernel",
    "check_matrix",
    "check_same_dtype",
    "check_solvable",
    "check_square",
    "default_tolerance",
    "is_inexact",
    "is_vector_side",
    "raise_failure",
]

_LAPACK = ("Float", "Double", "ComplexFloat", "ComplexDouble")
_MISMATCH = "The size of tensor a ({a}) must match the size of tensor b ({b}) at non-singleton dimension {dim}"


def is_inexact(*tensors: Any) -> bool:
    """True if any of the tensors has a floating point or complex dtype."""
    return any(each.is_floating_point() or each.is_complex() for each in tensors)


def check_matrix(function: str, tensor: Any, argument: str = "A") -> None:
    """Raise RuntimeError unless the tensor has at least two dimensions."""
    if tensor.ndim < 2:
        raise RuntimeError(f"{function}: The input tensor {argument} must have at least 2 dimensions.")


def check_square(function: str, tensor: Any, argument: str = "A") -> None:
    """Raise RuntimeError unless the last two dimensions are of one size."""
    check_matrix(function, tensor, argument)
    shape = tensor.shape
    rows, columns = shape[-2], shape[-1]
    if rows != columns:
        raise RuntimeError(
            f"{function}: {argument} must be batches of square matrices, but they are {rows} by {columns} matrices"
        )


def check_floating(function: str, tensor: Any, halves: bool = True) -> None:
    """Raise RuntimeError unless the dtype is floating or complex; without `halves` one that LAPACK knows."""
    name = tensor.dtype.scalar_name
    if not is_inexact(tensor):
        raise RuntimeError(f"{function}: Expected a floating point or complex tensor as input. Got {name}")
    if not halves and name not in _LAPACK:
        raise RuntimeError(f"{function}: Low precision dtypes not supported. Got {name}")


def check_kernel(kernel: str, tensor: Any) -> None:
    """Raise NotImplementedError for dtypes other than LAPACK's four."""
    if tensor.dtype.scalar_name not in _LAPACK:
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{tensor.dtype.scalar_name}'")


def default_tolerance(tensor: Any) -> float:
    """Return the fraction of the largest singular value below which others count as zero."""
    if tensor.dtype.scalar_name not in _LAPACK:
        raise RuntimeError("This function doesn't handle types other than float and double")
    return float(finfo(tensor.dtype).eps * max(tensor.shape[-2:]))


def check_same_dtype(function: str, left: Any, right: Any, names: Sequence[str] = ("A", "B")) -> None:
    """Raise RuntimeError unless both tensors have the same dtype."""
    if left.dtype is not right.dtype:
        first, second = names
        raise RuntimeError(
            f"{function}: Expected {first} and {second} to have the same dtype, but found {first} of type "
            f"{left.dtype.scalar_name} and {second} of type {right.dtype.scalar_name} instead"
        )


def check_solvable(function: str, A: Any, B: Any, left: bool, square: str | None = None) -> None:
    """Raise if A X = B (or X A = B) has mismatched shapes. `square` is the name of the function in the check of A."""
    check_square(square or function, A)
    check_matrix(function, B, "B")
    if A.size(-2) != B.size(-2) if left else A.size(-1) != B.size(-1):
        (m, n), (k, columns) = A.shape[-2:], B.shape[-2:]
        raise RuntimeError(
            f"{function}: Incompatible shapes of A and B for the equation {'AX = B' if left else 'XA = B'} "
            f"({m}x{n} and {k}x{columns})"
        )


def is_vector_side(A: Any, B: Any) -> bool:
    """True if B is a vector for each matrix of A rather than a matrix."""
    return bool(B.ndim == 1 or (A.ndim - 1 == B.ndim and B.shape == A.shape[:-1]))


def batches_of_one_shape(B: Any, *others: Any) -> tuple[Any, ...]:
    """Expand the batch dimensions of matrices to the shape to which they broadcast."""
    tensors = (B, *others)
    first = B.shape[:-2]
    if all(each.shape[:-2] == first for each in others):
        return tensors
    batch: list[int] = []
    for each in tensors:
        batch = common_shape(batch, each.shape[:-2], _MISMATCH)
    return tuple(each.expand((*batch, *each.shape[-2:])) for each in tensors)


# ---- failures -----------------------------------------------------------------------------------------------


_NO_CONVERGENCE = (
    "The algorithm failed to converge because the input matrix is ill-conditioned or has too many repeated {} (error "
    "code: {{info}})."
)
_FAILURES: Mapping[str, str] = {
    "inversion": "The diagonal element {info} is zero, the inversion could not be completed because the input matrix "
    "is singular.",
    "solution": "The solver failed because the input matrix is singular.",
    "cholesky": "The factorization could not be completed because the input is not positive-definite (the leading "
    "minor of order {info} is not positive-definite).",
    "eigenvalues": _NO_CONVERGENCE.format("eigenvalues"),
    "singular values": _NO_CONVERGENCE.format("singular values"),
    "least squares": "The least squares solution could not be computed because the input matrix does not have full "
    "rank (error code: {info}).",
    "lu": "U[{info},{info}] is zero and using it on lu_solve would result in a division by zero. If you still want to "
    "perform the factorization, consider calling linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)",
    "ldl": "Unknown error code: {info}.",
}
"""The meanings of positive codes of LAPACK, by the word that entries name the failure with."""
_OTHER_ERRORS: Mapping[str, type[Exception]] = {"lu": RuntimeError, "ldl": RuntimeError}
"""The exceptions that torch raises for failures where it is not LinAlgError."""
_NOT_FINITE = "The algorithm failed to converge because the input matrix contained non-finite values."


def raise_failure(function: str, kind: str, info: Any, single: bool) -> None:
    """Raise what LAPACK's codes `info` mean, for the first matrix whose code is not zero. `kind` is what failed, and
    `single` says that `info` is about one matrix rather than a batch."""
    message = f"{function}: a matrix of the batch has no result. Call it with the batch to see which one"
    error = _OTHER_ERRORS.get(kind, LinAlgError)
    assert_explained(info == 0, error.__name__, message, lambda: _failure(function, kind, info, single))


def _failure(function: str, kind: str, info: Any, single: bool) -> Exception:
    codes = info.flatten().tolist()
    index = next(index for index, code in enumerate(codes) if code)
    where = "" if single else f": (Batch element {index})"
    if codes[index] < 0:
        return LinAlgError(f"{function}{where}: {_NOT_FINITE}")
    error = _OTHER_ERRORS.get(kind, LinAlgError)
    return error(f"{function}{where}: {_FAILURES[kind].format(info=codes[index])}")
