"""Distributions of counts."""

from __future__ import annotations

import math
from typing import Any

from .. import _operators as ops
from .. import special
from .._autograd.grad_mode import no_grad
from .._base.types import Size
from .._tensor.tensor import Tensor
from . import constraints
from .distribution import Distribution, ExponentialFamily
from .utils import lazy_property, logits_to_probs, probs_to_logits, shape_of

__all__ = ["Bernoulli", "Binomial", "Geometric", "NegativeBinomial", "Poisson"]


class ByProbability(Distribution):
    """Base class of distributions that are given by probabilities or by logits."""

    _ow_binary = True

    def _ow_given(self, probs: Any, logits: Any, *others: Any) -> tuple[Any, ...]:
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        name, value = ("probs", probs) if logits is None else ("logits", logits)
        (*rest, value), shape = shape_of(*others, value)
        setattr(self, name, value)
        self._is_logits = logits is not None
        return (*(each.type_as(value) for each in rest), shape)

    def _ow_expanded(self, made: Any, shape: Size) -> None:
        made._is_logits = self._is_logits

    @property
    def _param(self) -> Any:
        return self.logits if "logits" in self.__dict__ and "probs" not in self.__dict__ else self.probs

    @lazy_property
    def logits(self) -> Any:
        """The logits of the probabilities."""
        return probs_to_logits(self.probs, is_binary=self._ow_binary)

    @lazy_property
    def probs(self) -> Any:
        """The probabilities."""
        return logits_to_probs(self.logits, is_binary=self._ow_binary)

    @property
    def param_shape(self) -> Size:
        """The shape of parameters."""
        return self._param.size()

    def _ow_new(self, *args: Any, **kwargs: Any) -> Any:
        return self._param.new(*args, **kwargs)

    def _ow_log_probs(self) -> tuple[Any, Any]:
        """The logarithms of the probabilities of one and of zero."""
        from ..nn.functional import logsigmoid

        return logsigmoid(self.logits), logsigmoid(-self.logits)


_PROBABILITY = {"probs": constraints.unit_interval, "logits": constraints.real}


class Bernoulli(ByProbability, ExponentialFamily):
    """Bernoulli distribution: 1 with probability `probs`, else 0.

    Args:
        probs, logits (number or Tensor): one of them: probabilities from 0 to 1, or their log-odds,
            of the shape of the batch.
        validate_args (bool): whether parameters and values are checked.

    Raises:
        ValueError: not exactly one of `probs` and `logits` is given, or a parameter is out of range.

    Example:
        >>> opweave.distributions.Bernoulli(0.25).log_prob(opweave.tensor([0.0, 1.0]))
        tensor([-0.2877, -1.3863])
    """

    arg_constraints = _PROBABILITY
    support = constraints.boolean
    has_enumerate_support = True

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        (shape,) = self._ow_given(probs, logits)
        super().__init__(shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        """The expectations."""
        return self.probs

    @property
    def mode(self) -> Tensor:
        """The most probable values; NaN where both are."""
        return (self.probs >= 0.5).to(self.probs.dtype).masked_fill(self.probs == 0.5, math.nan)

    @property
    def variance(self) -> Tensor:
        """The variances."""
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ()) -> Any:
        """Return samples."""
        with no_grad():
            return ops.bernoulli(self.probs.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithms of the probabilities of values."""
        value = self._ow_checked(value)
        one, zero = self._ow_log_probs()
        return value * one + (1 - value) * zero

    def entropy(self) -> Tensor:
        """Return the entropies."""
        one, zero = self._ow_log_probs()
        return -(self.probs * one + (1 - self.probs) * zero)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """Return zeros and ones."""
        values = ops.arange(2, dtype=self._param.dtype).view(-1, *(1,) * len(self._batch_shape))
        return values.expand(-1, *self._batch_shape) if expand else values


class Geometric(ByProbability):
    """Geometric distribution: the number of failures before the first success, which has probability `probs`.

    Args:
        probs, logits (number or Tensor): one of them: probabilities from 0 to 1, or their log-odds,
            of the shape of the batch.
        validate_args (bool): whether parameters and values are checked.

    Raises:
        ValueError: not exactly one of `probs` and `logits` is given, or a parameter is out of range.

    Example:
        >>> opweave.distributions.Geometric(0.25).log_prob(opweave.tensor([0.0, 2.0]))
        tensor([-1.3863, -1.9617])
    """

    arg_constraints = _PROBABILITY
    support = constraints.nonnegative_integer

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        (shape,) = self._ow_given(probs, logits)
        super().__init__(shape, validate_args=validate_args)
        if self._validate_args and probs is not None and not bool((self.probs > 0).all()):
            raise ValueError(f"Expected parameter probs of distribution {self!r} to be positive but found {self.probs}")

    @property
    def mean(self) -> Tensor:
        """The expectations."""
        return 1 / self.probs - 1

    @property
    def mode(self) -> Tensor:
        """The most probable values: zeros."""
        return ops.zeros_like(self.probs)

    @property
    def variance(self) -> Tensor:
        """The variances."""
        return (1 / self.probs - 1) / self.probs

    def sample(self, sample_shape: Any = ()) -> Any:
        """Return samples."""
        from .._base.finfo import finfo

        shape = self._extended_shape(sample_shape)
        with no_grad():
            u = self.probs.new_empty(shape).uniform_(finfo(self.probs.dtype).tiny, 1)
            return (u.log() / (-self.probs).log1p()).floor()

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithms of the probabilities of values, also where a probability rounds to 0 or 1."""
        if self._is_logits:
            one, zero = self._ow_log_probs()
            return self._ow_checked(value) * zero + one
        value, probs = ops.broadcast_tensors([self._ow_checked(value), self.probs])
        zero = (probs == 1) & (value == 0)
        return value * (-probs.masked_fill(zero, 0)).log1p() + self.probs.log()

    def entropy(self) -> Tensor:
        """Return the entropies, also where a probability rounds to 0 or 1."""
        from .._base.finfo import finfo

        if not self._is_logits:
            return -self.probs.log() - special.xlog1py(1 - self.probs, -self.probs) / self.probs
        one, zero = self._ow_log_probs()
        # The odds against success times -zero: 1 where the probability is less than its last digit.
        rare = self.logits < math.log(finfo(self.logits.dtype).eps)
        return (-zero * (-self.logits.masked_fill(rare, 0.0)).exp()).masked_fill(rare, 1.0) - one


class Binomial(ByProbability):
    """Binomial distribution: the number of successes in `total_count` trials, each with probability `probs`.

    Args:
        total_count (int or Tensor): the number of trials, not negative.
        probs, logits (number or Tensor): one of them: probabilities from 0 to 1, or their log-odds; the shapes
            broadcast to that of the batch.
        validate_args (bool): whether parameters and values are checked.

    Raises:
        ValueError: not exactly one of `probs` and `logits` is given, or a parameter is out of range.

    Example:
        >>> opweave.distributions.Binomial(total_count=4, probs=0.5).log_prob(opweave.tensor([0.0, 2.0]))
        tensor([-2.7726, -0.9808])
    """

    arg_constraints = {"total_count": constraints.nonnegative_integer, **_PROBABILITY}  # noqa: RUF012
    has_enumerate_support = True

    def __init__(
        self, total_count: Any = 1, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        self.total_count, shape = self._ow_given(probs, logits, total_count)
        super().__init__(shape, validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        """The constraint on samples."""
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self) -> Tensor:
        """The expectations."""
        return self.total_count * self.probs

    @property
    def mode(self) -> Tensor:
        """The most probable values."""
        return ((self.total_count + 1) * self.probs).floor().clamp(max=self.total_count)

    @property
    def variance(self) -> Tensor:
        """The variances."""
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ()) -> Any:
        """Return samples."""
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return ops.binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithms of the probabilities of values."""
        value, count = self._ow_checked(value), self.total_count
        ways = (count + 1).lgamma() - (value + 1).lgamma() - (count - value + 1).lgamma()
        _, failure = self._ow_log_probs()
        return value * self.logits + ways + count * failure

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """Return all counts. Raises NotImplementedError where `total_count` is not one number."""
        most = int(self.total_count.max().item())
        if int(self.total_count.min().item()) != most:
            raise NotImplementedError("Inhomogeneous total count not supported by `enumerate_support`.")
        values = ops.arange(1 + most, dtype=self._param.dtype).view(-1, *(1,) * len(self._batch_shape))
        return values.expand(-1, *self._batch_shape) if expand else values

    def entropy(self) -> Tensor:
        """Return the entropies. Raises NotImplementedError where `total_count` is not one number."""
        logarithms = self.log_prob(self.enumerate_support(False))
        return -(logarithms.exp() * logarithms).sum(0)


class NegativeBinomial(ByProbability):
    """Negative binomial distribution: the number of successes, with probability `probs` each, before `total_count`
    failures.

    Args:
        total_count (number or Tensor): the number of failures, not negative; it need not be an integer.
        probs, logits (number or Tensor): one of them: probabilities from 0 to 1, or their log-odds; the shapes
            broadcast to that of the batch.
        validate_args (bool): whether parameters and values are checked.

    Raises:
        ValueError: not exactly one of `probs` and `logits` is given, or a parameter is out of range.

    Example:
        >>> opweave.distributions.NegativeBinomial(3, probs=0.5).log_prob(opweave.tensor(2.0))
        tensor(-1.6740)
    """

    arg_constraints = {  # noqa: RUF012
        "total_count": constraints.nonnegative,
        "probs": constraints.half_open_interval(0.0, 1.0),
        "logits": constraints.real,
    }
    support = constraints.nonnegative_integer

    def __init__(
        self, total_count: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        self.total_count, shape = self._ow_given(probs, logits, total_count)
        super().__init__(shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        """The expectations."""
        return self.total_count * self.logits.exp()

    @property
    def mode(self) -> Tensor:
        """The most probable values."""
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0.0)

    @property
    def variance(self) -> Tensor:
        """The variances."""
        return self.mean / (-self.logits).sigmoid()

    def sample(self, sample_shape: Any = ()) -> Any:
        """Return samples."""
        from .gamma_family import Gamma

        with no_grad():
            rate = Gamma(self.total_count, (-self.logits).exp(), validate_args=False).sample(sample_shape)
            return ops.poisson(rate)

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithms of the probabilities of values."""
        value = self._ow_checked(value)
        one, zero = self._ow_log_probs()
        ways = -(self.total_count + value).lgamma() + (1.0 + value).lgamma() + self.total_count.lgamma()
        return self.total_count * zero + value * one - ways.masked_fill(self.total_count + value == 0.0, 0.0)


class Poisson(ExponentialFamily):
    """Poisson distribution: the number of events where `rate` are expected.

    Args:
        rate (number or Tensor): the expectation, not negative.
        validate_args (bool): whether parameters and values are checked.

    Raises:
        ValueError: a parameter is out of range.

    Example:
        >>> opweave.distributions.Poisson(2.0).log_prob(opweave.tensor([0.0, 3.0]))
        tensor([-2.0000, -1.7123])
    """

    arg_constraints = {"rate": constraints.nonnegative}  # noqa: RUF012
    support = constraints.nonnegative_integer

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        (self.rate,), shape = shape_of(rate)
        super().__init__(shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        """The expectations."""
        return self.rate

    @property
    def mode(self) -> Tensor:
        """The most probable values."""
        return self.rate.floor()

    @property
    def variance(self) -> Tensor:
        """The variances."""
        return self.rate

    def sample(self, sample_shape: Any = ()) -> Any:
        """Return samples."""
        with no_grad():
            return ops.poisson(self.rate.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithms of the probabilities of values."""
        rate, value = ops.broadcast_tensors([self.rate, self._ow_checked(value)])
        return value.xlogy(rate) - rate - (value + 1).lgamma()
