"""Decompositions of matrices of low rank by products with random vectors (Halko, Martinsson and Tropp, 2009)."""

from __future__ import annotations

from typing import Any

from .. import _linalg as linalg
from .. import _operators as ops
from .._base.dtypes import EXPORTS, dtype
from .._base.tensor_class import Tensor

__all__ = ["floating_dtype", "pca_lowrank", "product", "svd_lowrank"]
_PACKAGE_NAMES = ["pca_lowrank", "svd_lowrank"]


def svd_lowrank(
    A: Tensor, q: int | None = 6, niter: int | None = 2, M: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """The largest singular values of a matrix and their vectors, `A ≈ U diag(S) V.mH`, by a method that draws numbers.

    Args:
        A: shape (*, m, n), floating or complex; a sparse matrix has shape (m, n).
        q (int or None): how many there are, 6 for None: somewhat more than the rank of `A`.
        niter (int or None): how often products refine the result, 2 for None.
        M: what is subtracted from `A`, of a shape that broadcasts to that of `A`.

    Returns shapes (*, m, k), (*, k) and (*, n, k), where k is the least of q, m and n; dtype of `A`, real for `S`.

    Raises:
        ValueError: `A` has fewer than two dimensions.
        RuntimeError: `A` is of integers, or `M` does not fit.
    """
    q, niter = 6 if q is None else q, 2 if niter is None else niter
    rows, columns = A.shape[-2:]
    M = None if M is None else M.broadcast_to(A.size())
    is_wide = rows < columns
    if is_wide:
        A, M = A.mH, None if M is None else M.mH
    Q = _basis_of_range(A, q, niter, M)
    U, S, Vh = linalg.svd(_difference(Q.mH, A, M), full_matrices=False)
    U, V = Q.matmul(U), Vh.mH
    return (V, S, U) if is_wide else (U, S, V)


def _basis_of_range(A: Tensor, q: int, niter: int, M: Tensor | None) -> Tensor:
    """A matrix of q orthonormal columns that span nearly what the columns of `A - M` span."""
    drawn = A.dtype if A.is_complex() else floating_dtype(A)
    R = ops.randn(A.shape[-1], q, dtype=drawn, device=A.device)
    Q = linalg.qr(_times(A, M, R)).Q
    for _ in range(niter):
        Q = linalg.qr(_times(A.mH, None if M is None else M.mH, Q)).Q
        Q = linalg.qr(_times(A, M, Q)).Q
    return Q


def _times(A: Tensor, M: Tensor | None, X: Tensor) -> Tensor:
    """The product of `A - M` and a matrix, without the difference, which need not be sparse where `A` is."""
    return product(A, X) if M is None else product(A, X) - product(M, X)


def _difference(Q: Tensor, A: Tensor, M: Tensor | None) -> Tensor:
    return product(Q, A) if M is None else product(Q, A) - product(Q, M)


def product(A: Tensor | None, X: Tensor) -> Tensor:
    """The product of matrices, the first of which may be sparse; None stands for the identity."""
    if A is None:
        return X
    return ops.mm(A, X) if A.is_sparse else ops.matmul(A, X)


def floating_dtype(A: Tensor) -> dtype:
    """The dtype of numbers that are drawn to be multiplied by a matrix."""
    real = (EXPORTS["float16"], EXPORTS["float32"], EXPORTS["float64"])
    return A.dtype if A.dtype in real else EXPORTS["float32"]


def pca_lowrank(A: Tensor, q: int | None = None, center: bool = True, niter: int = 2) -> tuple[Tensor, Tensor, Tensor]:
    """The principal components of rows of numbers, by a method that draws numbers: `svd_lowrank` of the rows without
    their mean. Columns of `V` are the principal directions, `S ** 2 / (m - 1)` the variances along them.

    Args:
        A: shape (*, m, n), floating or complex; a sparse matrix has shape (m, n).
        q (int or None): how many there are, the least of 6, m and n for None.
        center (bool): whether the mean of the rows is subtracted.
        niter (int): how often products refine the result.

    Returns shapes (*, m, q), (*, q) and (*, n, q); dtype of `A`, real for `S`.

    Raises:
        ValueError: `A` has fewer than two dimensions, `q` is negative or greater than m or n, or `niter` is negative.
        RuntimeError: `A` is of integers.
    """
    rows, columns = A.shape[-2:]
    least = min(rows, columns)
    if q is None:
        q = min(6, least)
    elif not 0 <= q <= least:
        raise ValueError(f"q(={q}) must be non-negative integer and not greater than min(m, n)={least}")
    if niter < 0:
        raise ValueError(f"niter(={niter}) must be non-negative integer")
    if not center:
        return svd_lowrank(A, q, niter)
    if A.is_sparse:
        ones: Any = ops.ones(1, rows, dtype=floating_dtype(A), device=A.device)
        mean = product(A.mT, ones.mT).mT / rows
        return svd_lowrank(A, q, niter, mean)
    return svd_lowrank(A - A.mean(dim=-2, keepdim=True), q, niter)
