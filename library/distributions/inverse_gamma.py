"""The distribution of one over numbers of a gamma distribution."""

from __future__ import annotations

import math
from typing import Any

from .. import _operators as ops
from .._tensor.tensor import Tensor
from . import constraints
from .gamma_family import Gamma
from .transformed import TransformedDistribution
from .transforms import PowerTransform

__all__ = ["InverseGamma"]


class InverseGamma(TransformedDistribution):
    """Inverse gamma distribution: the reciprocals of gamma distributed numbers.

    Args:
        concentration, rate (number or Tensor): the positive parameters of the gamma distribution; the shapes broadcast
            to that of the batch.
        validate_args (bool): whether parameters and values are checked.

    Raises:
        ValueError: a parameter is out of range.

    Example:
        >>> opweave.distributions.InverseGamma(2.0, 1.0).log_prob(opweave.tensor(1.0))
        tensor(-1.)
    """

    arg_constraints = Gamma.arg_constraints
    support = constraints.positive
    has_rsample = True

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        base = Gamma(concentration, rate, validate_args=validate_args)
        super().__init__(base, PowerTransform(-base.rate.new_ones(())), validate_args=validate_args)

    @property
    def concentration(self) -> Tensor:
        """The shapes of the gamma distributions."""
        return self.base_dist.concentration

    @property
    def rate(self) -> Tensor:
        """The rates of the gamma distributions."""
        return self.base_dist.rate

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

    def entropy(self) -> Tensor:
        """Return the entropies."""
        a = self.concentration
        return a + self.rate.log() + a.lgamma() - (1 + a) * a.digamma()
