"""Distributions of matrices, and of vectors whose covariance has few factors."""

from __future__ import annotations

import math
import warnings
from typing import Any

from .. import _operators as ops
from .. import linalg
from .._base.finfo import finfo
from .._base.shapes import broadcast_shapes
from .._base.types import Size
from .._tensor.tensor import Tensor
from . import constraints
from .composed import _tril_of_inverse, half_log_det, mahalanobis
from .distribution import ExponentialFamily, Symmetric
from .gamma_family import Chi2
from .utils import _standard_normal, lazy_property, shape_of

__all__ = ["LowRankMultivariateNormal", "Wishart"]


class LowRankMultivariateNormal(Symmetric):
    """Multivariate normal distribution with a covariance of low rank plus a diagonal: `cov_factor @ cov_factor.mT` of n
    rows and m columns, and `cov_diag`. Computations are with matrices (m, m).

    Args:
        loc (Tensor): the mean, of shape (*, n).
        cov_factor (Tensor): of shape (*, n, m).
        cov_diag (Tensor): of shape (*, n).
        validate_args (bool): whether parameters and values are checked.

    Raises:
        ValueError: shapes do not fit.

    Example:
        >>> factor = opweave.ones(2, 1)
        >>> distribution = opweave.distributions.LowRankMultivariateNormal(opweave.zeros(2), factor, opweave.ones(2))
        >>> distribution.log_prob(opweave.tensor([0.0, 1.0]))
        tensor(-2.7205)
    """

    arg_constraints = {  # noqa: RUF012
        "loc": constraints.real_vector,
        "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }
    support = constraints.real_vector
    has_rsample = True
    _ow_names = ("_capacitance_tril",)

    def __init__(self, loc: Any, cov_factor: Any, cov_diag: Any, validate_args: bool | None = None) -> None:
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        event = loc.shape[-1:]
        if cov_factor.dim() < 2:
            raise ValueError("cov_factor must be at least two-dimensional, with optional leading batch dimensions")
        if cov_factor.shape[-2:-1] != event:
            raise ValueError(f"cov_factor must be a batch of matrices with shape {event[0]} x m")
        if cov_diag.shape[-1:] != event:
            raise ValueError(f"cov_diag must be a batch of vectors with shape {event}")
        try:
            shape = Size(broadcast_shapes(loc.shape[:-1], cov_factor.shape[:-2], cov_diag.shape[:-1]))
        except RuntimeError as error:
            raise ValueError(
                f"Incompatible batch shapes: loc {loc.shape}, cov_factor {cov_factor.shape}, cov_diag {cov_diag.shape}"
            ) from error
        self.loc, self.cov_diag = loc.expand(shape + event), cov_diag.expand(shape + event)
        self.cov_factor = cov_factor.expand(shape + cov_factor.shape[-2:])
        super().__init__(shape, event, validate_args=validate_args)
        scaled = self.cov_factor.mT / self.cov_diag.unsqueeze(-2)
        self._capacitance_tril = linalg.cholesky(_plus_identity(scaled @ self.cov_factor))

    @property
    def variance(self) -> Tensor:
        """The variances of the components."""
        return self.cov_factor.square().sum(-1) + self.cov_diag

    @lazy_property
    def scale_tril(self) -> Any:
        """The Cholesky factors of the covariances."""
        root = self.cov_diag.sqrt().unsqueeze(-1)
        scaled = self.cov_factor / root
        return root * linalg.cholesky(_plus_identity(scaled @ scaled.mT))

    @lazy_property
    def covariance_matrix(self) -> Any:
        """The covariances."""
        return self.cov_factor @ self.cov_factor.mT + self.cov_diag.diag_embed()

    @lazy_property
    def precision_matrix(self) -> Any:
        """The inverses of the covariances."""
        scaled = self.cov_factor.mT / self.cov_diag.unsqueeze(-2)
        part = linalg.solve_triangular(self._capacitance_tril, scaled, upper=False)
        return self.cov_diag.reciprocal().diag_embed() - part.mT @ part

    def _ow_log_det(self) -> Any:
        return 2 * half_log_det(self._capacitance_tril) + self.cov_diag.log().sum(-1)

    def _ow_mahalanobis(self, x: Any) -> Any:
        """The squared lengths of vectors by the covariance."""
        along = ((self.cov_factor.mT / self.cov_diag.unsqueeze(-2)) @ x.unsqueeze(-1)).squeeze(-1)
        tril = self._capacitance_tril.expand((*along.shape[:-1], *self._capacitance_tril.shape[-2:]))
        return (x.square() / self.cov_diag).sum(-1) - mahalanobis(tril, along)

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Return samples with gradients."""
        shape = self._extended_shape(sample_shape)
        factors = _standard_normal(shape[:-1] + self.cov_factor.shape[-1:], self.loc.dtype)
        own = _standard_normal(shape, self.loc.dtype)
        return self.loc + (self.cov_factor @ factors.unsqueeze(-1)).squeeze(-1) + self.cov_diag.sqrt() * own

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithms of the densities of values."""
        lengths = self._ow_mahalanobis(self._ow_checked(value) - self.loc)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + self._ow_log_det() + lengths)

    def entropy(self) -> Tensor:
        """Return the entropies."""
        return 0.5 * (self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + self._ow_log_det())


def _plus_identity(matrix: Any) -> Any:
    return matrix + ops.eye(matrix.size(-1), dtype=matrix.dtype)


class Wishart(ExponentialFamily):
    """Wishart distribution of positive definite matrices, which are sums of `df` outer products of normal vectors.

    Args:
        df (number or Tensor): the degrees of freedom, more than the number of rows less one.
        covariance_matrix, precision_matrix, scale_tril (Tensor): one of these, of shape (*, n, n).
        validate_args (bool): whether parameters and values are checked.

    Raises:
        ValueError: none or several of the matrices are given, or there are too few degrees of freedom.

    Example:
        >>> distribution = opweave.distributions.Wishart(3.0, covariance_matrix=opweave.eye(2))
        >>> distribution.log_prob(opweave.tensor([[2.0, 0.0], [0.0, 1.0]]))
        tensor(-4.0310)
    """

    support = constraints.positive_definite
    has_rsample = True
    _ow_names = ("_unbroadcasted_scale_tril",)

    @property
    def arg_constraints(self) -> Any:
        """The constraints on parameters, by name."""
        return {
            "covariance_matrix": constraints.positive_definite,
            "precision_matrix": constraints.positive_definite,
            "scale_tril": constraints.lower_cholesky,
            "df": constraints.greater_than(self.event_shape[-1] - 1),
        }

    def __init__(
        self,
        df: Any,
        covariance_matrix: Any = None,
        precision_matrix: Any = None,
        scale_tril: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        given = {"covariance_matrix": covariance_matrix, "precision_matrix": precision_matrix, "scale_tril": scale_tril}
        named = [(name, value) for name, value in given.items() if value is not None]
        if len(named) != 1:
            raise ValueError("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
        ((name, matrix),) = named
        if matrix.dim() < 2:
            raise ValueError("scale_tril must be at least two-dimensional, with optional leading batch dimensions")
        (df,), own = shape_of(df)
        shape, event = Size(broadcast_shapes(matrix.shape[:-2], own)), matrix.shape[-2:]
        self.df = df.to(matrix.dtype).expand(shape)
        if bool((self.df <= event[-1] - 1).any()):
            raise ValueError(f"Value of df={df} expected to be greater than ndim - 1 = {event[-1] - 1}.")
        setattr(self, name, matrix.expand(shape + event))
        if bool((self.df < event[-1]).any()):
            warnings.warn(
                "Low df values detected. Singular samples are highly likely to occur for ndim - 1 < df < ndim.",
                stacklevel=2,
            )
        self._batch_shape, self._event_shape = shape, event
        super().__init__(shape, event, validate_args=validate_args)
        root = linalg.cholesky if name == "covariance_matrix" else _tril_of_inverse
        self._unbroadcasted_scale_tril = self.scale_tril if name == "scale_tril" else root(getattr(self, name))

    @lazy_property
    def scale_tril(self) -> Any:
        """The Cholesky factors of the covariances."""
        return self._unbroadcasted_scale_tril

    @lazy_property
    def covariance_matrix(self) -> Any:
        """The covariances."""
        return self._unbroadcasted_scale_tril @ self._unbroadcasted_scale_tril.mT

    @lazy_property
    def precision_matrix(self) -> Any:
        """The inverses of the covariances."""
        return self._unbroadcasted_scale_tril.cholesky_inverse()

    @property
    def mean(self) -> Tensor:
        """The expectations."""
        return self.df[..., None, None] * self.covariance_matrix

    @property
    def mode(self) -> Tensor:
        """The most probable values; NaN where there are too few degrees of freedom."""
        factor = self.df - self._event_shape[-1] - 1
        return factor.masked_fill(factor <= 0, math.nan)[..., None, None] * self.covariance_matrix

    @property
    def variance(self) -> Tensor:
        """The variances of the elements."""
        matrix = self.covariance_matrix
        diagonal = matrix.diagonal(dim1=-2, dim2=-1)
        return self.df[..., None, None] * (matrix.square() + diagonal.unsqueeze(-1) * diagonal.unsqueeze(-2))

    def _ow_bartlett(self, sample_shape: Any) -> Any:
        n = self._event_shape[-1]
        squares = Chi2(self.df.unsqueeze(-1) - ops.arange(n, dtype=self.df.dtype), validate_args=False)
        diagonal = squares.rsample(sample_shape).sqrt().clamp(min=finfo(self.df.dtype).eps).diag_embed()
        drawn = ops.randn((*sample_shape, *self._batch_shape, n * (n - 1) // 2), dtype=self.df.dtype)
        row, column = ops.tril_indices(n, n, -1)
        below = ops.zeros_like(diagonal.detach())
        below[..., row, column] = drawn
        factor = self._unbroadcasted_scale_tril @ (diagonal + below)
        return factor @ factor.mT

    def rsample(self, sample_shape: Any = (), max_try_correction: int | None = None) -> Any:
        """Return samples with gradients (Bartlett's decomposition); singular ones are drawn again, up to
        `max_try_correction` times (10 unless given).
        """
        result = self._ow_bartlett(Size(sample_shape))
        # torch draws regular samples once more, so its numbers, which these are, are the second ones.
        again = self._ow_any_of_batch(self.support.check(result))
        for attempt in range(10 if max_try_correction is None else max_try_correction):
            count = int(again.sum())
            if not count:
                break
            if attempt == 1:
                warnings.warn("Singular sample detected.", stacklevel=2)
            drawn = self._ow_bartlett((count,))
            result[again] = drawn
            again = ops.zeros_like(again).masked_scatter(again, self._ow_any_of_batch(~self.support.check(drawn)))
        return result

    def _ow_any_of_batch(self, condition: Any) -> Any:
        """Return True for the samples of which the condition holds in one of the batch."""
        dims = tuple(range(-len(self._batch_shape), 0))
        return condition.any(dims) if dims else condition

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithms of the densities of values."""
        value = self._ow_checked(value)
        df, n = self.df, self._event_shape[-1]
        matrices, tril = ops.broadcast_tensors([value, self._unbroadcasted_scale_tril])
        trace = ops.cholesky_solve(matrices, tril).diagonal(dim1=-2, dim2=-1).sum(-1)
        norm = df * (n * math.log(2) / 2 + half_log_det(self._unbroadcasted_scale_tril)) + (df / 2).mvlgamma(n)
        return (df - n - 1) / 2 * linalg.slogdet(value)[1] - trace / 2 - norm

    def entropy(self) -> Tensor:
        """Return the entropies."""
        df, n = self.df, self._event_shape[-1]
        logarithm = half_log_det(self._unbroadcasted_scale_tril)
        size = (n + 1) * (n * math.log(2) / 2 + logarithm) + (df / 2).mvlgamma(n) + df * n / 2
        return size - (df - n - 1) / 2 * multivariate_digamma(df / 2, n)


def multivariate_digamma(x: Any, n: int) -> Any:
    """The derivative of the multivariate logarithm of the gamma function."""
    return (x.unsqueeze(-1) - ops.arange(n, dtype=x.dtype) / 2).digamma().sum(-1)
