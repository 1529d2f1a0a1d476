"""Transforms to factors of matrices and to positive definite matrices."""

from __future__ import annotations

import math
from typing import Any

from .. import _operators as ops
from .. import linalg
from .._base.finfo import finfo
from . import constraints
from .transform_base import Transform
from .utils import tril_matrix_to_vec, vec_to_tril_matrix

__all__ = ["CorrCholeskyTransform", "LowerCholeskyTransform", "PositiveDefiniteTransform"]


class LowerCholeskyTransform(Transform):
    """Transform from matrices to lower triangular matrices with a positive diagonal.

    Example:
        >>> opweave.distributions.LowerCholeskyTransform()(opweave.tensor([[0.0, 1.0], [2.0, 0.0]]))
        tensor([[1., 0.],
                [2., 1.]])
    """

    domain, codomain = constraints.independent(constraints.real, 2), constraints.lower_cholesky

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LowerCholeskyTransform)

    __hash__ = object.__hash__

    def _call(self, x: Any) -> Any:
        return x.tril(-1) + x.diagonal(dim1=-2, dim2=-1).exp().diag_embed()

    def _inverse(self, y: Any) -> Any:
        return y.tril(-1) + y.diagonal(dim1=-2, dim2=-1).log().diag_embed()


class PositiveDefiniteTransform(Transform):
    """Transform from matrices to positive definite matrices, by way of their Cholesky factors.

    Example:
        >>> opweave.distributions.PositiveDefiniteTransform()(opweave.tensor([[0.0, 1.0], [2.0, 0.0]]))
        tensor([[1., 2.],
                [2., 5.]])
    """

    domain, codomain = constraints.independent(constraints.real, 2), constraints.positive_definite

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PositiveDefiniteTransform)

    __hash__ = object.__hash__

    def _call(self, x: Any) -> Any:
        factor = LowerCholeskyTransform()(x)
        return factor @ factor.mT

    def _inverse(self, y: Any) -> Any:
        return LowerCholeskyTransform().inv(linalg.cholesky(y))


class CorrCholeskyTransform(Transform):
    """Transform from vectors of n * (n - 1) / 2 numbers to Cholesky factors of correlation matrices: the numbers are
    those below the diagonal, row by row. Each row has length one, and the hyperbolic tangent of a number is its share
    of what those before it left.

    Example:
        >>> opweave.distributions.CorrCholeskyTransform()(opweave.tensor([0.5]))
        tensor([[1.0000, 0.0000],
                [0.4621, 0.8868]])
    """

    bijective = True
    domain, codomain = constraints.real_vector, constraints.corr_cholesky

    def _call(self, x: Any) -> Any:
        eps = finfo(x.dtype).eps
        shares = vec_to_tril_matrix(x.tanh().clamp(min=-1 + eps, max=1 - eps), -1)
        left = (1 - shares.square()).sqrt().cumprod(-1)
        diagonal = ops.eye(shares.size(-1), dtype=shares.dtype)
        return (shares + diagonal) * ops.pad(left[..., :-1], [1, 0], value=1)

    def _inverse(self, y: Any) -> Any:
        left = ops.pad((1 - y.square().cumsum(-1))[..., :-1], [1, 0], value=1)
        shares = tril_matrix_to_vec(y, -1) / tril_matrix_to_vec(left, -1).sqrt()
        return (shares.log1p() - (-shares).log1p()) / 2

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """Return the logarithm of the size of the determinant of the derivative of what is below the diagonal."""
        left = tril_matrix_to_vec(1 - y.square().cumsum(-1), -2)
        return 0.5 * left.log().sum(-1) - 2 * (x + ops.softplus(-2 * x) - math.log(2.0)).sum(-1)

    def forward_shape(self, shape: Any) -> Any:
        """Return the shape of the image of a value of this shape."""
        if len(shape) < 1:
            raise ValueError("Too few dimensions on input")
        count = shape[-1]
        n = round((0.25 + 2 * count) ** 0.5 + 0.5)
        if n * (n - 1) // 2 != count:
            raise ValueError("Input is not a flattened lower-diagonal number")
        return type(shape)((*shape[:-1], n, n))

    def inverse_shape(self, shape: Any) -> Any:
        """Return the shape of a value whose image has this shape."""
        if len(shape) < 2:
            raise ValueError("Too few dimensions on input")
        if shape[-2] != shape[-1]:
            raise ValueError("Input is not square")
        return type(shape)((*shape[:-2], shape[-1] * (shape[-1] - 1) // 2))
