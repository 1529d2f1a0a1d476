"""Parts of factorizations, for the composites of `linalg` and their older relatives; messages are torch's."""

from __future__ import annotations

from typing import Any

from ..._base.types import contiguous_format
from ...return_types import named_results
from .checks import (
    batches_of_one_shape,
    check_floating,
    check_kernel,
    check_matrix,
    check_same_dtype,
    check_solvable,
    default_tolerance,
    is_vector_side,
)

__all__ = [
    "check_equation",
    "check_multiplied_reflections",
    "check_pair",
    "check_pivots",
    "check_reflections",
    "column_major",
    "driver_number",
    "least_squares",
    "lower_factor",
    "lu_with_info",
    "one_code",
    "permutation_matrix",
    "upper_factor",
    "with_rows",
]

lu_with_info = named_results("_lu_with_info", ("LU", "pivots", "info"))

DRIVERS = ("gels", "gelsy", "gelsd", "gelss")
"""LAPACK's routines for least squares, in the order in which the core numbers them."""


def column_major(tensor: Any) -> Any:
    """Return a copy whose matrices are stored column by column."""
    return tensor.mT.clone(memory_format=contiguous_format).mT


# ---- LU -----------------------------------------------------------------------------------------------------


def check_pivots(function: str, LU: Any, pivots: Any) -> None:
    """Raise unless there are as many pivots as a factorization of the matrices has."""
    check_matrix(function, LU, "LU")
    expected = (*LU.shape[:-2], min(LU.shape[-2:]))
    if tuple(pivots.shape) != expected:
        raise RuntimeError(
            f"{function}: Expected pivots of shape {list(expected)} for LU of shape {list(LU.shape)}, "
            f"but got pivots of shape {list(pivots.shape)}"
        )


def permutation_matrix(LU: Any, rows: Any) -> Any:
    """Return the matrix P that undoes the row exchanges, so that A = P L U."""
    m = LU.size(-2)
    return LU.new_zeros((*LU.shape[:-2], m, m)).scatter_(-2, rows.unsqueeze(-2), 1)


def lower_factor(LU: Any) -> Any:
    """Return the lower triangle with ones on the diagonal."""
    m, n = LU.shape[-2:]
    lower = LU.narrow(-1, 0, min(m, n)).tril(-1).contiguous()
    lower.diagonal(0, -2, -1).fill_(1)
    return lower


def upper_factor(LU: Any) -> Any:
    """Return the upper triangular factor of a compact LU factorization."""
    m, n = LU.shape[-2:]
    return LU.narrow(-2, 0, min(m, n)).triu().contiguous()


# ---- equations ----------------------------------------------------------------------------------------------


def check_pair(function: str, A: Any, B: Any) -> None:
    """Raise what torch's older solvers raise for their arguments."""
    if A.dtype is not B.dtype:
        raise RuntimeError(
            f"Expected b and A to have the same dtype, but found b of type {B.dtype.scalar_name} and A of type "
            f"{A.dtype.scalar_name} instead."
        )
    (m, n), (rows, columns) = (A.size(-2), A.size(-1)), (B.size(-2), B.size(-1))
    if m != n:
        raise RuntimeError(f"A must be batches of square matrices, but they are {m} by {n} matrices")
    if n != rows:
        raise RuntimeError(
            f"Incompatible matrix sizes for {function}: each A matrix is {n} by {n} but each b matrix is {rows} by "
            f"{columns}"
        )


def check_equation(A: Any, B: Any, left: bool) -> None:
    """Raise what `linalg.solve` raises for its arguments; B is a matrix here."""
    check_floating("linalg.solve", A)
    check_same_dtype("linalg.solve", A, B)
    check_solvable("linalg.solve", A, B, left)
    check_kernel("lu_cpu", A)


def one_code(info: Any) -> Any:
    """Return the `info` code as a scalar when A was a single matrix broadcast over B's batch."""
    return info.flatten().narrow(0, 0, 1).squeeze(0) if info.numel() else info.new_zeros(())


def driver_number(name: str) -> int:
    """Return the number by which the core knows a routine for least squares."""
    return DRIVERS.index(name)


def least_squares(A: Any, B: Any, rcond: float | None, driver: str | None) -> tuple[Any, Any, str, float]:
    """Return matrices and right sides in batches of one shape, the name of the driver, and the rank's tolerance."""
    function = "torch.linalg.lstsq"
    if A.ndim < 2:
        raise RuntimeError(f"{function}: input must have at least 2 dimensions.")
    if B.ndim < 1:
        raise RuntimeError(f"{function}: other must have at least 1 dimension.")
    if A.dtype is not B.dtype:
        raise RuntimeError(
            f"{function}: Expected input and other to have the same dtype, but got input's dtype {A.dtype.scalar_name} "
            f"and other's dtype {B.dtype.scalar_name}"
        )
    if not 0 <= A.ndim - B.ndim <= 1:
        raise RuntimeError(
            f"{function}: input.dim() must be greater or equal to other.dim() and (input.dim() - other.dim()) <= 1"
        )
    vector = is_vector_side(A, B)
    side = B.unsqueeze(-1) if vector else B
    if A.size(-2) != side.size(-2):
        raise RuntimeError(f"{function}: input.size(-2) should match other.size({-1 if vector else -2})")
    if driver is not None and driver.lower() not in DRIVERS:
        raise RuntimeError(f"{function}: parameter `driver` should be one of ({', '.join(DRIVERS)})")
    limit = default_tolerance(A) if rcond is None else rcond
    check_kernel("linalg_lstsq_cpu", A)
    side, A = batches_of_one_shape(side, A)
    return A, side, driver.lower() if driver else "gelsy", limit


def with_rows(tensor: Any, count: int) -> Any:
    """Append rows of zeros up to `count` rows."""
    rows = tensor.size(-2)
    if rows >= count:
        return tensor
    result = tensor.new_zeros((*tensor.shape[:-2], count, tensor.size(-1)))
    result.narrow(-2, 0, rows).copy_(tensor)
    return result


# ---- Householder reflections --------------------------------------------------------------------------------


def check_reflections(function: str, reflections: Any, tau: Any) -> None:
    """Check Householder vectors and their factors. Raises RuntimeError for shapes that do not fit."""
    if reflections.ndim < 2:
        raise RuntimeError(f"{function}: input must have at least 2 dimensions.")
    if reflections.size(-2) < reflections.size(-1):
        raise RuntimeError(f"{function}: input.shape[-2] must be greater than or equal to input.shape[-1]")
    if reflections.size(-1) < tau.size(-1):
        raise RuntimeError(f"{function}: input.shape[-1] must be greater than or equal to tau.shape[-1]")
    _check_tau(function, reflections, tau)


def _check_tau(function: str, reflections: Any, tau: Any) -> None:
    if tau.ndim != reflections.ndim - 1:
        raise RuntimeError(
            f"{function}: Expected tau to have one dimension less than input, but got tau.ndim equal to {tau.ndim} and "
            f"input.ndim is equal to {reflections.ndim}"
        )
    if tau.shape[:-1] != reflections.shape[:-2]:
        raise RuntimeError(
            f"{function}: Expected batch dimensions of tau to be equal to input.shape[:-2], but got "
            f"{list(tau.shape[:-1])}"
        )
    if tau.dtype is not reflections.dtype:
        raise RuntimeError(
            f"{function}: tau dtype {tau.dtype.scalar_name} does not match input dtype {reflections.dtype.scalar_name}"
        )


def check_multiplied_reflections(reflections: Any, tau: Any, other: Any, left: bool) -> None:
    """Check the arguments of `ormqr`. Raises RuntimeError for shapes that do not fit."""
    function, side = "torch.ormqr", -2 if left else -1
    for name, tensor in (("input", reflections), ("other", other)):
        if tensor.ndim < 2:
            raise RuntimeError(f"{function}: {name} must have at least 2 dimensions.")
    if tau.size(-1) != min(other.size(side), reflections.size(-1)):
        raise RuntimeError(f"{function}: tau.shape[-1] must be equal to min(other.shape[{side}], input.shape[-1])")
    if other.size(side) != reflections.size(-2):
        raise RuntimeError(f"{function}: other.shape[{side}] must be equal to input.shape[-2]")
    _check_tau(function, reflections, tau)
    if other.ndim != reflections.ndim:
        raise RuntimeError(
            f"{function}: Expected other to have the same number of dimensions as input, but got other.ndim equal to "
            f"{other.ndim} and input.ndim is equal to {reflections.ndim}"
        )
    if other.shape[:-2] != reflections.shape[:-2]:
        raise RuntimeError(
            f"{function}: Expected batch dimensions of other to be equal to input.shape[:-2], but got "
            f"{list(other.shape[:-2])}"
        )
    if other.dtype is not reflections.dtype:
        raise RuntimeError(
            f"{function}: Expected input and other to have the same dtype, but input has dtype"
            f"{reflections.dtype.scalar_name} and other has dtype {other.dtype.scalar_name}"
        )
