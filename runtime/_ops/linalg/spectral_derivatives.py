"""Derivatives of eigenvalues, singular values and their vectors, and of what is made of them: inverses of matrices
without full rank, and determinants.

The rules for eigenvectors are those of M. Giles, "Collected matrix derivative results for forward and reverse mode
algorithmic differentiation" (2008), for complex ones of C. Boeddeker et al., "On the computation of complex-valued
gradients with application to statistically optimum beamforming" (2017), and for complex singular vectors of Z. Wan and
S. Zhang, "Automatic differentiation for complex valued SVD" (2019). They divide by differences of (squared) values,
and hold where these are distinct.
"""

from __future__ import annotations

from typing import Any

from ..._dispatch.ops import ops
from ..derivatives.basic import product_of_others
from ..values import holds
from .derivatives import lu_factor_backward, solve_backward

__all__ = [
    "det_backward",
    "eig_backward",
    "eigh_backward",
    "least_squares_backward",
    "least_squares_side_backward",
    "pinv_backward",
    "slogdet_backward",
    "svd_backward",
]


def _check_phases(function: str, vectors: str, turns: Any, consequence: str = "quantity, so it is") -> None:
    """Raise unless the loss is invariant to the phase of each complex vector, which is arbitrary."""
    if not turns.numel():
        return
    depends = turns.imag.abs().max() > 1e-2
    message = (
        f"{function}_backward: The {vectors} in the complex case are specified up to multiplication by "
        f"e^{{i phi}}. The specified loss function depends on this {consequence} ill-defined."
    )
    ops.assert_values(~depends, "RuntimeError", message)


def _differences(values: Any) -> Any:
    """Return the matrix of `values[j] - values[i]`, with ones on the diagonal, to divide by."""
    identity = ops.eye(values.size(-1), dtype=values.dtype, device=values.device)
    return values.unsqueeze(-2) - values.unsqueeze(-1) + identity


def _without_diagonal(tensor: Any) -> Any:
    return tensor - tensor.diagonal(0, -2, -1).diag_embed()


# ---- eigenvalues --------------------------------------------------------------------------------------------


def eigh_backward(grad_L: Any, grad_V: Any, L: Any, V: Any) -> Any:
    """Gradient of a Hermitian matrix, for changes that leave it Hermitian."""
    if grad_V is None:
        return V * grad_L.unsqueeze(-2) @ V.mH
    turned = V.mH @ grad_V
    if turned.is_complex():
        _check_phases("linalg_eigh", "eigenvectors", turned.diagonal(0, -2, -1))
    inner = _without_diagonal(turned - turned.mH) / (2 * _differences(L))
    if grad_L is not None:
        inner = inner + grad_L.diag_embed()
    return V @ inner @ V.mH


def eig_backward(grad_L: Any, grad_V: Any, L: Any, V: Any) -> Any:
    """Gradient of any square matrix."""
    if grad_V is None:
        return ops.linalg_solve(V.mH, grad_L.unsqueeze(-1) * V.mH)
    turned = V.mH @ grad_V
    along = turned.diagonal(0, -2, -1)
    _check_phases("linalg_eig", "eigenvectors", along)
    # Each vector has length 1, so its derivative has no component along it.
    inner = turned - V.mH @ (V * along.real.unsqueeze(-2))
    inner = _without_diagonal(inner) / _differences(L).conj_physical()
    if grad_L is not None:
        inner = inner + grad_L.diag_embed()
    return ops.linalg_solve(V.mH, inner @ V.mH)


# ---- singular values ----------------------------------------------------------------------------------------


def svd_backward(grad_U: Any, grad_S: Any, grad_Vh: Any, U: Any, S: Any, Vh: Any) -> Any:
    """Gradient of the matrix; vectors of full bases that belong to no singular value have no derivative."""
    k = S.size(-1)
    U, Vh = U.narrow(-1, 0, k), Vh.narrow(-2, 0, k)
    if grad_U is None and grad_Vh is None:
        return U * grad_S.unsqueeze(-2) @ Vh
    rows, columns, inverse = S.unsqueeze(-1), S.unsqueeze(-2), S.reciprocal()
    differences = _differences(S * S)
    grad_S = ops.zeros_like(S) if grad_S is None else grad_S
    left = right = U.new_zeros((*S.shape, k))
    if grad_U is not None:
        grad_U = grad_U.narrow(-1, 0, k)
        left = U.mH @ grad_U
    if grad_Vh is not None:
        grad_V = grad_Vh.narrow(-2, 0, k).mH
        right = Vh @ grad_V
    diagonal = grad_S
    if U.is_complex():
        both = (left + right).diagonal(0, -2, -1)
        _check_phases("svd", "singular vectors", both, "phase term, making it")
        # The phases of a pair of singular vectors change in opposite directions.
        turns = left.diagonal(0, -2, -1).imag * inverse
        diagonal = ops.complex(grad_S, turns)
    inner = (left - left.mH) / differences * columns + rows * ((right - right.mH) / differences)
    total = U @ (_without_diagonal(inner) + diagonal.diag_embed()) @ Vh
    if grad_U is not None and U.size(-2) > k:
        outside = grad_U * inverse.unsqueeze(-2)
        total = total + (outside - U @ (U.mH @ outside)) @ Vh
    if grad_Vh is not None and Vh.size(-1) > k:
        outside = grad_V * inverse.unsqueeze(-2)
        total = total + U @ (outside - Vh.mH @ (Vh @ outside)).mH
    return total


# ---- inverses of matrices without full rank -----------------------------------------------------------------


def pinv_backward(grad: Any, inverse: Any, A: Any) -> Any:
    """Gradient of A where its rank does not change.

    G. Golub and V. Pereyra, "The differentiation of pseudo-inverses and nonlinear least squares problems whose
    variables separate" (1973).
    """
    grad_h, inverse_h = grad.mH, inverse.mH
    columns, rows = grad_h @ inverse, inverse @ grad_h
    total = -(inverse_h @ grad @ inverse_h)
    total = total + (columns - A @ (inverse @ columns)) @ inverse_h
    return total + inverse_h @ (rows - (rows @ inverse) @ A)


def least_squares_backward(grad: Any, grad_residuals: Any, A: Any, B: Any, X: Any) -> Any:
    """Gradient of the matrix: the solution is the pseudoinverse times the right side, whichever driver found it."""
    total = None
    if grad is not None:
        total = pinv_backward(grad @ B.mH, ops.linalg_pinv(A), A)
    if grad_residuals is not None and grad_residuals.numel():
        gradient = 2 * grad_residuals.unsqueeze(-2) * (A @ X - B) @ X.mH
        total = gradient if total is None else total + gradient
    return total


def least_squares_side_backward(grad: Any, grad_residuals: Any, A: Any, B: Any, X: Any) -> Any:
    """Gradient of the right side."""
    total = None
    if grad is not None:
        total = ops.linalg_pinv(A).mH @ grad
    if grad_residuals is not None and grad_residuals.numel():
        gradient = 2 * grad_residuals.unsqueeze(-2) * (B - A @ X)
        total = gradient if total is None else total + gradient
    return total


# ---- determinants -------------------------------------------------------------------------------------------


def det_backward(grad: Any, grad_LU: Any, A: Any, det: Any, LU: Any, pivots: Any) -> Any:
    """Return the cofactors. Those of singular matrices are computed from the products of the other singular values."""
    total = None if grad_LU is None else lu_factor_backward(grad_LU, LU, pivots)
    if grad is None:
        return total
    if holds((det == 0).any(), False):
        U, S, Vh = ops.linalg_svd(A)
        turns = grad * (ops.linalg_det(U) * ops.linalg_det(Vh)).conj_physical()
        gradient = U * (turns.unsqueeze(-1) * product_of_others(S, -1)).unsqueeze(-2) @ Vh
    else:
        gradient = _scaled_inverse(grad * det.conj_physical(), LU, pivots)
    return gradient if total is None else total + gradient


def slogdet_backward(grad_sign: Any, grad: Any, grad_LU: Any, sign: Any, LU: Any, pivots: Any) -> Any:
    """Gradient of A. The sign of a real determinant is constant; a complex one turns with the imaginary part."""
    total = None if grad_LU is None else lu_factor_backward(grad_LU, LU, pivots)
    factor = None if grad is None else grad.to(LU.dtype)
    if grad_sign is not None and LU.is_complex():
        turn = (grad_sign.conj_physical() * sign).imag * -1j
        factor = turn if factor is None else factor + turn
    if factor is None:
        return total
    gradient = _scaled_inverse(factor, LU, pivots)
    return gradient if total is None else total + gradient


def _scaled_inverse(factor: Any, LU: Any, pivots: Any) -> Any:
    """Return the conjugate transposed inverses, each times its factor."""
    return solve_backward(factor.unsqueeze(-1).expand(LU.shape[:-1]).diag_embed(), LU, pivots, 0)
