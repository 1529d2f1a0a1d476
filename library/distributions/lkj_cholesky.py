"""The distribution of Lewandowski, Kurowicka and Joe over Cholesky factors of correlation matrices."""

from __future__ import annotations

import math
from typing import Any

from .. import _operators as ops
from .._autograd.grad_mode import no_grad
from .._base.finfo import finfo
from .._base.types import Size
from .._tensor.tensor import Tensor
from . import constraints
from .distribution import Distribution
from .shares import Beta
from .utils import shape_of

__all__ = ["LKJCholesky"]


class LKJCholesky(Distribution):
    """LKJ distribution of Cholesky factors of correlation matrices, whose density is the matrix's determinant to the
    power `concentration - 1` (Lewandowski, Kurowicka and Joe, Generating random correlation matrices, 2009).

    Args:
        dim (int): the number of rows.
        concentration (number or Tensor): one makes all correlation matrices equally probable.
        validate_args (bool): whether parameters and values are checked.

    Raises:
        ValueError: there are fewer than two rows.

    Example:
        >>> opweave.distributions.LKJCholesky(2).log_prob(opweave.tensor([[1.0, 0.0], [0.6, 0.8]]))
        tensor(-0.6931)
    """

    arg_constraints = {"concentration": constraints.positive}  # noqa: RUF012
    support = constraints.corr_cholesky

    def __init__(self, dim: int, concentration: Any = 1.0, validate_args: bool | None = None) -> None:
        if dim < 2:
            raise ValueError(f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}.")
        self.dim = dim
        (self.concentration,), shape = shape_of(concentration)
        super().__init__(shape, (dim, dim), validate_args)

    def _ow_expanded(self, made: Any, shape: Size) -> None:
        made.dim = self.dim

    def sample(self, sample_shape: Any = ()) -> Any:
        """Return samples, row by row as points on spheres."""
        with no_grad():
            offset = ops.arange(-1, self.dim - 1, dtype=self.concentration.dtype).clamp(min=0)
            rest = (self.concentration + 0.5 * (self.dim - 2)).unsqueeze(-1) - 0.5 * offset
            squares = Beta(offset + 0.5, rest, validate_args=False).sample(sample_shape).unsqueeze(-1)
            drawn = ops.randn(self._extended_shape(sample_shape), dtype=squares.dtype).tril(-1)
            points = drawn / ops.norm(drawn, dim=-1, keepdim=True)
            points[..., 0, :] = 0.0
            rows = squares.sqrt() * points
            left = (1 - rows.square().sum(-1)).clamp(min=finfo(rows.dtype).tiny).sqrt()
            return rows + left.diag_embed()

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithms of the densities of values."""
        diagonal = self._ow_checked(value).diagonal(dim1=-1, dim2=-2)[..., 1:]
        powers = self.dim - ops.arange(2, self.dim + 1) + 2 * (self.concentration - 1).unsqueeze(-1)
        n = self.dim - 1
        alpha = self.concentration + 0.5 * n
        norm = 0.5 * n * math.log(math.pi) + (alpha - 0.5).mvlgamma(n) - alpha.lgamma() * n
        return (powers * diagonal.log()).sum(-1) - norm
