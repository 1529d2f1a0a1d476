"""Distributions of positive numbers, and of shares of a whole."""

from __future__ import annotations

import math
from typing import Any

from .. import _operators as ops
from .._base.dtypes import EXPORTS
from .._base.finfo import finfo
from .._base.types import Size
from ..autograd.function import Function
from . import constraints
from .distribution import Distribution, ExponentialFamily
from .utils import shape_of, standard_normal

__all__ = ["Beta", "Chi2", "Dirichlet", "Exponential", "FisherSnedecor", "Gamma", "InverseGamma", "StudentT"]


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


class Dirichlet(ExponentialFamily):
    """Shares of a whole along the last dimension."""

    arg_constraints = {"concentration": constraints.independent(constraints.positive, 1)}  # noqa: RUF012
    support = constraints.simplex
    has_rsample = True

    def __init__(self, concentration: Any, validate_args: bool | None = None) -> None:
        if concentration.dim() < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        super().__init__(concentration.shape[:-1], concentration.shape[-1:], validate_args=validate_args)

    @property
    def mean(self) -> Any:
        """The expectations."""
        return self.concentration / self.concentration.sum(-1, True)

    @property
    def mode(self) -> Any:
        """The most probable values."""
        rest = (self.concentration - 1).clamp(min=0.0)
        mode = rest / rest.sum(-1, True)
        none = (self.concentration < 1).all(-1, keepdim=True)
        best = mode.nan_to_num(0.0).argmax(-1, keepdim=True)
        only = ops.zeros_like(mode.detach()).scatter_(-1, best, 1.0)
        return ops.where(none, only, mode)

    @property
    def variance(self) -> Any:
        """The variances."""
        total = self.concentration.sum(-1, True)
        return self.concentration * (total - self.concentration) / (total.square() * (total + 1))

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Return samples with gradients."""
        drawn = standard_gamma(self.concentration.expand(self._extended_shape(sample_shape)))
        return drawn / drawn.sum(-1, keepdim=True)

    def log_prob(self, value: Any) -> Any:
        """Return the logarithms of the densities of values."""
        a = self.concentration
        return (a - 1.0).xlogy(self._checked(value)).sum(-1) + a.sum(-1).lgamma() - a.lgamma().sum(-1)

    def entropy(self) -> Any:
        """Return the entropies."""
        a, k = self.concentration, self.concentration.size(-1)
        total = a.sum(-1)
        rest = (k - total) * total.digamma() + ((a - 1.0) * a.digamma()).sum(-1)
        return a.lgamma().sum(-1) - total.lgamma() - rest


class Beta(ExponentialFamily):
    """The beta distribution, the first share of a Dirichlet distribution of two."""

    arg_constraints = {"concentration1": constraints.positive, "concentration0": constraints.positive}  # noqa: RUF012
    support = constraints.unit_interval
    has_rsample = True

    def __init__(self, concentration1: Any, concentration0: Any, validate_args: bool | None = None) -> None:
        both, shape = shape_of(concentration1, concentration0)
        self._dirichlet = Dirichlet(ops.stack(list(both), -1), validate_args=False)
        super().__init__(shape, validate_args=validate_args)

    def _expanded(self, made: Any, shape: Size) -> None:
        made._dirichlet = self._dirichlet.expand(shape)

    @property
    def concentration1(self) -> Any:
        """The first concentration."""
        return self._dirichlet.concentration[..., 0]

    @property
    def concentration0(self) -> Any:
        """The second concentration."""
        return self._dirichlet.concentration[..., 1]

    @property
    def mean(self) -> Any:
        """The expectations."""
        return self.concentration1 / (self.concentration1 + self.concentration0)

    @property
    def mode(self) -> Any:
        """The most probable values."""
        return self._dirichlet.mode[..., 0]

    @property
    def variance(self) -> Any:
        """The variances."""
        total = self.concentration1 + self.concentration0
        return self.concentration1 * self.concentration0 / (total.square() * (total + 1))

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Return samples with gradients."""
        return self._dirichlet.rsample(sample_shape).select(-1, 0)

    def log_prob(self, value: Any) -> Any:
        """Return the logarithms of the densities of values."""
        value = self._checked(value)
        return self._dirichlet.log_prob(ops.stack([value, 1.0 - value], -1))

    def entropy(self) -> Any:
        """Return the entropies."""
        return self._dirichlet.entropy()


class StudentT(Distribution):
    """Student's distribution of `df` degrees of freedom, around `loc`."""

    arg_constraints = {"df": constraints.positive, "loc": constraints.real, "scale": constraints.positive}  # noqa: RUF012
    support = constraints.real
    has_rsample = True

    def __init__(self, df: Any, loc: Any = 0.0, scale: Any = 1.0, validate_args: bool | None = None) -> None:
        (self.df, self.loc, self.scale), shape = shape_of(df, loc, scale)
        super().__init__(shape, validate_args=validate_args)

    @property
    def mean(self) -> Any:
        """The expectations; NaN up to one degree of freedom."""
        return self.loc.masked_fill(self.df <= 1, math.nan)

    @property
    def mode(self) -> Any:
        """The most probable values."""
        return self.loc

    @property
    def variance(self) -> Any:
        """The variances; infinite up to two degrees of freedom, NaN up to one."""
        spread = self.scale.square() * self.df / (self.df - 2)
        return ops.where(self.df > 2, spread, math.inf).masked_fill(self.df <= 1, math.nan)

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Return samples with gradients."""
        shape = self._extended_shape(sample_shape)
        x = standard_normal(shape, self.df.dtype)
        z = Chi2(self.df, validate_args=False).rsample(sample_shape)
        return self.loc + self.scale * (x * (z / self.df).rsqrt())

    def log_prob(self, value: Any) -> Any:
        """Return the logarithms of the densities of values."""
        y = (self._checked(value) - self.loc) / self.scale
        z = self.scale.log() + 0.5 * self.df.log() + 0.5 * math.log(math.pi)
        z = z + (0.5 * self.df).lgamma() - (0.5 * (self.df + 1.0)).lgamma()
        return -0.5 * (self.df + 1.0) * (y.square() / self.df).log1p() - z

    def entropy(self) -> Any:
        """Return the entropies."""
        half, more = 0.5 * self.df, 0.5 * (self.df + 1)
        beta = half.lgamma() + math.lgamma(0.5) - more.lgamma()
        return self.scale.log() + more * (more.digamma() - half.digamma()) + 0.5 * self.df.log() + beta


class FisherSnedecor(Distribution):
    """The distribution of the quotient of two means of squares, of `df1` and `df2` degrees of freedom."""

    arg_constraints = {"df1": constraints.positive, "df2": constraints.positive}  # noqa: RUF012
    support = constraints.positive
    has_rsample = True

    def __init__(self, df1: Any, df2: Any, validate_args: bool | None = None) -> None:
        (self.df1, self.df2), shape = shape_of(df1, df2)
        super().__init__(shape, validate_args=validate_args)

    @property
    def mean(self) -> Any:
        """The expectations; NaN up to two degrees of freedom."""
        df2 = self.df2.masked_fill(self.df2 <= 2, math.nan)
        return df2 / (df2 - 2)

    @property
    def mode(self) -> Any:
        """The most probable values."""
        return ((self.df1 - 2) / self.df1 * self.df2 / (self.df2 + 2)).masked_fill(self.df1 <= 2, math.nan)

    @property
    def variance(self) -> Any:
        """The variances; NaN up to four degrees of freedom."""
        df2 = self.df2.masked_fill(self.df2 <= 4, math.nan)
        return 2 * df2.square() * (self.df1 + df2 - 2) / (self.df1 * (df2 - 2).square() * (df2 - 4))

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Return samples with gradients."""
        parts = (Chi2(each, validate_args=False).rsample(sample_shape) / each for each in (self.df1, self.df2))
        above, below = parts
        return above / below.clamp(min=finfo(below.dtype).tiny)

    def log_prob(self, value: Any) -> Any:
        """Return the logarithms of the densities of values."""
        value = self._checked(value)
        one, two = self.df1 * 0.5, self.df2 * 0.5
        ratio = self.df1 / self.df2
        scale = (one + two).lgamma() - one.lgamma() - two.lgamma()
        return scale + one * ratio.log() + (one - 1) * value.log() - (one + two) * (ratio * value).log1p()
