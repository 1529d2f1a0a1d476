"""Derivatives of linear equations and of triangular and orthogonal factorizations.

The rules are those of M. Giles, "Collected matrix derivative results for forward and reverse mode algorithmic
differentiation" (2008), and of the sources that the functions name, written for complex numbers: a transposed matrix of
a rule is the conjugate transposed here. The functions return the gradient by torch's convention, that of the conjugate
derivative.
"""

from __future__ import annotations

from typing import Any

from ..._dispatch.ops import ops

__all__ = [
    "cholesky_backward",
    "cholesky_inverse_backward",
    "cholesky_solve_backward",
    "inverse_backward",
    "lu_backward",
    "lu_factor_backward",
    "lu_solve_backward",
    "matrix_of_equation_backward",
    "product_of_reflections_backward",
    "qr_backward",
    "reflections_backward",
    "solve_backward",
    "triangle_backward",
    "triangular_solve_backward",
]


def _solve_triangle(A: Any, B: Any, upper: bool, unitriangular: bool = False) -> Any:
    return ops.lapack_trsm(A, B, upper, unitriangular)


def _divide_triangle(B: Any, A: Any) -> Any:
    """Return `B` times the inverse of the conjugate transposed of an upper triangle."""
    return _solve_triangle(A, B.mH, True).mH


def inverse_backward(grad: Any, inverse: Any) -> Any:
    """Return the gradient by a matrix, given that of its inverse."""
    return -(inverse.mH @ grad @ inverse.mH)


# ---- equations ----------------------------------------------------------------------------------------------


def solve_backward(grad: Any, LU: Any, pivots: Any, trans: int) -> Any:
    """Gradient of the right side: the solution with the conjugate transposed matrix."""
    if trans == 1:
        return ops.lapack_getrs(LU, pivots, grad.conj_physical(), 0).conj_physical()
    return ops.lapack_getrs(LU, pivots, grad, 0 if trans else 2)


def matrix_of_equation_backward(side: Any, X: Any, trans: int) -> Any:
    """Gradient of the matrix or of its (conjugate) transposed, from that of the right side and the solution."""
    if trans == 0:
        return -(side @ X.mH)
    return -(X @ side.mH) if trans == 2 else -(X.conj_physical() @ side.mT)


def triangle_backward(side: Any, X: Any, upper: bool, unitriangular: bool) -> Any:
    """Gradient of a triangular matrix, zero in the other triangle."""
    gradient = -(side @ X.mH)
    return gradient.triu(int(unitriangular)) if upper else gradient.tril(-int(unitriangular))


def triangular_solve_backward(grad: Any, A: Any, upper: bool, unitriangular: bool) -> Any:
    """Gradient of the right side."""
    return _solve_triangle(A.mH, grad, not upper, unitriangular)


# ---- LU -----------------------------------------------------------------------------------------------------


def _order(LU: Any, pivots: Any, like: Any) -> Any:
    """Return for each row of the factors its index in the matrix, repeated for each column of `like`."""
    return ops.lapack_laswp(LU.detach(), pivots).unsqueeze(-1).expand(like.shape)


def lu_factor_backward(grad: Any, LU: Any, pivots: Any) -> Any:
    """Gradient of the factorized matrix.

    For the square parts of `P A = L U`, `inv(L) P dA inv(U)` consists of `inv(L) dL` below the diagonal and of `dU
    inv(U)` on and above it. The rows below or the columns beside them follow.
    """
    m, n = LU.shape[-2:]
    k = min(m, n)
    square, above = LU.narrow(-2, 0, k).narrow(-1, 0, k), grad.narrow(-2, 0, k)
    below, right = LU.narrow(-2, k, m - k).narrow(-1, 0, k), LU.narrow(-2, 0, k).narrow(-1, k, n - k)
    by_below, by_right = grad.narrow(-2, k, m - k).narrow(-1, 0, k), above.narrow(-1, k, n - k)
    by_lower, by_upper = above.narrow(-1, 0, k).tril(-1), above.narrow(-1, 0, k).triu()
    to_lower = square.tril(-1).mH @ by_lower + by_lower - by_right @ right.mH
    to_upper = by_upper @ square.triu().mH - below.mH @ by_below
    rows = _solve_triangle(square.mH, to_lower.tril(-1) + to_upper.triu(), True, True)
    if m > n:
        rows = ops.cat([rows, by_below], -2)
    rows = _divide_triangle(rows, square)
    if n > m:
        rows = ops.cat([rows, _solve_triangle(square.mH, by_right, True, True)], -1)
    return ops.zeros_like(rows).scatter(-2, _order(LU, pivots, rows), rows)


def lu_solve_backward(side: Any, LU: Any, pivots: Any, X: Any, trans: int) -> Any:
    """Gradient of the factors, from the gradient of the right side."""
    by_matrix = matrix_of_equation_backward(side, X, trans)
    rows = by_matrix.gather(-2, _order(LU, pivots, by_matrix))
    return (rows @ LU.triu().mH).tril(-1) + (LU.tril(-1).mH @ rows + rows).triu()


def lu_backward(side: Any, grad_LU: Any, LU: Any, pivots: Any, X: Any, trans: int) -> Any:
    """Gradient of the matrix of an equation that returns its solution and its factors, from the gradient of the right
    side.
    """
    total = None if grad_LU is None else lu_factor_backward(grad_LU, LU, pivots)
    if side is not None:
        gradient = matrix_of_equation_backward(side, X, trans)
        total = gradient if total is None else total + gradient
    return total


# ---- Cholesky -----------------------------------------------------------------------------------------------


def cholesky_backward(grad: Any, L: Any, upper: bool) -> Any:
    """Gradient of the matrix, as a Hermitian one although only one triangle is read.

    I. Murray, "Differentiation of the Cholesky decomposition" (2016).
    """
    if upper:
        grad, L = grad.mH, L.mH
    lower = (L.mH @ grad).tril()
    return _divide_triangle(_solve_triangle(L.mH, lower + lower.tril(-1).mH, True), L.mH) / 2


def cholesky_solve_backward(side: Any, X: Any, factor: Any, upper: bool) -> Any:
    """Gradient of the Cholesky factor, from the gradient of the right side."""
    return _product_backward(-(side @ X.mH), factor, upper)


def cholesky_inverse_backward(grad: Any, inverse: Any, factor: Any, upper: bool) -> Any:
    """Gradient of the Cholesky factor."""
    return _product_backward(-(inverse @ grad @ inverse), factor, upper)


def _product_backward(grad: Any, factor: Any, upper: bool) -> Any:
    """Gradient of the factor L of `L L^H`, or U of `U^H U`: of a triangular matrix by all elements of a square one, as
    torch has it, although one triangle is not read.
    """
    both = grad + grad.mH
    return factor.triu() @ both if upper else both @ factor.tril()


# ---- QR -----------------------------------------------------------------------------------------------------


def qr_backward(grad_Q: Any, grad_R: Any, Q: Any, R: Any, mode: str) -> Any:
    """Raises RuntimeError where Q is not there or has more columns than the matrix.

    D. Roberts and L. Roberts, "QR and LQ decomposition matrix backpropagation algorithms for square, wide, and deep
    matrices" (2020): of a wide matrix the columns on the right are `Q V`, those on the left are `Q U`.
    """
    if mode == "r":
        raise RuntimeError(
            "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please use linalg.qr(A, "
            "mode='reduced') if you are going to differentiate through linalg.qr."
        )
    m, n = Q.size(-2), R.size(-1)
    if mode == "complete" and m > n:
        raise RuntimeError("The QR decomposition is not differentiable when mode='complete' and nrows > ncols.")
    grad_Q = ops.zeros_like(Q) if grad_Q is None else grad_Q
    grad_R = ops.zeros_like(R) if grad_R is None else grad_R
    if m >= n:
        return _tall_qr_backward(grad_Q, grad_R, Q, R)
    V, grad_V = R.narrow(-1, m, n - m), grad_R.narrow(-1, m, n - m)
    grad_Q = grad_Q + Q @ V @ grad_V.mH
    left = _tall_qr_backward(grad_Q, grad_R.narrow(-1, 0, m), Q, R.narrow(-1, 0, m))
    return ops.cat([left, Q @ grad_V], -1)


def _tall_qr_backward(grad_Q: Any, grad_R: Any, Q: Any, R: Any) -> Any:
    upper = (grad_R @ R.mH - Q.mH @ grad_Q).triu()
    upper = upper - upper.diagonal(0, -2, -1).diag_embed() / 2
    return _divide_triangle(grad_Q + Q @ (upper + upper.mH), R)


# ---- Householder reflections --------------------------------------------------------------------------------


def product_of_reflections_backward(grad: Any, a: Any, tau: Any, left: bool, adjoint: bool) -> Any:
    """Gradient of the matrix that was multiplied."""
    return ops.lapack_ormqr(a, tau, grad, left, not adjoint)


def reflections_backward(grad: Any, a: Any, tau: Any, C: Any, left: bool, adjoint: bool) -> tuple[Any, Any]:
    """Gradients of the vectors and the factors of reflections, whose product Q (or `Q^H`) was multiplied with C.

    The product is `I - V T V^H`, with the vectors in V and `inv(T) = diag(1 / tau) + triu(V^H V, 1)`: C. Puglisi,
    "Modification of the Householder method based on the compact WY representation" (1992). For factors of zero T is
    `diag(tau) inv(I + S diag(tau))` here, where S is that triangle.
    """
    if not left:  # C Q is the conjugate transposed of Q^H C^H
        grad, C, adjoint = grad.mH, C.mH, not adjoint
    k = tau.size(-1)
    identity = ops.eye(a.size(-2), k, dtype=a.dtype, device=a.device)
    V = a.narrow(-1, 0, k).tril(-1) + identity
    S = (V.mH @ V).triu(1)
    unit = _solve_triangle(S * tau.unsqueeze(-2), identity.narrow(-2, 0, k).expand(S.shape), True, True)
    T = tau.unsqueeze(-1) * unit
    applied = T.mH if adjoint else T
    by_applied = -(V.mH @ grad) @ (V.mH @ C).mH
    by_T = by_applied.mH if adjoint else by_applied
    by_S = -(T.mH @ by_T @ T.mH).triu(1)
    by_V = -(grad @ (applied @ (V.mH @ C)).mH) - C @ (applied.mH @ (V.mH @ grad)).mH + V @ (by_S + by_S.mH)
    by_tau = (by_T @ unit.mH - S.mH @ (T.mH @ by_T @ unit.mH)).diagonal(0, -2, -1)
    by_a = by_V.tril(-1)
    if k < a.size(-1):
        by_a = ops.cat([by_a, ops.zeros_like(a.narrow(-1, k, a.size(-1) - k))], -1)
    return by_a, by_tau
