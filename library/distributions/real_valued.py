"""Distributions of real numbers by a location and a scale."""

from __future__ import annotations

import math
from typing import Any

from .. import _operators as ops
from .._autograd.grad_mode import no_grad
from .._base.finfo import finfo
from .._tensor.tensor import Tensor
from . import constraints
from .distribution import Distribution, ExponentialFamily, Symmetric
from .utils import _standard_normal, shape_of

__all__ = ["Cauchy", "Laplace", "Normal", "Uniform"]

_LOCATION = {"loc": constraints.real, "scale": constraints.positive}


class _LocationScale(Symmetric):
    arg_constraints = _LOCATION
    support = constraints.real
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        (self.loc, self.scale), shape = shape_of(loc, scale)
        super().__init__(shape, validate_args=validate_args)


class Normal(_LocationScale, ExponentialFamily):
    """Normal (Gaussian) distribution with mean `loc` and standard deviation `scale`.

    Args:
        loc (number or Tensor): the mean.
        scale (number or Tensor): the standard deviation, positive; the shapes broadcast to that of the batch.
        validate_args (bool): whether parameters and values are checked.

    Raises:
        ValueError: a parameter is out of range.

    Example:
        >>> opweave.distributions.Normal(0.0, 1.0).log_prob(opweave.tensor([0.0, 1.0]))
        tensor([-0.9189, -1.4189])
    """

    @property
    def stddev(self) -> Tensor:
        """The standard deviations."""
        return self.scale

    @property
    def variance(self) -> Tensor:
        """The variances."""
        return self.scale.square()

    def sample(self, sample_shape: Any = ()) -> Any:
        """Return samples without a history."""
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return ops.normal(self.loc.expand(shape), self.scale.expand(shape))

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Return samples with gradients."""
        return self.loc + _standard_normal(self._extended_shape(sample_shape), self.loc.dtype) * self.scale

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithms of the densities of values."""
        value = self._ow_checked(value)
        return -((value - self.loc) ** 2) / (2 * self.variance) - self.scale.log() - math.log(math.sqrt(2 * math.pi))

    def cdf(self, value: Any) -> Tensor:
        """Return the probabilities of values that are not larger."""
        return 0.5 * (1 + ((self._ow_checked(value) - self.loc) * self.scale.reciprocal() / math.sqrt(2)).erf())

    def icdf(self, value: Any) -> Tensor:
        """Return the values below which samples are with such probabilities."""
        return self.loc + self.scale * (2 * value - 1).erfinv() * math.sqrt(2)

    def entropy(self) -> Tensor:
        """Return the entropies."""
        return 0.5 + 0.5 * math.log(2 * math.pi) + self.scale.log()


class Laplace(_LocationScale):
    """Laplace distribution around `loc`.

    Args:
        loc (number or Tensor): the mean.
        scale (number or Tensor): the mean absolute deviation, positive; the shapes broadcast to that of the batch.
        validate_args (bool): whether parameters and values are checked.

    Raises:
        ValueError: a parameter is out of range.

    Example:
        >>> opweave.distributions.Laplace(0.0, 1.0).log_prob(opweave.tensor([0.0, 1.0]))
        tensor([-0.6931, -1.6931])
    """

    @property
    def variance(self) -> Tensor:
        """The variances."""
        return 2 * self.scale.square()

    @property
    def stddev(self) -> Tensor:
        """The standard deviations."""
        return math.sqrt(2) * self.scale

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Return samples with gradients."""
        limits = finfo(self.loc.dtype)
        u = self.loc.new_empty(self._extended_shape(sample_shape)).detach().uniform_(limits.eps - 1, 1)
        return self.loc - self.scale * u.sign() * (-u.abs()).log1p()

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithms of the densities of values."""
        return -(2 * self.scale).log() - (self._ow_checked(value) - self.loc).abs() / self.scale

    def cdf(self, value: Any) -> Tensor:
        """Return the probabilities of values that are not larger."""
        apart = self._ow_checked(value) - self.loc
        return 0.5 - 0.5 * apart.sign() * (-apart.abs() / self.scale).expm1()

    def icdf(self, value: Any) -> Tensor:
        """Return the values below which samples are with such probabilities."""
        term = value - 0.5
        return self.loc - self.scale * term.sign() * (-2 * term.abs()).log1p()

    def entropy(self) -> Tensor:
        """Return the entropies."""
        return 1 + (2 * self.scale).log()


class Cauchy(_LocationScale):
    """Cauchy distribution around `loc`.

    Args:
        loc (number or Tensor): the median.
        scale (number or Tensor): half the distance between the quartiles, positive; the shapes broadcast to that of the
            batch.
        validate_args (bool): whether parameters and values are checked.

    Raises:
        ValueError: a parameter is out of range.

    Example:
        >>> opweave.distributions.Cauchy(0.0, 1.0).log_prob(opweave.tensor([0.0, 1.0]))
        tensor([-1.1447, -1.8379])
    """

    @property
    def mean(self) -> Tensor:
        """The expectations: NaN."""
        return ops.full_like(self.loc, math.nan)

    @property
    def variance(self) -> Tensor:
        """The variances: infinite."""
        return ops.full_like(self.loc, math.inf)

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Return samples with gradients."""
        drawn = self.loc.new_empty(self._extended_shape(sample_shape)).detach().cauchy_()
        return self.loc + drawn * self.scale

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithms of the densities of values."""
        apart = (self._ow_checked(value) - self.loc) / self.scale
        return -math.log(math.pi) - self.scale.log() - apart.square().log1p()

    def cdf(self, value: Any) -> Tensor:
        """Return the probabilities of values that are not larger."""
        return ((self._ow_checked(value) - self.loc) / self.scale).atan() / math.pi + 0.5

    def icdf(self, value: Any) -> Tensor:
        """Return the values below which samples are with such probabilities."""
        return (math.pi * (value - 0.5)).tan() * self.scale + self.loc

    def entropy(self) -> Tensor:
        """Return the entropies."""
        return math.log(4 * math.pi) + self.scale.log()


class Uniform(Distribution):
    """Uniform distribution on the interval from `low` to `high`.

    Args:
        low, high (number or Tensor): the bounds, of which the first is the lower one; the shapes broadcast to that of
            the batch.
        validate_args (bool): whether parameters and values are checked.

    Raises:
        ValueError: a parameter is out of range.

    Example:
        >>> opweave.distributions.Uniform(0.0, 2.0).log_prob(opweave.tensor(1.0))
        tensor(-0.6931)
    """

    has_rsample = True
    arg_constraints = {"low": constraints.dependent, "high": constraints.dependent}  # noqa: RUF012

    def __init__(self, low: Any, high: Any, validate_args: bool | None = None) -> None:
        (self.low, self.high), shape = shape_of(low, high)
        super().__init__(shape, validate_args=validate_args)
        if self._validate_args and not bool((self.low < self.high).all()):
            raise ValueError("Uniform is not defined when low>= high")

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        """The constraint on samples."""
        return constraints.interval(self.low, self.high)

    @property
    def mean(self) -> Tensor:
        """The expectations."""
        return (self.high + self.low) / 2

    @property
    def mode(self) -> Tensor:
        """NaN: all values are as probable."""
        return math.nan * self.high

    @property
    def stddev(self) -> Tensor:
        """The standard deviations."""
        return (self.high - self.low) / 12**0.5

    @property
    def variance(self) -> Tensor:
        """The variances."""
        return (self.high - self.low).square() / 12

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Return samples with gradients."""
        drawn = ops.rand(self._extended_shape(sample_shape), dtype=self.low.dtype)
        return self.low + drawn * (self.high - self.low)

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithms of the densities of values."""
        value = self._ow_checked(value)
        inside = ((self.low <= value) & (self.high > value)).type_as(self.low)
        return inside.log() - (self.high - self.low).log()

    def cdf(self, value: Any) -> Tensor:
        """Return the probabilities of values that are not larger."""
        return ((self._ow_checked(value) - self.low) / (self.high - self.low)).clamp(min=0, max=1)

    def icdf(self, value: Any) -> Tensor:
        """Return the values below which samples are with such probabilities."""
        return value * (self.high - self.low) + self.low

    def entropy(self) -> Tensor:
        """Return the entropies."""
        return (self.high - self.low).log()
