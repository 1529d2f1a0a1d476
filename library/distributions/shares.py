"""Distributions of shares of a whole, and of quotients, which are drawn by means of gamma distributed numbers."""

from __future__ import annotations

import math
from typing import Any

from .. import _operators as ops
from .._base.finfo import finfo
from .._base.types import Size
from .._tensor.tensor import Tensor
from . import constraints
from .distribution import Distribution, ExponentialFamily, Symmetric
from .gamma_family import Chi2, Gamma
from .utils import _standard_normal, shape_of

__all__ = ["Beta", "Dirichlet", "FisherSnedecor", "StudentT"]


class Dirichlet(ExponentialFamily):
    """Dirichlet distribution on the simplex along the last dimension.

    Args:
        concentration (Tensor): positive parameters, along the last dimension.
        validate_args (bool): whether parameters and values are checked.

    Raises:
        ValueError: a parameter is out of range.

    Example:
        >>> opweave.distributions.Dirichlet(opweave.tensor([1.0, 2.0])).log_prob(opweave.tensor([0.25, 0.75]))
        tensor(0.4055)
    """

    arg_constraints = {"concentration": constraints.independent(constraints.positive, 1)}  # noqa: RUF012
    support = constraints.simplex
    has_rsample = True

    def __init__(self, concentration: Any, validate_args: bool | None = None) -> None:
        if concentration.dim() < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        super().__init__(concentration.shape[:-1], concentration.shape[-1:], validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        """The expectations."""
        return self.concentration / self.concentration.sum(-1, True)

    @property
    def mode(self) -> Tensor:
        """The most probable values."""
        rest = (self.concentration - 1).clamp(min=0.0)
        mode = rest / rest.sum(-1, True)
        none = (self.concentration < 1).all(-1, keepdim=True)
        best = mode.nan_to_num(0.0).argmax(-1, keepdim=True)
        only = ops.zeros_like(mode.detach()).scatter_(-1, best, 1.0)
        return ops.where(none, only, mode)

    @property
    def variance(self) -> Tensor:
        """The variances."""
        total = self.concentration.sum(-1, True)
        return self.concentration * (total - self.concentration) / (total.square() * (total + 1))

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Return samples with gradients."""
        return ops._sample_dirichlet(self.concentration.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithms of the densities of values."""
        a = self.concentration
        return (a - 1.0).xlogy(self._ow_checked(value)).sum(-1) + a.sum(-1).lgamma() - a.lgamma().sum(-1)

    def entropy(self) -> Tensor:
        """Return the entropies."""
        a, k = self.concentration, self.concentration.size(-1)
        total = a.sum(-1)
        rest = (k - total) * total.digamma() + ((a - 1.0) * a.digamma()).sum(-1)
        return a.lgamma().sum(-1) - total.lgamma() - rest


class Beta(ExponentialFamily):
    """Beta distribution on (0, 1): the first component of a Dirichlet distribution of two.

    Args:
        concentration1, concentration0 (number or Tensor): positive; one more than the exponents of `x` and
            `1 - x` in the density. The shapes broadcast to that of the batch.
        validate_args (bool): whether parameters and values are checked.

    Raises:
        ValueError: a parameter is out of range.

    Example:
        >>> opweave.distributions.Beta(2.0, 3.0).log_prob(opweave.tensor(0.5))
        tensor(0.4055)
    """

    arg_constraints = {"concentration1": constraints.positive, "concentration0": constraints.positive}  # noqa: RUF012
    support = constraints.unit_interval
    has_rsample = True

    def __init__(self, concentration1: Any, concentration0: Any, validate_args: bool | None = None) -> None:
        both, shape = shape_of(concentration1, concentration0)
        self._dirichlet = Dirichlet(ops.stack(list(both), -1), validate_args=False)
        super().__init__(shape, validate_args=validate_args)

    def _ow_expanded(self, made: Any, shape: Size) -> None:
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
    def mean(self) -> Tensor:
        """The expectations."""
        return self.concentration1 / (self.concentration1 + self.concentration0)

    @property
    def mode(self) -> Tensor:
        """The most probable values."""
        return self._dirichlet.mode[..., 0]

    @property
    def variance(self) -> Tensor:
        """The variances."""
        total = self.concentration1 + self.concentration0
        return self.concentration1 * self.concentration0 / (total.square() * (total + 1))

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Return samples with gradients."""
        return self._dirichlet.rsample(sample_shape).select(-1, 0)

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithms of the densities of values."""
        value = self._ow_checked(value)
        return self._dirichlet.log_prob(ops.stack([value, 1.0 - value], -1))

    def entropy(self) -> Tensor:
        """Return the entropies."""
        return self._dirichlet.entropy()


class StudentT(Symmetric):
    """Student's t-distribution with `df` degrees of freedom, around `loc`.

    Args:
        df (number or Tensor): the degrees of freedom, positive.
        loc (number or Tensor): the center.
        scale (number or Tensor): a positive factor; the shapes broadcast to that of the batch.
        validate_args (bool): whether parameters and values are checked.

    Raises:
        ValueError: a parameter is out of range.

    Example:
        >>> opweave.distributions.StudentT(3.0).log_prob(opweave.tensor([0.0, 1.0]))
        tensor([-1.0009, -1.5763])
    """

    arg_constraints = {"df": constraints.positive, "loc": constraints.real, "scale": constraints.positive}  # noqa: RUF012
    support = constraints.real
    has_rsample = True

    def __init__(self, df: Any, loc: Any = 0.0, scale: Any = 1.0, validate_args: bool | None = None) -> None:
        (self.df, self.loc, self.scale), shape = shape_of(df, loc, scale)
        super().__init__(shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        """The expectations; NaN up to one degree of freedom."""
        return self.loc.masked_fill(self.df <= 1, math.nan)

    @property
    def variance(self) -> Tensor:
        """The variances; infinite up to two degrees of freedom, NaN up to one."""
        spread = self.scale.square() * self.df / (self.df - 2)
        return ops.where(self.df > 2, spread, math.inf).masked_fill(self.df <= 1, math.nan)

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Return samples with gradients."""
        shape = self._extended_shape(sample_shape)
        x = _standard_normal(shape, self.df.dtype)
        z = Chi2(self.df, validate_args=False).rsample(sample_shape)
        return self.loc + self.scale * (x * (z / self.df).rsqrt())

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithms of the densities of values."""
        y = (self._ow_checked(value) - self.loc) / self.scale
        z = self.scale.log() + 0.5 * self.df.log() + 0.5 * math.log(math.pi)
        z = z + (0.5 * self.df).lgamma() - (0.5 * (self.df + 1.0)).lgamma()
        return -0.5 * (self.df + 1.0) * (y.square() / self.df).log1p() - z

    def entropy(self) -> Tensor:
        """Return the entropies."""
        half, more = 0.5 * self.df, 0.5 * (self.df + 1)
        beta = half.lgamma() + math.lgamma(0.5) - more.lgamma()
        return self.scale.log() + more * (more.digamma() - half.digamma()) + 0.5 * self.df.log() + beta


class FisherSnedecor(Distribution):
    """F-distribution (Fisher, Snedecor): the quotient of two means of squares, of `df1` and `df2` degrees of
    freedom.

    Args:
        df1, df2 (number or Tensor): the degrees of freedom, positive; the shapes broadcast to that of the batch.
        validate_args (bool): whether parameters and values are checked.

    Raises:
        ValueError: a parameter is out of range.

    Example:
        >>> opweave.distributions.FisherSnedecor(2.0, 3.0).log_prob(opweave.tensor(1.0))
        tensor(-1.2771)
    """

    arg_constraints = {"df1": constraints.positive, "df2": constraints.positive}  # noqa: RUF012
    support = constraints.positive
    has_rsample = True

    def __init__(self, df1: Any, df2: Any, validate_args: bool | None = None) -> None:
        (self.df1, self.df2), shape = shape_of(df1, df2)
        super().__init__(shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        """The expectations; NaN up to two degrees of freedom."""
        df2 = self.df2.masked_fill(self.df2 <= 2, math.nan)
        return df2 / (df2 - 2)

    @property
    def mode(self) -> Tensor:
        """The most probable values."""
        return ((self.df1 - 2) / self.df1 * self.df2 / (self.df2 + 2)).masked_fill(self.df1 <= 2, math.nan)

    @property
    def variance(self) -> Tensor:
        """The variances; NaN up to four degrees of freedom."""
        df2 = self.df2.masked_fill(self.df2 <= 4, math.nan)
        return 2 * df2.square() * (self.df1 + df2 - 2) / (self.df1 * (df2 - 2).square() * (df2 - 4))

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Return samples with gradients."""
        parts = (Gamma(each * 0.5, each, validate_args=False).rsample(sample_shape) for each in (self.df1, self.df2))
        above, below = parts
        return (above / below).clamp(min=finfo(below.dtype).tiny)

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithms of the densities of values."""
        value = self._ow_checked(value)
        one, two = self.df1 * 0.5, self.df2 * 0.5
        ratio = self.df1 / self.df2
        scale = (one + two).lgamma() - one.lgamma() - two.lgamma()
        return scale + one * ratio.log() + (one - 1) * value.log() - (one + two) * (ratio * value).log1p()
