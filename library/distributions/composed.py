"""Distributions of several numbers at once."""

from __future__ import annotations

import math
from typing import Any

from .. import _operators as ops
from .. import linalg
from .._base.types import Size
from .._tensor.tensor import Tensor
from . import constraints
from .distribution import Distribution, Symmetric
from .utils import _standard_normal, _sum_rightmost, lazy_property

__all__ = ["Independent", "MultivariateNormal"]


class Independent(Distribution):
    """A distribution whose last `reinterpreted_batch_ndims` batch dimensions are event dimensions.

    Args:
        base_distribution (Distribution): the distribution.
        reinterpreted_batch_ndims (int): how many dimensions.
        validate_args (bool): whether values are checked.

    Example:
        >>> batch = opweave.distributions.Normal(opweave.zeros(3, 2), 1.0)
        >>> opweave.distributions.Independent(batch, 1).log_prob(opweave.zeros(3, 2))
        tensor([-1.8379, -1.8379, -1.8379])
    """

    arg_constraints = {}  # noqa: RUF012

    def __init__(
        self, base_distribution: Any, reinterpreted_batch_ndims: int, validate_args: bool | None = None
    ) -> None:
        count = reinterpreted_batch_ndims
        if count > len(base_distribution.batch_shape):
            raise ValueError(
                "Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), actual "
                f"{count} vs {len(base_distribution.batch_shape)}"
            )
        shape = base_distribution.batch_shape + base_distribution.event_shape
        cut = len(base_distribution.batch_shape) - count
        self.base_dist, self.reinterpreted_batch_ndims = base_distribution, count
        super().__init__(shape[:cut], shape[cut:], validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """Return a distribution whose parameters are expanded to another batch shape."""
        shape = Size(batch_shape) + self.event_shape[: self.reinterpreted_batch_ndims]
        made = self._ow_instance(_instance)
        Independent.__init__(made, self.base_dist.expand(shape), self.reinterpreted_batch_ndims, self._validate_args)
        return made

    @property
    def has_rsample(self) -> Any:  # type: ignore[override]
        """True if samples have gradients."""
        return self.base_dist.has_rsample

    @property
    def has_enumerate_support(self) -> Any:  # type: ignore[override]
        """True if all values of samples can be enumerated."""
        return self.reinterpreted_batch_ndims == 0 and self.base_dist.has_enumerate_support

    @constraints.dependent_property
    def support(self) -> Any:
        """The constraint on samples."""
        count = self.reinterpreted_batch_ndims
        return constraints.independent(self.base_dist.support, count) if count else self.base_dist.support

    @property
    def mean(self) -> Tensor:
        """The expectations."""
        return self.base_dist.mean

    @property
    def mode(self) -> Tensor:
        """The most probable values."""
        return self.base_dist.mode

    @property
    def variance(self) -> Tensor:
        """The variances."""
        return self.base_dist.variance

    def sample(self, sample_shape: Any = ()) -> Any:
        """Return samples without a history."""
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Return samples with gradients."""
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithms of the densities of values."""
        return _sum_rightmost(self.base_dist.log_prob(value), self.reinterpreted_batch_ndims)

    def entropy(self) -> Tensor:
        """Return the entropies."""
        return _sum_rightmost(self.base_dist.entropy(), self.reinterpreted_batch_ndims)

    def __repr__(self) -> str:
        return f"{self.__class__.__name__}({self.base_dist}, {self.reinterpreted_batch_ndims})"


def mahalanobis(scale_tril: Any, x: Any) -> Any:
    """The squared lengths of vectors by a covariance."""
    return linalg.solve_triangular(scale_tril, x.unsqueeze(-1), upper=False).square().sum((-2, -1))


def half_log_det(scale_tril: Any) -> Any:
    """Half the logarithms of the determinants of covariances."""
    return scale_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)


class MultivariateNormal(Symmetric):
    """Multivariate normal distribution, by a mean and a covariance matrix, its inverse (precision), or its Cholesky
    factor.

    Args:
        loc (Tensor): the mean, of shape (*, n).
        covariance_matrix, precision_matrix, scale_tril (Tensor): one of these, of shape (*, n, n).
        validate_args (bool): whether parameters and values are checked.

    Raises:
        ValueError: none or several of the matrices are given, or shapes do not fit.

    Example:
        >>> distribution = opweave.distributions.MultivariateNormal(opweave.zeros(2), opweave.eye(2))
        >>> distribution.log_prob(opweave.tensor([0.0, 1.0]))
        tensor(-2.3379)
    """

    arg_constraints = {  # noqa: RUF012
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }
    support = constraints.real_vector
    has_rsample = True
    _ow_names = ("_unbroadcasted_scale_tril",)

    def __init__(
        self,
        loc: Any,
        covariance_matrix: Any = None,
        precision_matrix: Any = None,
        scale_tril: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        given = {
            "covariance_matrix": covariance_matrix, "scale_tril": scale_tril, "precision_matrix": precision_matrix
        }  # fmt: skip
        given = {name: value for name, value in given.items() if value is not None}
        if len(given) != 1:
            raise ValueError("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
        ((name, matrix),) = given.items()
        if matrix.dim() < 2:
            raise ValueError(f"{name} must be at least two-dimensional, with optional leading batch dimensions")
        from .._base.shapes import broadcast_shapes

        shape = Size(broadcast_shapes(matrix.shape[:-2], loc.shape[:-1]))
        self.loc = loc.expand((*shape, loc.size(-1)))
        setattr(self, name, matrix.expand((*shape, *matrix.shape[-2:])))
        super().__init__(shape, self.loc.shape[-1:], validate_args=validate_args)
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
    def variance(self) -> Tensor:
        """The variances of the components."""
        return self._unbroadcasted_scale_tril.square().sum(-1)

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Return samples with gradients."""
        eps = _standard_normal(self._extended_shape(sample_shape), self.loc.dtype)
        return self.loc + (self._unbroadcasted_scale_tril @ eps.unsqueeze(-1)).squeeze(-1)

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithms of the densities of values."""
        apart = self._ow_checked(value) - self.loc
        tril = self._unbroadcasted_scale_tril.expand((*apart.shape[:-1], *self._unbroadcasted_scale_tril.shape[-2:]))
        constant = self._event_shape[0] * math.log(2 * math.pi)
        return -0.5 * (constant + mahalanobis(tril, apart)) - half_log_det(self._unbroadcasted_scale_tril)

    def entropy(self) -> Tensor:
        """Return the entropies."""
        return 0.5 * self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + half_log_det(self._unbroadcasted_scale_tril)


def _tril_of_inverse(precision: Any) -> Any:
    factor = linalg.cholesky(precision.flip((-2, -1)))
    upper = factor.flip((-2, -1)).mT
    unit = ops.eye(precision.size(-1), dtype=precision.dtype)
    return linalg.solve_triangular(upper, unit, upper=False)
