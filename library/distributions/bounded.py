"""Distributions on intervals, of shares, on the circle, and of what is beyond a threshold."""

from __future__ import annotations

import math
from typing import Any

from .. import _operators as ops
from .._autograd.grad_mode import no_grad
from .._base.dtypes import EXPORTS
from .._tensor.tensor import Tensor
from . import constraints
from .distribution import Distribution, Symmetric
from .real_valued import Normal, Uniform
from .transformed import TransformedDistribution
from .transforms import AffineTransform, PowerTransform, StickBreakingTransform
from .utils import euler_constant, lazy_property, shape_of

__all__ = ["GeneralizedPareto", "Kumaraswamy", "LogisticNormal", "VonMises"]


class Kumaraswamy(TransformedDistribution):
    """Kumaraswamy distribution on (0, 1), similar to Beta, with the distribution function `1 - (1 - x **
    concentration1) ** concentration0`.

    Args:
        concentration1, concentration0 (number or Tensor): positive parameters of shape; the shapes broadcast to that of
            the batch.
        validate_args (bool): whether parameters and values are checked.

    Raises:
        ValueError: a parameter is out of range.

    Example:
        >>> opweave.distributions.Kumaraswamy(2.0, 3.0).log_prob(opweave.tensor(0.5))
        tensor(0.5232)
    """

    arg_constraints = {  # noqa: RUF012
        "concentration1": constraints.positive,
        "concentration0": constraints.positive,
    }
    support = constraints.unit_interval

    def __init__(self, concentration1: Any, concentration0: Any, validate_args: bool | None = None) -> None:
        (self.concentration1, self.concentration0), _ = shape_of(concentration1, concentration0)
        zeros = ops.zeros_like(self.concentration0)
        base = Uniform(zeros, zeros + 1, validate_args=validate_args)
        listed = [
            PowerTransform(self.concentration0.reciprocal()),
            AffineTransform(1.0, -1.0),
            PowerTransform(self.concentration1.reciprocal()),
        ]
        super().__init__(base, listed, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """Return a distribution whose parameters are expanded to another batch shape."""
        a, b = self.concentration1.expand(batch_shape), self.concentration0.expand(batch_shape)
        made = self._ow_instance(_instance)
        Kumaraswamy.__init__(made, a, b, validate_args=self._validate_args)
        return made

    def _ow_moment(self, order: int) -> Any:
        a, b = 1 + order / self.concentration1, self.concentration0
        return b * (a.lgamma() + b.lgamma() - (a + b).lgamma()).exp()

    @property
    def mean(self) -> Tensor:
        """The expectations."""
        return self._ow_moment(1)

    @property
    def mode(self) -> Tensor:
        """The most probable values; NaN where a concentration is below one."""
        a, b = self.concentration1, self.concentration0
        logarithm = b.reciprocal() * (-b).log1p() - (-b * a).log1p()
        return logarithm.exp().masked_fill((b < 1) | (a < 1), math.nan)

    @property
    def variance(self) -> Tensor:
        """The variances."""
        return self._ow_moment(2) - self.mean.square()

    def entropy(self) -> Tensor:
        """Return the entropies."""
        a, b = self.concentration1, self.concentration0
        harmonic = (b + 1).digamma() + euler_constant
        return (1 - b.reciprocal()) + (1 - a.reciprocal()) * harmonic - a.log() - b.log()


class LogisticNormal(TransformedDistribution):
    """Logistic normal distribution on the simplex: normal vectors mapped by StickBreakingTransform.

    Args:
        loc (Tensor): the means of the normal vectors, along the last dimension.
        scale (Tensor): the standard deviations of the normal vectors, positive.
        validate_args (bool): whether parameters and values are checked.

    Raises:
        ValueError: a parameter is out of range.

    Example:
        >>> distribution = opweave.distributions.LogisticNormal(opweave.zeros(2), opweave.ones(2))
        >>> distribution.log_prob(opweave.tensor([0.2, 0.3, 0.5]))
        tensor(1.2980)
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}  # noqa: RUF012
    support = constraints.simplex

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        base = Normal(loc, scale, validate_args=validate_args)
        base = base if base.batch_shape else base.expand([1])
        super().__init__(base, StickBreakingTransform(), validate_args=validate_args)

    @property
    def loc(self) -> Any:
        """The means of the normal numbers."""
        return self.base_dist.base_dist.loc

    @property
    def scale(self) -> Any:
        """The standard deviations of the normal numbers."""
        return self.base_dist.base_dist.scale


class GeneralizedPareto(Distribution):
    """Generalized Pareto distribution of the excess over a high threshold `loc`: the tail is a power with exponent `-1
    / concentration`, or exponential where the concentration is zero.

    Args:
        loc (number or Tensor): the threshold.
        scale (number or Tensor): a positive factor.
        concentration (number or Tensor): the shape parameter; the shapes broadcast to that of the batch.
        validate_args (bool): whether parameters and values are checked.

    Raises:
        ValueError: a parameter is out of range.

    Example:
        >>> opweave.distributions.GeneralizedPareto(0.0, 1.0, 0.5).log_prob(opweave.tensor(1.0))
        tensor(-1.2164)
    """

    arg_constraints = {  # noqa: RUF012
        "loc": constraints.real,
        "scale": constraints.positive,
        "concentration": constraints.real,
    }
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, concentration: Any, validate_args: bool | None = None) -> None:
        (self.loc, self.scale, self.concentration), shape = shape_of(loc, scale, concentration)
        super().__init__(shape, validate_args=validate_args)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        """The constraint on samples."""
        end = ops.where(self.concentration < 0, self.loc - self.scale / self.concentration, math.inf)
        return constraints.interval(self.loc, end)

    def _ow_split(self) -> tuple[Any, Any]:
        """Return a mask of zero concentrations, and the concentrations with 1 in place of zero."""
        zero = self.concentration.isclose(ops.zeros_like(self.concentration))
        return zero, ops.where(zero, 1.0, self.concentration)

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Return samples with gradients."""
        return self.icdf(ops.rand(self._extended_shape(sample_shape), dtype=self.loc.dtype))

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithms of the densities of values."""
        z = (self._ow_checked(value) - self.loc) / self.scale
        zero, power = self._ow_split()
        y = 1 / power + ops.ones_like(z)
        return -self.scale.log() - ops.where(zero, z, ops.where(y == 0, y, y * (power * z).log1p()))

    def log_survival_function(self, value: Any) -> Any:
        """Return the logarithms of the probabilities of larger values."""
        z = (self._ow_checked(value) - self.loc) / self.scale
        zero, power = self._ow_split()
        return ops.where(zero, -z, -(power * z).log1p() / power)

    def log_cdf(self, value: Any) -> Any:
        """Return the logarithms of the probabilities of values that are not larger."""
        return (-self.log_survival_function(value).exp()).log1p()

    def cdf(self, value: Any) -> Tensor:
        """Return the probabilities of values that are not larger."""
        return self.log_cdf(value).exp()

    def icdf(self, value: Any) -> Tensor:
        """Return the values below which samples are with such probabilities."""
        zero, power = self._ow_split()
        logarithm = (-value).log1p()
        grown = self.loc + self.scale / power * (-power * logarithm).expm1()
        return ops.where(zero, self.loc - self.scale * logarithm, grown)

    @property
    def mean(self) -> Tensor:
        """The expectations; NaN for concentrations from one on."""
        valid = self.concentration < 1
        return ops.where(valid, self.loc + self.scale / (1 - ops.where(valid, self.concentration, 0.5)), math.nan)

    @property
    def variance(self) -> Tensor:
        """The variances; NaN for concentrations from one half on."""
        valid = self.concentration < 0.5
        power = ops.where(valid, self.concentration, 0.25)
        return ops.where(valid, self.scale.square() / ((1 - power).square() * (1 - 2 * power)), math.nan)

    @property
    def mode(self) -> Tensor:
        """The most probable values."""
        return self.loc

    def entropy(self) -> Tensor:
        """Return the entropies."""
        return self.scale.log() + self.concentration + 1


# The modified Bessel functions of orders 0 and 1: Abramowitz and Stegun, 9.8.1 to 9.8.4.
_SMALL = (
    (1.0, 3.5156229, 3.0899424, 1.2067492, 0.2659732, 0.360768e-1, 0.45813e-2),
    (0.5, 0.87890594, 0.51498869, 0.15084934, 0.2658733e-1, 0.301532e-2, 0.32411e-3),
)
_LARGE = (
    (0.39894228, 0.1328592e-1, 0.225319e-2, -0.157565e-2, 0.916281e-2, -0.2057706e-1, 0.2635537e-1, -0.1647633e-1,
     0.392377e-2),
    (0.39894228, -0.3988024e-1, -0.362018e-2, 0.163801e-2, -0.1031555e-1, 0.2282967e-1, -0.2895312e-1, 0.1787654e-1,
     -0.420059e-2),
)  # fmt: skip


def _polynomial(x: Any, factors: tuple[float, ...]) -> Any:
    result: Any = factors[-1]
    for factor in reversed(factors[:-1]):
        result = factor + x * result
    return result


def _log_bessel(x: Any, order: int) -> Any:
    small = _polynomial((x / 3.75).square(), _SMALL[order])
    small = (x.abs() * small if order else small).log()
    large = x - 0.5 * x.log() + _polynomial(3.75 / x, _LARGE[order]).log()
    return ops.where(x < 3.75, small, large)


_NARROW = 1e10
"""A concentration from which on von Mises' distribution and the normal one differ by less than rounding does."""


class VonMises(Symmetric):
    """Von Mises distribution of angles around `loc`; the larger `concentration`, the narrower.

    Args:
        loc (number or Tensor): the mode, an angle in radians.
        concentration (number or Tensor): positive; the shapes broadcast to that of the batch.
        validate_args (bool): whether parameters and values are checked.

    Raises:
        ValueError: a parameter is out of range.

    Example:
        >>> opweave.distributions.VonMises(0.0, 1.0).log_prob(opweave.tensor(0.5))
        tensor(-1.1962)
    """

    arg_constraints = {"loc": constraints.real, "concentration": constraints.positive}  # noqa: RUF012
    support = constraints.real

    def __init__(self, loc: Any, concentration: Any, validate_args: bool | None = None) -> None:
        (self.loc, self.concentration), shape = shape_of(loc, concentration)
        super().__init__(shape, validate_args=validate_args)

    def sample(self, sample_shape: Any = ()) -> Any:
        """Return samples, by rejection in double precision (Best and Fisher, Efficient Simulation of the von Mises
        Distribution, 1979); where the concentration is so large that no sample would be taken in double precision, of
        the normal distribution that it is the limit of, and NaN where it is NaN or zero."""
        with no_grad():
            kappa = self.concentration.to(EXPORTS["float64"])
            tau = 1 + (1 + 4 * kappa.square()).sqrt()
            rho = (tau - (2 * tau).sqrt()) / (2 * kappa)
            r = ops.where(kappa < 1e-5, 1 / kappa + kappa, (1 + rho.square()) / (2 * rho))
            shape = self._extended_shape(sample_shape)
            result = ops.where(r.isfinite(), ops.zeros_like(r), math.nan).expand(shape)
            is_narrow = kappa > _NARROW
            if bool(is_narrow.any()):
                drawn = ops.randn(shape, dtype=result.dtype) / kappa.sqrt()
                result = ops.where(is_narrow, drawn, result)
            done = (is_narrow | ~r.isfinite()).expand(shape)
            while not bool(done.all()):
                u1, u2, u3 = ops.rand((3, *result.shape), dtype=result.dtype).unbind()
                z = (math.pi * u1).cos()
                f = (1 + r * z) / (r + z)
                c = kappa * (r - f)
                taken = ((c * (2 - c) - u2) > 0) | ((c / u2).log() + 1 - c >= 0)
                result = ops.where(taken, (u3 - 0.5).sign() * f.acos(), result)
                done = done | taken
            turned = (result + math.pi + self.loc.to(result.dtype)) % (2 * math.pi) - math.pi
            return turned.to(self.loc.dtype)

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithms of the densities of values."""
        toward = self.concentration * (self._ow_checked(value) - self.loc).cos()
        return toward - math.log(2 * math.pi) - _log_bessel(self.concentration, 0)

    @lazy_property
    def variance(self) -> Tensor:
        """The circular variances."""
        return 1 - (_log_bessel(self.concentration, 1) - _log_bessel(self.concentration, 0)).exp()
