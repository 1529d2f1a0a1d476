"""Distributions of positive numbers."""

from __future__ import annotations

import math
from typing import Any

from .. import _operators as ops
from .._base.finfo import finfo
from .._tensor.tensor import Tensor
from . import constraints
from .distribution import Distribution, ExponentialFamily
from .utils import shape_of

__all__ = ["Chi2", "Exponential", "Gamma", "InverseGamma"]


_GAMMA = {"concentration": constraints.positive, "rate": constraints.positive}


class Gamma(ExponentialFamily):
    """The gamma distribution of a shape, `concentration`, and a rate."""

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
        value, a, rate = self._checked(value), self.concentration, self.rate
        return a.xlogy(rate) + (a - 1).xlogy(value) - rate * value - a.lgamma()

    def cdf(self, value: Any) -> Tensor:
        """Return the probabilities of values that are not larger."""
        return ops.igamma(self.concentration, self.rate * self._checked(value))

    def entropy(self) -> Tensor:
        """Return the entropies."""
        a = self.concentration
        return a - self.rate.log() + a.lgamma() + (1.0 - a) * a.digamma()


class Chi2(Gamma):
    """The distribution of the sum of `df` squares of standard normal numbers."""

    arg_constraints = {"df": constraints.positive}  # noqa: RUF012
    _names = ("concentration", "rate")

    def __init__(self, df: Any, validate_args: bool | None = None) -> None:
        super().__init__(0.5 * df, 0.5, validate_args)

    @property
    def df(self) -> Any:
        """The degrees of freedom."""
        return self.concentration * 2


class InverseGamma(Distribution):
    """The distribution of one over numbers of a gamma distribution."""

    arg_constraints = _GAMMA
    support = constraints.positive
    has_rsample = True

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        (self.concentration, self.rate), shape = shape_of(concentration, rate)
        super().__init__(shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        """The expectations."""
        return ops.where(self.concentration > 1, self.rate / (self.concentration - 1), math.inf)

    @property
    def mode(self) -> Tensor:
        """The most probable values."""
        return self.rate / (self.concentration + 1)

    @property
    def variance(self) -> Tensor:
        """The variances."""
        a = self.concentration
        return ops.where(a > 2, self.rate.square() / ((a - 1).square() * (a - 2)), math.inf)

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Return samples with gradients."""
        return Gamma(self.concentration, self.rate, validate_args=False).rsample(sample_shape).reciprocal()

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithms of the densities of values."""
        value = self._checked(value)
        inverse = Gamma(self.concentration, self.rate, validate_args=False)
        return inverse.log_prob(value.reciprocal()) - 2 * value.log()

    def cdf(self, value: Any) -> Tensor:
        """Return the probabilities of values that are not larger."""
        return 1 - Gamma(self.concentration, self.rate, validate_args=False).cdf(self._checked(value).reciprocal())

    def entropy(self) -> Tensor:
        """Return the entropies."""
        a = self.concentration
        return a + self.rate.log() + a.lgamma() - (1 + a) * a.digamma()


class Exponential(ExponentialFamily):
    """The exponential distribution of a rate."""

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
        return self.rate.log() - self.rate * self._checked(value)

    def cdf(self, value: Any) -> Tensor:
        """Return the probabilities of values that are not larger."""
        return 1 - (-self.rate * self._checked(value)).exp()

    def icdf(self, value: Any) -> Tensor:
        """Return the values below which samples are with such probabilities."""
        return -(-value).log1p() / self.rate

    def entropy(self) -> Tensor:
        """Return the entropies."""
        return 1.0 - self.rate.log()
