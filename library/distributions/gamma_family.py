"""Distributions of positive numbers."""

from __future__ import annotations

from typing import Any

from .. import _operators as ops
from .._base.finfo import finfo
from .._tensor.tensor import Tensor
from . import constraints
from .distribution import ExponentialFamily
from .utils import shape_of

__all__ = ["Chi2", "Exponential", "Gamma"]


_GAMMA = {"concentration": constraints.positive, "rate": constraints.positive}


class Gamma(ExponentialFamily):
    """Gamma distribution with shape parameter `concentration` and a rate.

    Args:
        concentration (number or Tensor): the shape parameter, positive.
        rate (number or Tensor): one over the scale, positive; the shapes broadcast to that of the batch.
        validate_args (bool): whether parameters and values are checked.

    Raises:
        ValueError: a parameter is out of range.

    Example:
        >>> opweave.distributions.Gamma(2.0, rate=1.0).log_prob(opweave.tensor(1.0))
        tensor(-1.)
    """

    arg_constraints = _GAMMA
    support = constraints.nonnegative
    has_rsample = True

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        (self.concentration, self.rate), shape = shape_of(concentration, rate)
        super().__init__(shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        """The expectations."""
        return self.concentration / self.rate

    @property
    def mode(self) -> Tensor:
        """The most probable values."""
        return ((self.concentration - 1) / self.rate).clamp(min=0)

    @property
    def variance(self) -> Tensor:
        """The variances."""
        return self.concentration / self.rate.square()

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Return samples with gradients."""
        shape = self._extended_shape(sample_shape)
        drawn = ops._standard_gamma(self.concentration.expand(shape)) / self.rate.expand(shape)
        drawn.detach().clamp_(min=finfo(drawn.dtype).tiny)
        return drawn

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithms of the densities of values."""
        value, a, rate = self._ow_checked(value), self.concentration, self.rate
        return a.xlogy(rate) + (a - 1).xlogy(value) - rate * value - a.lgamma()

    def cdf(self, value: Any) -> Tensor:
        """Return the probabilities of values that are not larger."""
        return ops.igamma(self.concentration, self.rate * self._ow_checked(value))

    def entropy(self) -> Tensor:
        """Return the entropies."""
        a = self.concentration
        return a - self.rate.log() + a.lgamma() + (1.0 - a) * a.digamma()


class Chi2(Gamma):
    """Chi-squared distribution with `df` degrees of freedom: the sum of `df` squares of standard normal numbers.

    Args:
        df (number or Tensor): the degrees of freedom, positive.
        validate_args (bool): whether parameters and values are checked.

    Raises:
        ValueError: a parameter is out of range.

    Example:
        >>> opweave.distributions.Chi2(3.0).log_prob(opweave.tensor(1.0))
        tensor(-1.4189)
    """

    arg_constraints = {"df": constraints.positive}  # noqa: RUF012
    _ow_names = ("concentration", "rate")

    def __init__(self, df: Any, validate_args: bool | None = None) -> None:
        super().__init__(0.5 * df, 0.5, validate_args)

    @property
    def df(self) -> Any:
        """The degrees of freedom."""
        return self.concentration * 2


class Exponential(ExponentialFamily):
    """Exponential distribution with a rate.

    Args:
        rate (number or Tensor): one over the mean, positive.
        validate_args (bool): whether parameters and values are checked.

    Raises:
        ValueError: a parameter is out of range.

    Example:
        >>> opweave.distributions.Exponential(2.0).log_prob(opweave.tensor([0.0, 1.0]))
        tensor([ 0.6931, -1.3069])
    """

    arg_constraints = {"rate": constraints.positive}  # noqa: RUF012
    support = constraints.nonnegative
    has_rsample = True

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        (self.rate,), shape = shape_of(rate)
        super().__init__(shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        """The expectations."""
        return self.rate.reciprocal()

    @property
    def mode(self) -> Tensor:
        """The most probable values: zeros."""
        return ops.zeros_like(self.rate)

    @property
    def stddev(self) -> Tensor:
        """The standard deviations."""
        return self.rate.reciprocal()

    @property
    def variance(self) -> Tensor:
        """The variances."""
        return self.rate.pow(-2)

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Return samples with gradients."""
        return self.rate.new_empty(self._extended_shape(sample_shape)).detach().exponential_() / self.rate

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithms of the densities of values."""
        return self.rate.log() - self.rate * self._ow_checked(value)

    def cdf(self, value: Any) -> Tensor:
        """Return the probabilities of values that are not larger."""
        return 1 - (-self.rate * self._ow_checked(value)).exp()

    def icdf(self, value: Any) -> Tensor:
        """Return the values below which samples are with such probabilities."""
        return -(-value).log1p() / self.rate

    def entropy(self) -> Tensor:
        """Return the entropies."""
        return 1.0 - self.rate.log()
