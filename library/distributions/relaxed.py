"""Continuous distributions that stand for discrete ones."""

from __future__ import annotations

import math
from typing import Any

from .. import _operators as ops
from .._base.types import Size
from .._tensor.tensor import Tensor
from . import constraints
from .classes import _OfCategorical
from .discrete import ByProbability
from .distribution import Distribution, ExponentialFamily
from .transformed import TransformedDistribution
from .transforms import ExpTransform, SigmoidTransform
from .utils import broadcast_all, clamp_probs, lazy_property, logits_to_probs

__all__ = [
    "ContinuousBernoulli",
    "ExpRelaxedCategorical",
    "LogitRelaxedBernoulli",
    "RelaxedBernoulli",
    "RelaxedOneHotCategorical",
]

_PROBABILITY = {"probs": constraints.unit_interval, "logits": constraints.real}
_PROBABILITIES = {"probs": constraints.simplex, "logits": constraints.real_vector}


class LogitRelaxedBernoulli(ByProbability):
    """Distribution of the logits of RelaxedBernoulli.

    Args:
        temperature (number or Tensor): positive; the lower, the nearer are samples to the discrete ones.
        probs, logits (number or Tensor): one of them: probabilities from 0 to 1, or their log-odds,
            of the shape of the batch.
        validate_args (bool): whether parameters and values are checked.

    Raises:
        ValueError: not exactly one of `probs` and `logits` is given, or a parameter is out of range.

    Example:
        >>> distribution = opweave.distributions.LogitRelaxedBernoulli(opweave.tensor(0.5), probs=opweave.tensor(0.25))
        >>> distribution.log_prob(opweave.tensor(1.0))
        tensor(-2.6600)
    """

    arg_constraints = _PROBABILITY
    support = constraints.real
    has_rsample = True

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        self.temperature = temperature
        (shape,) = self._ow_given(probs, logits)
        super().__init__(shape, validate_args=validate_args)

    def _ow_expanded(self, made: Any, shape: Size) -> None:
        made.temperature = self.temperature

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Return samples with gradients."""
        shape = self._extended_shape(sample_shape)
        probs = clamp_probs(self.probs.expand(shape))
        drawn = clamp_probs(ops.rand(shape, dtype=probs.dtype))
        return (drawn.log() - (-drawn).log1p() + probs.log() - (-probs).log1p()) / self.temperature

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithms of the densities of values."""
        logits, value = broadcast_all(self.logits, self._ow_checked(value))
        apart = logits - value * self.temperature
        return self.temperature.log() + apart - 2 * apart.exp().log1p()


class _Relaxed(TransformedDistribution):
    """Base of distributions whose parameters are those of the distribution before the transform."""

    @property
    def temperature(self) -> Any:
        """The temperature."""
        return self.base_dist.temperature

    @property
    def logits(self) -> Any:
        """The logits of the probabilities."""
        return self.base_dist.logits

    @property
    def probs(self) -> Any:
        """The probabilities."""
        return self.base_dist.probs


class RelaxedBernoulli(_Relaxed):
    """Relaxed Bernoulli (binary concrete) distribution on (0, 1), which approaches Bernoulli as the temperature goes to
    zero.

    Args:
        temperature (number or Tensor): positive; the lower, the nearer are samples to the discrete ones.
        probs, logits (number or Tensor): one of them: probabilities from 0 to 1, or their log-odds,
            of the shape of the batch.
        validate_args (bool): whether parameters and values are checked.

    Raises:
        ValueError: not exactly one of `probs` and `logits` is given, or a parameter is out of range.

    Example:
        >>> distribution = opweave.distributions.RelaxedBernoulli(opweave.tensor(0.5), probs=opweave.tensor(0.25))
        >>> distribution.log_prob(opweave.tensor(0.5))
        tensor(-0.9808)
    """

    arg_constraints = _PROBABILITY
    support = constraints.unit_interval

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        base = LogitRelaxedBernoulli(temperature, probs, logits)
        super().__init__(base, SigmoidTransform(), validate_args=validate_args)


class ExpRelaxedCategorical(_OfCategorical):
    """Distribution of the logarithms of RelaxedOneHotCategorical.

    Args:
        temperature (number or Tensor): positive; the lower, the nearer are samples to the discrete ones.
        probs, logits (Tensor): one of them: probabilities along the last dimension, which are normalized, or their
            logarithms up to a constant.
        validate_args (bool): whether parameters and values are checked.

    Raises:
        ValueError: not exactly one of `probs` and `logits` is given, or a parameter is out of range.

    Example:
        >>> probs = opweave.tensor([0.25, 0.75])
        >>> distribution = opweave.distributions.ExpRelaxedCategorical(opweave.tensor(0.5), probs)
        >>> distribution.log_prob(opweave.tensor([-0.6931, -0.6931]))
        tensor(-2.3671)
    """

    arg_constraints = _PROBABILITIES
    support = constraints.real_vector
    has_rsample = True

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        self.temperature = temperature
        super().__init__(probs, logits, validate_args)

    def _ow_expanded(self, made: Any, shape: Size) -> None:
        super()._ow_expanded(made, shape)
        made.temperature = self.temperature

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Return samples with gradients."""
        drawn = clamp_probs(ops.rand(self._extended_shape(sample_shape), dtype=self.logits.dtype))
        scores = (self.logits - (-drawn.log()).log()) / self.temperature
        return scores - scores.logsumexp(-1, keepdim=True)

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithms of the densities of values."""
        logits, value = broadcast_all(self.logits, self._ow_checked(value))
        count = self._categorical._num_events
        scale = ops.full_like(self.temperature, float(count)).lgamma() + self.temperature.log() * (count - 1)
        score = logits - value * self.temperature
        return (score - score.logsumexp(-1, keepdim=True)).sum(-1) + scale


class RelaxedOneHotCategorical(_Relaxed):
    """Relaxed one-hot categorical (concrete, Gumbel-softmax) distribution on the simplex, which approaches
    OneHotCategorical as the temperature goes to zero.

    Args:
        temperature (number or Tensor): positive; the lower, the nearer are samples to the discrete ones.
        probs, logits (Tensor): one of them: probabilities along the last dimension, which are normalized, or their
            logarithms up to a constant.
        validate_args (bool): whether parameters and values are checked.

    Raises:
        ValueError: not exactly one of `probs` and `logits` is given, or a parameter is out of range.

    Example:
        >>> probs = opweave.tensor([0.25, 0.75])
        >>> distribution = opweave.distributions.RelaxedOneHotCategorical(opweave.tensor(0.5), probs)
        >>> distribution.log_prob(opweave.tensor([0.5, 0.5]))
        tensor(-0.9808)
    """

    arg_constraints = _PROBABILITIES
    support = constraints.simplex

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        base = ExpRelaxedCategorical(temperature, probs, logits, validate_args=validate_args)
        super().__init__(base, ExpTransform(), validate_args=validate_args)


class ContinuousBernoulli(ByProbability, ExponentialFamily):
    """Continuous Bernoulli distribution on [0, 1]: the density is proportional to `probs ** x * (1 - probs) ** (1 -
    x)`.

    Args:
        probs, logits (number or Tensor): one of them.
        lims (tuple of float): between these, series around one half are used for what is not defined there.
        validate_args (bool): whether parameters and values are checked.

    Example:
        >>> opweave.distributions.ContinuousBernoulli(0.25).log_prob(opweave.tensor(0.5))
        tensor(-0.0498)
    """

    arg_constraints = _PROBABILITY
    support = constraints.unit_interval
    has_rsample = True

    def __init__(
        self,
        probs: Any = None,
        logits: Any = None,
        lims: tuple[float, float] = (0.499, 0.501),
        validate_args: bool | None = None,
    ) -> None:
        (shape,) = self._ow_given(probs, logits)
        if logits is None:
            if validate_args and not bool(constraints.unit_interval.check(self.probs).all()):
                raise ValueError("The parameter probs has invalid values")
            self.probs = clamp_probs(self.probs)
        self._lims = lims
        Distribution.__init__(self, shape, validate_args=validate_args)

    def _ow_expanded(self, made: Any, shape: Size) -> None:
        made._lims = self._lims

    @lazy_property
    def probs(self) -> Any:
        """The probabilities, which are neither 0 nor 1."""
        return clamp_probs(logits_to_probs(self.logits, is_binary=True))

    def _ow_outside(self) -> Any:
        return (self.probs <= self._lims[0]) | (self.probs > self._lims[1])

    def _ow_split(self) -> tuple[Any, Any, Any]:
        """The probabilities outside of the limits, and the distances from one half."""
        outside = self._ow_outside()
        return outside, ops.where(outside, self.probs, self._lims[0]), self.probs - 0.5

    def _ow_log_norm(self) -> Any:
        outside, p, x = self._ow_split()
        below, above = ops.where(p <= 0.5, p, 0.0), ops.where(p >= 0.5, p, 1.0)
        slope = ops.where(p <= 0.5, (-2.0 * below).log1p(), (2.0 * above - 1.0).log())
        x = x.square()
        series = math.log(2.0) + (4.0 / 3.0 + 104.0 / 45.0 * x) * x
        return ops.where(outside, ((-p).log1p() - p.log()).abs().log() - slope, series)

    @property
    def mean(self) -> Tensor:
        """The expectations."""
        outside, p, x = self._ow_split()
        series = 0.5 + (1.0 / 3.0 + 16.0 / 45.0 * x.square()) * x
        return ops.where(outside, p / (2.0 * p - 1.0) + 1.0 / ((-p).log1p() - p.log()), series)

    @property
    def variance(self) -> Tensor:
        """The variances."""
        outside, p, x = self._ow_split()
        x = x.square()
        series = 1.0 / 12.0 - (1.0 / 15.0 - 128.0 / 945.0 * x) * x
        exact = p * (p - 1.0) / (1.0 - 2.0 * p).square() + 1.0 / ((-p).log1p() - p.log()).square()
        return ops.where(outside, exact, series)

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Return samples with gradients."""
        return self.icdf(ops.rand(self._extended_shape(sample_shape), dtype=self.probs.dtype))

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithms of the densities of values."""
        value = self._ow_checked(value)
        one, zero = self._ow_log_probs()
        return value * one + (1 - value) * zero + self._ow_log_norm()

    def cdf(self, value: Any) -> Tensor:
        """Return the probabilities of values that are not larger."""
        value = self._ow_checked(value)
        outside, p, _ = self._ow_split()
        inside = ops.where(outside, (p**value * (1.0 - p) ** (1.0 - value) + p - 1.0) / (2.0 * p - 1.0), value)
        return ops.where(value <= 0.0, 0.0, ops.where(value >= 1.0, 1.0, inside))

    def icdf(self, value: Any) -> Tensor:
        """Return the values below which samples are with such probabilities."""
        outside, p, _ = self._ow_split()
        low = (-p).log1p()
        return ops.where(outside, ((-p + value * (2.0 * p - 1.0)).log1p() - low) / (p.log() - low), value)

    def entropy(self) -> Tensor:
        """Return the entropies."""
        zero, one = (-self.probs).log1p(), self.probs.log()
        return self.mean * (zero - one) - self._ow_log_norm() - zero
