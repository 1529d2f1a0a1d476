"""The derivative of some eigenvalues of a symmetric matrix and of their vectors, where the others are not known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import _linalg as linalg
from .. import _operators as ops
from .._base.dtypes import EXPORTS
from .._base.tensor_class import Tensor
from ..autograd.function import Function

__all__ = ["Differentiable"]


class Differentiable(Function):
    """Calls `find(A, B)`, which returns eigenvalues and eigenvectors."""

    @staticmethod
    def forward(ctx: Any, A: Tensor, B: Tensor | None, find: Callable[..., tuple[Tensor, Tensor]]) -> Any:
        """Return the eigenvalues (*, k) and eigenvectors (*, n, k) that `find` computes, and save them."""
        D, U = find(A.detach(), None if B is None else B.detach())
        ctx.save_for_backward(A, B, D, U)
        return D, U

    @staticmethod
    def backward(ctx: Any, grad_D: Tensor, grad_U: Tensor) -> Any:
        """Return the gradients by the matrices A and B. Raises ValueError for sparse ones."""
        A, B, D, U = ctx.saved_tensors
        if A.is_sparse or (B is not None and B.is_sparse and ctx.needs_input_grad[1]):
            raise ValueError("lobpcg.backward does not support sparse input yet. Note that lobpcg.forward does though.")
        if A.is_complex() or (B is not None and B.is_complex()):
            raise ValueError(
                "lobpcg.backward does not support complex input yet. Note that lobpcg.forward does though."
            )
        if B is not None:
            raise ValueError("lobpcg.backward does not support backward with B != I yet.")
        inner = _within(D, U, grad_D, grad_U)
        return ops.matmul(inner + _outside(A, D, U, grad_U), U.mT), None, None


def _within(D: Tensor, U: Tensor, grad_D: Tensor, grad_U: Tensor) -> Tensor:
    """Return the part of the gradient due to changes of the vectors within their span, and to changes of the values."""
    gaps = D.unsqueeze(-2) - D.unsqueeze(-1)
    same = ops.eye(D.shape[-1], dtype=EXPORTS["bool"], device=D.device)
    turned = (ops.matmul(U.mT, grad_U) / gaps.masked_fill(same, 1)).masked_fill(same, 0)
    return ops.matmul(U, turned + grad_D.diag_embed())


def _outside(A: Tensor, D: Tensor, U: Tensor, grad_U: Tensor) -> Tensor:
    """Return the part of the gradient due to changes of the vectors to directions outside of their span: for each
    vector a system of equations with the matrix less its value there, and with some multiple of the identity within the
    span."""
    span = ops.matmul(U, U.mT)
    rest = ops.eye(A.shape[-1], dtype=A.dtype, device=A.device) - span
    within = span * linalg.matrix_norm(A).unsqueeze(-1).unsqueeze(-1)
    target = ops.matmul(rest, grad_U)
    columns = [
        linalg.solve(value.unsqueeze(-1).unsqueeze(-1) * rest - ops.matmul(rest, ops.matmul(A, rest)) + within, column)
        for value, column in zip(D.unbind(-1), target.unbind(-1), strict=True)
    ]
    return ops.stack(columns, -1)
