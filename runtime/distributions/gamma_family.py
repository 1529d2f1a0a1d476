"""Distributions of positive numbers."""

from __future__ import annotations

import math
from typing import Any

from .. import _operators as ops
from .._base.dtypes import EXPORTS
from .._base.finfo import finfo
from ..autograd.function import Function
from . import constraints
from .distribution import Distribution, ExponentialFamily
from .utils import shape_of

__all__ = ["Chi2", "Exponential", "Gamma", "InverseGamma"]


def _draw(concentration: Any) -> Any:
    """Draws of gamma distributions of rate one, in double precision, by rejection (Marsaglia and Tsang, A Simple Method
    for Generating Gamma Variables, 2000).
    """
    small = concentration < 1
    a = ops.where(small, concentration + 1, concentration)
    boost = ops.rand_like(a).pow(1 / concentration)
    d = a - 1.0 / 3
    c = (9 * d).rsqrt()
    result, pending = ops.zeros_like(a), ops.ones_like(a, dtype=EXPORTS["bool"])
    while bool(pending.any()):
        x, u = ops.randn_like(a), ops.rand_like(a)
        v = (1 + c * x) ** 3
        inside = v > 0
        log_v = ops.where(inside, v, 1.0).log()
        taken = pending & inside & (u.log() < 0.5 * x * x + d * (1 - v + log_v))
        result = ops.where(taken, d * v, result)
        pending = pending & ~taken
    return ops.where(small, result * boost, result)


class _StandardGamma(Function):
    """Draws, whose gradient by the concentration keeps the value of the cumulative distribution function."""

    @staticmethod
    def forward(ctx: Any, concentration: Any) -> Any:
        wide = concentration.detach().to(EXPORTS["float64"])
        result = _draw(wide).to(concentration.dtype).clamp(min=finfo(concentration.dtype).tiny)
        ctx.save_for_backward(concentration, result)
        return result

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        concentration, result = (each.detach().to(EXPORTS["float64"]) for each in ctx.saved_tensors)
        step = 1e-5 * concentration.clamp(min=1e-2)
        change = (ops.igamma(concentration + step, result) - ops.igamma(concentration - step, result)) / (2 * step)
        density = ((concentration - 1) * result.log() - result - concentration.lgamma()).exp()
        slope = ops.where(density > 0, -change / density, 0.0)
        return grad * slope.to(grad.dtype)


def standard_gamma(concentration: Any) -> Any:
    """Draws of gamma distributions of rate one, with gradients."""
    return _StandardGamma.apply(concentration)


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
    def mean(self) -> Any:
        """The expectations."""
        return self.concentration / self.rate

    @property
    def mode(self) -> Any:
        """The most probable values."""
        return ((self.concentration - 1) / self.rate).clamp(min=0)

    @property
    def variance(self) -> Any:
        """The variances."""
        return self.concentration / self.rate.square()

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Return samples with gradients."""
        shape = self._extended_shape(sample_shape)
        return standard_gamma(self.concentration.expand(shape)) / self.rate.expand(shape)

    def log_prob(self, value: Any) -> Any:
        """Return the logarithms of the densities of values."""
        value, a, rate = self._checked(value), self.concentration, self.rate
        return a.xlogy(rate) + (a - 1).xlogy(value) - rate * value - a.lgamma()

    def cdf(self, value: Any) -> Any:
        """Return the probabilities of values that are not larger."""
        return ops.igamma(self.concentration, self.rate * self._checked(value))

    def entropy(self) -> Any:
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
    def mean(self) -> Any:
        """The expectations."""
        return ops.where(self.concentration > 1, self.rate / (self.concentration - 1), math.inf)

    @property
    def mode(self) -> Any:
        """The most probable values."""
        return self.rate / (self.concentration + 1)

    @property
    def variance(self) -> Any:
        """The variances."""
        a = self.concentration
        return ops.where(a > 2, self.rate.square() / ((a - 1).square() * (a - 2)), math.inf)

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Return samples with gradients."""
        return Gamma(self.concentration, self.rate, validate_args=False).rsample(sample_shape).reciprocal()

    def log_prob(self, value: Any) -> Any:
        """Return the logarithms of the densities of values."""
        value = self._checked(value)
        inverse = Gamma(self.concentration, self.rate, validate_args=False)
        return inverse.log_prob(value.reciprocal()) - 2 * value.log()

    def cdf(self, value: Any) -> Any:
        """Return the probabilities of values that are not larger."""
        return 1 - Gamma(self.concentration, self.rate, validate_args=False).cdf(self._checked(value).reciprocal())

    def entropy(self) -> Any:
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
    def mean(self) -> Any:
        """The expectations."""
        return self.rate.reciprocal()

    @property
    def mode(self) -> Any:
        """The most probable values: zeros."""
        return ops.zeros_like(self.rate)

    @property
    def stddev(self) -> Any:
        """The standard deviations."""
        return self.rate.reciprocal()

    @property
    def variance(self) -> Any:
        """The variances."""
        return self.rate.pow(-2)

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Return samples with gradients."""
        return self.rate.new_empty(self._extended_shape(sample_shape)).detach().exponential_() / self.rate

    def log_prob(self, value: Any) -> Any:
        """Return the logarithms of the densities of values."""
        return self.rate.log() - self.rate * self._checked(value)

    def cdf(self, value: Any) -> Any:
        """Return the probabilities of values that are not larger."""
        return 1 - (-self.rate * self._checked(value)).exp()

    def icdf(self, value: Any) -> Any:
        """Return the values below which samples are with such probabilities."""
        return -(-value).log1p() / self.rate

    def entropy(self) -> Any:
        """Return the entropies."""
        return 1.0 - self.rate.log()
