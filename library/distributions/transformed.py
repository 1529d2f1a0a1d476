"""Distributions of transformed samples, and those that are made in this way."""

from __future__ import annotations

import math
from typing import Any

from .. import _operators as ops
from .._autograd.grad_mode import no_grad
from .._base.finfo import finfo
from .._base.types import Size
from .._tensor.tensor import Tensor
from . import constraints
from .composed import Independent
from .distribution import Distribution
from .gamma_family import Exponential
from .real_valued import Normal, Uniform
from .transforms import AffineTransform, ComposeTransform, ExpTransform, PowerTransform, Transform
from .utils import _sum_rightmost, euler_constant, shape_of

__all__ = ["Gumbel", "LogNormal", "Pareto", "TransformedDistribution", "Weibull"]


class TransformedDistribution(Distribution):
    """The distribution of transformed samples of another one.

    Args:
        base_distribution (Distribution): the other one.
        transforms (Transform or list of Transform): are applied in order.
        validate_args (bool): whether values are checked.

    Example:
        >>> normal = opweave.distributions.Normal(0.0, 1.0)
        >>> distribution = opweave.distributions.TransformedDistribution(normal, opweave.distributions.ExpTransform())
        >>> distribution.log_prob(opweave.tensor(1.0))
        tensor(-0.9189)
    """

    arg_constraints = {}  # noqa: RUF012

    def __init__(self, base_distribution: Any, transforms: Any, validate_args: bool | None = None) -> None:
        listed = [transforms] if isinstance(transforms, Transform) else list(transforms)
        if not all(isinstance(each, Transform) for each in listed):
            raise ValueError(f"transforms must be a Transform or list, but was {transforms}")
        self.transforms = listed
        whole = ComposeTransform(listed)
        shape = base_distribution.batch_shape + base_distribution.event_shape
        if len(shape) < whole.domain.event_dim:
            raise ValueError(
                f"base_distribution needs to have shape with size at least {whole.domain.event_dim}, but got {shape}."
            )
        grown = whole.forward_shape(shape)
        if whole.inverse_shape(grown) != shape:
            base_distribution = base_distribution.expand(
                whole.inverse_shape(grown)[: len(base_distribution.batch_shape)]
            )
        more = whole.domain.event_dim - len(base_distribution.event_shape)
        self.base_dist: Any = Independent(base_distribution, more) if more > 0 else base_distribution
        dims = whole.codomain.event_dim + max(len(base_distribution.event_shape) - whole.domain.event_dim, 0)
        cut = len(grown) - dims
        super().__init__(grown[:cut], grown[cut:], validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """Return a distribution whose parameters are expanded to another batch shape."""
        made = self._ow_instance(_instance)
        shape = Size(batch_shape)
        whole = ComposeTransform(self.transforms)
        base = whole.inverse_shape(shape + self.event_shape)
        made.base_dist = self.base_dist.expand(base[: len(base) - len(self.base_dist.event_shape)])
        made.transforms = self.transforms
        Distribution.__init__(made, shape, self.event_shape, validate_args=False)
        made._validate_args = self._validate_args
        return made

    @property
    def has_rsample(self) -> Any:  # type: ignore[override]
        """True if samples have gradients."""
        return self.base_dist.has_rsample

    @constraints.dependent_property(is_discrete=False)
    def support(self) -> Any:
        """The constraint on samples."""
        if not self.transforms:
            return self.base_dist.support
        last = self.transforms[-1].codomain
        more = len(self.event_shape) - last.event_dim
        return constraints.independent(last, more) if more > 0 else last

    def sample(self, sample_shape: Any = ()) -> Any:
        """Return samples without a history."""
        with no_grad():
            x = self.base_dist.sample(sample_shape)
            for transform in self.transforms:
                x = transform(x)
            return x

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Return samples with gradients."""
        x = self.base_dist.rsample(sample_shape)
        for transform in self.transforms:
            x = transform(x)
        return x

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithms of the densities of values."""
        y = self._ow_checked(value)
        dims, result = len(self.event_shape), 0.0
        for transform in reversed(self.transforms):
            x = transform.inv(y)
            dims += transform.domain.event_dim - transform.codomain.event_dim
            result = result - _sum_rightmost(transform.log_abs_det_jacobian(x, y), dims - transform.domain.event_dim)
            y = x
        return result + _sum_rightmost(self.base_dist.log_prob(y), dims - len(self.base_dist.event_shape))

    def _ow_turned(self, value: Any) -> Any:
        """Probabilities from the other side where the transforms fall."""
        sign: Any = 1
        for transform in self.transforms:
            sign = sign * transform.sign
        return value if isinstance(sign, int) and sign == 1 else sign * (value - 0.5) + 0.5

    def cdf(self, value: Any) -> Tensor:
        """Return the probabilities of values that are not larger."""
        for transform in reversed(self.transforms):
            value = transform.inv(value)
        if self._validate_args:
            self.base_dist._validate_sample(value)
        return self._ow_turned(self.base_dist.cdf(value))

    def icdf(self, value: Any) -> Tensor:
        """Return the values below which samples are with such probabilities."""
        value = self.base_dist.icdf(self._ow_turned(value))
        for transform in self.transforms:
            value = transform(value)
        return value


class LogNormal(TransformedDistribution):
    """Log-normal distribution: the exponentials of normally distributed numbers.

    Args:
        loc (number or Tensor): the mean of the logarithms.
        scale (number or Tensor): the standard deviation of the logarithms, positive; the shapes broadcast to that of
            the batch.
        validate_args (bool): whether parameters and values are checked.

    Raises:
        ValueError: a parameter is out of range.

    Example:
        >>> opweave.distributions.LogNormal(0.0, 1.0).log_prob(opweave.tensor(1.0))
        tensor(-0.9189)
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}  # noqa: RUF012
    support = constraints.positive

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(Normal(loc, scale, validate_args=validate_args), ExpTransform(), validate_args=validate_args)

    @property
    def loc(self) -> Any:
        """The means of the logarithms."""
        return self.base_dist.loc

    @property
    def scale(self) -> Any:
        """The standard deviations of the logarithms."""
        return self.base_dist.scale

    @property
    def mean(self) -> Tensor:
        """The expectations."""
        return (self.loc + self.scale.square() / 2).exp()

    @property
    def mode(self) -> Tensor:
        """The most probable values."""
        return (self.loc - self.scale.square()).exp()

    @property
    def variance(self) -> Tensor:
        """The variances."""
        squared = self.scale.square()
        return squared.expm1() * (2 * self.loc + squared).exp()

    def entropy(self) -> Tensor:
        """Return the entropies."""
        return self.base_dist.entropy() + self.loc


class Gumbel(TransformedDistribution):
    """Gumbel distribution of the largest of many numbers.

    Args:
        loc (number or Tensor): the mode.
        scale (number or Tensor): a positive factor; the shapes broadcast to that of the batch.
        validate_args (bool): whether parameters and values are checked.

    Raises:
        ValueError: a parameter is out of range.

    Example:
        >>> opweave.distributions.Gumbel(0.0, 1.0).log_prob(opweave.tensor(0.0))
        tensor(-1.)
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}  # noqa: RUF012
    support = constraints.real
    _ow_names = ("loc", "scale")

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        (self.loc, self.scale), _ = shape_of(loc, scale)
        limits = finfo(self.loc.dtype)
        low, high = ops.full_like(self.loc, limits.tiny), ops.full_like(self.loc, 1 - limits.eps)
        base = Uniform(low, high, validate_args=validate_args)
        negative = AffineTransform(0, -ops.ones_like(self.scale))
        listed = [ExpTransform().inv, negative, ExpTransform().inv, AffineTransform(self.loc, -self.scale)]
        super().__init__(base, listed, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """Return a distribution whose parameters are expanded to another batch shape."""
        loc, scale = self.loc.expand(batch_shape), self.scale.expand(batch_shape)
        made = self._ow_instance(_instance)
        Gumbel.__init__(made, loc, scale, validate_args=self._validate_args)
        return made

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithms of the densities of values."""
        y = (self.loc - self._ow_checked(value)) / self.scale
        return (y - y.exp()) - self.scale.log()

    @property
    def mean(self) -> Tensor:
        """The expectations."""
        return self.loc + self.scale * euler_constant

    @property
    def mode(self) -> Tensor:
        """The most probable values."""
        return self.loc

    @property
    def stddev(self) -> Tensor:
        """The standard deviations."""
        return (math.pi / math.sqrt(6)) * self.scale

    @property
    def variance(self) -> Tensor:
        """The variances."""
        return self.stddev.square()

    def entropy(self) -> Tensor:
        """Return the entropies."""
        return self.scale.log() + (1 + euler_constant)


class Weibull(TransformedDistribution):
    """Weibull distribution with a scale and a shape parameter, `concentration`.

    Args:
        scale (number or Tensor): a positive factor.
        concentration (number or Tensor): the shape parameter, positive; the shapes broadcast to that of the batch.
        validate_args (bool): whether parameters and values are checked.

    Raises:
        ValueError: a parameter is out of range.

    Example:
        >>> opweave.distributions.Weibull(1.0, 2.0).log_prob(opweave.tensor(0.5))
        tensor(-0.2500)
    """

    arg_constraints = {"scale": constraints.positive, "concentration": constraints.positive}  # noqa: RUF012
    support = constraints.positive

    def __init__(self, scale: Any, concentration: Any, validate_args: bool | None = None) -> None:
        (self.scale, self.concentration), _ = shape_of(scale, concentration)
        self.concentration_reciprocal = self.concentration.reciprocal()
        base = Exponential(ops.ones_like(self.scale), validate_args=validate_args)
        listed = [PowerTransform(self.concentration_reciprocal), AffineTransform(0, self.scale)]
        super().__init__(base, listed, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """Return a distribution whose parameters are expanded to another batch shape."""
        scale, concentration = self.scale.expand(batch_shape), self.concentration.expand(batch_shape)
        made = self._ow_instance(_instance)
        Weibull.__init__(made, scale, concentration, validate_args=self._validate_args)
        return made

    @property
    def mean(self) -> Tensor:
        """The expectations."""
        return self.scale * (1 + self.concentration_reciprocal).lgamma().exp()

    @property
    def mode(self) -> Tensor:
        """The most probable values."""
        return self.scale * ((self.concentration - 1) / self.concentration) ** self.concentration.reciprocal()

    @property
    def variance(self) -> Tensor:
        """The variances."""
        share = self.concentration_reciprocal
        return self.scale.square() * ((1 + 2 * share).lgamma().exp() - (2 * (1 + share).lgamma()).exp())

    def entropy(self) -> Tensor:
        """Return the entropies."""
        share = self.concentration_reciprocal
        return euler_constant * (1 - share) + (self.scale * share).log() + 1


class Pareto(TransformedDistribution):
    """Pareto distribution of numbers from `scale` on, with the exponent `alpha`.

    Args:
        scale (number or Tensor): the least value, positive.
        alpha (number or Tensor): the exponent, positive; the shapes broadcast to that of the batch.
        validate_args (bool): whether parameters and values are checked.

    Raises:
        ValueError: a parameter is out of range.

    Example:
        >>> opweave.distributions.Pareto(1.0, 2.0).log_prob(opweave.tensor(3.0))
        tensor(-2.6027)
    """

    arg_constraints = {"alpha": constraints.positive, "scale": constraints.positive}  # noqa: RUF012

    def __init__(self, scale: Any, alpha: Any, validate_args: bool | None = None) -> None:
        (self.scale, self.alpha), _ = shape_of(scale, alpha)
        base = Exponential(self.alpha, validate_args=validate_args)
        super().__init__(base, [ExpTransform(), AffineTransform(0, self.scale)], validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """Return a distribution whose parameters are expanded to another batch shape."""
        scale, alpha = self.scale.expand(batch_shape), self.alpha.expand(batch_shape)
        made = self._ow_instance(_instance)
        Pareto.__init__(made, scale, alpha, validate_args=self._validate_args)
        return made

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        """The constraint on samples."""
        return constraints.greater_than_eq(self.scale)

    @property
    def mean(self) -> Tensor:
        """The expectations; infinite for powers up to one."""
        a = self.alpha.clamp(min=1)
        return a * self.scale / (a - 1)

    @property
    def mode(self) -> Tensor:
        """The most probable values."""
        return self.scale

    @property
    def variance(self) -> Tensor:
        """The variances; infinite for powers up to two."""
        a = self.alpha.clamp(min=2)
        return self.scale.square() * a / ((a - 1).square() * (a - 2))

    def entropy(self) -> Tensor:
        """Return the entropies."""
        return (self.scale / self.alpha).log() + (1 + self.alpha.reciprocal())
