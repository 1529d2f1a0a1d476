"""Distributions of absolute values of numbers that are distributed around zero."""

from __future__ import annotations

import math
from typing import Any

from .. import _operators as ops
from .._tensor.tensor import Tensor
from . import constraints
from .real_valued import Cauchy, Normal
from .transformed import TransformedDistribution
from .transforms import AbsTransform

__all__ = ["HalfCauchy", "HalfNormal"]


class _Half(TransformedDistribution):
    """The absolute values of a distribution around zero."""

    arg_constraints = {"scale": constraints.positive}  # noqa: RUF012
    support = constraints.nonnegative
    has_rsample = True
    _ow_base: type

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(self._ow_base(0, scale, validate_args=False), AbsTransform(), validate_args=validate_args)

    @property
    def scale(self) -> Tensor:
        """The scales of the numbers whose absolute values these are."""
        return self.base_dist.scale

    @property
    def mode(self) -> Tensor:
        """The most probable values: zeros."""
        return ops.zeros_like(self.scale)

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithms of the densities of values."""
        value = self._ow_checked(value)
        return ops.where(value >= 0, self.base_dist.log_prob(value) + math.log(2), -math.inf)

    def cdf(self, value: Any) -> Tensor:
        """Return the probabilities of values that are not larger."""
        return 2 * self.base_dist.cdf(self._ow_checked(value)) - 1

    def icdf(self, value: Any) -> Tensor:
        """Return the values below which samples are with such probabilities."""
        return self.base_dist.icdf((value + 1) / 2)

    def entropy(self) -> Tensor:
        """Return the entropies."""
        return self.base_dist.entropy() - math.log(2)


class HalfNormal(_Half):
    """Half-normal distribution: the absolute values of normally distributed numbers around zero.

    Args:
        scale (number or Tensor): the standard deviation of the normal numbers, positive.
        validate_args (bool): whether parameters and values are checked.

    Raises:
        ValueError: a parameter is out of range.

    Example:
        >>> opweave.distributions.HalfNormal(1.0).log_prob(opweave.tensor(1.0))
        tensor(-0.7258)
    """

    _ow_base = Normal

    @property
    def mean(self) -> Tensor:
        """The expectations."""
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def variance(self) -> Tensor:
        """The variances."""
        return self.scale.square() * (1 - 2 / math.pi)


class HalfCauchy(_Half):
    """Half-Cauchy distribution: the absolute values of Cauchy distributed numbers around zero.

    Args:
        scale (number or Tensor): the scale of the Cauchy distributed numbers, positive.
        validate_args (bool): whether parameters and values are checked.

    Raises:
        ValueError: a parameter is out of range.

    Example:
        >>> opweave.distributions.HalfCauchy(1.0).log_prob(opweave.tensor(1.0))
        tensor(-1.1447)
    """

    _ow_base = Cauchy

    @property
    def mean(self) -> Tensor:
        """The expectations: infinite."""
        return ops.full_like(self.scale, math.inf)

    @property
    def variance(self) -> Tensor:
        """The variances: infinite."""
        return ops.full_like(self.scale, math.inf)
