"""Distributions of classes, whose probabilities stand along the last dimension."""

from __future__ import annotations

import math
from typing import Any

from .. import _operators as ops
from .._base.types import Size
from .._tensor.tensor import Tensor
from . import constraints
from .discrete import Binomial, ByProbability
from .distribution import Distribution

__all__ = ["Categorical", "Multinomial", "OneHotCategorical", "OneHotCategoricalStraightThrough"]


class Categorical(ByProbability):
    """Categorical distribution of class indices; probabilities lie along the last dimension.

    Args:
        probs, logits (Tensor): one of them: probabilities along the last dimension, which are normalized, or their
            logarithms up to a constant.
        validate_args (bool): whether parameters and values are checked.

    Raises:
        ValueError: not exactly one of `probs` and `logits` is given, or a parameter is out of range.

    Example:
        >>> opweave.distributions.Categorical(opweave.tensor([0.2, 0.3, 0.5])).log_prob(opweave.tensor([0, 2]))
        tensor([-1.6094, -0.6931])
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}  # noqa: RUF012
    has_enumerate_support = True
    _ow_binary = False

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        value = probs if logits is None else logits
        if value.dim() < 1:
            raise ValueError(f"`{'probs' if logits is None else 'logits'}` parameter must be at least one-dimensional.")
        if logits is None:
            self.probs = probs / probs.sum(-1, keepdim=True)
        else:
            self.logits = logits - logits.logsumexp(-1, keepdim=True)
        self._num_events = value.size(-1)
        super().__init__(value.size()[:-1], validate_args=validate_args)

    def _ow_expanded(self, made: Any, shape: Size) -> None:
        made._num_events = self._num_events

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        """The constraint on samples."""
        return constraints.integer_interval(0, self._num_events - 1)

    @property
    def mean(self) -> Tensor:
        """The expectations: NaN, as classes have no order."""
        return self._param.new_full(self._extended_shape(), math.nan)

    @property
    def mode(self) -> Tensor:
        """The most probable classes."""
        return self.probs.argmax(-1)

    @property
    def variance(self) -> Tensor:
        """The variances: NaN."""
        return self._param.new_full(self._extended_shape(), math.nan)

    def sample(self, sample_shape: Any = ()) -> Any:
        """Return samples."""
        sample_shape = Size(sample_shape)
        rows = self.probs.detach().reshape(-1, self._num_events)
        drawn = ops.multinomial(rows, sample_shape.numel(), True).T
        return drawn.reshape(self._extended_shape(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithms of the probabilities of classes."""
        value = self._ow_checked(value).long().unsqueeze(-1)
        shape = ops.broadcast_tensors([value, self.logits])[0].shape
        logits = self.logits.expand(shape)
        return logits.gather(-1, value.expand(shape)[..., :1]).squeeze(-1)

    def entropy(self) -> Tensor:
        """Return the entropies."""
        from .._base.finfo import finfo

        logits = self.logits.clamp(min=finfo(self.logits.dtype).min)
        return -(logits * self.probs).sum(-1)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """Return all classes."""
        values = ops.arange(self._num_events).view(-1, *(1,) * len(self._batch_shape))
        return values.expand(-1, *self._batch_shape) if expand else values


class _OfCategorical(Distribution):
    """Base of distributions whose samples are made of those of Categorical."""

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        self._categorical = Categorical(probs, logits, validate_args)
        shape = self._categorical.param_shape
        super().__init__(shape[:-1], shape[-1:], validate_args)

    def _ow_expanded(self, made: Any, shape: Size) -> None:
        made._categorical = self._categorical.expand(shape)

    @property
    def probs(self) -> Any:
        """The probabilities."""
        return self._categorical.probs

    @property
    def logits(self) -> Any:
        """The logits of the probabilities."""
        return self._categorical.logits

    @property
    def param_shape(self) -> Any:
        """The shape of parameters."""
        return self._categorical.param_shape


class OneHotCategorical(_OfCategorical):
    """Categorical distribution whose samples are one-hot vectors along the last dimension.

    Args:
        probs, logits (Tensor): one of them: probabilities along the last dimension, which are normalized, or their
            logarithms up to a constant.
        validate_args (bool): whether parameters and values are checked.

    Raises:
        ValueError: not exactly one of `probs` and `logits` is given, or a parameter is out of range.

    Example:
        >>> opweave.distributions.OneHotCategorical(opweave.tensor([0.25, 0.75])).log_prob(opweave.tensor([0.0, 1.0]))
        tensor(-0.2877)
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}  # noqa: RUF012
    support = constraints.one_hot
    has_enumerate_support = True

    @property
    def mean(self) -> Tensor:
        """The expectations."""
        return self.probs

    @property
    def mode(self) -> Tensor:
        """The most probable values."""
        best = self.probs.argmax(-1, keepdim=True)
        return ops.zeros_like(self.probs.detach()).scatter_(-1, best, 1.0)

    @property
    def variance(self) -> Tensor:
        """The variances."""
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ()) -> Any:
        """Return samples."""
        drawn = self._categorical.sample(sample_shape)
        return (drawn.unsqueeze(-1) == ops.arange(self._event_shape[0])).to(self.probs.dtype)

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithms of the probabilities of values."""
        return self._categorical.log_prob(self._ow_checked(value).max(-1)[1])

    def entropy(self) -> Tensor:
        """Return the entropies."""
        return self._categorical.entropy()

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """Return all rows."""
        n = self._event_shape[0]
        values = ops.eye(n, dtype=self.probs.dtype).view(n, *(1,) * len(self._batch_shape), n)
        return values.expand(n, *self._batch_shape, n) if expand else values


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """OneHotCategorical with the straight-through estimator: samples have the gradients of the probabilities.

    Args:
        probs, logits (Tensor): one of them: probabilities along the last dimension, which are normalized, or their
            logarithms up to a constant.
        validate_args (bool): whether parameters and values are checked.

    Raises:
        ValueError: not exactly one of `probs` and `logits` is given, or a parameter is out of range.

    Example:
        >>> distribution = opweave.distributions.OneHotCategoricalStraightThrough(opweave.tensor([0.25, 0.75]))
        >>> distribution.log_prob(opweave.tensor([0.0, 1.0]))
        tensor(-0.2877)
    """

    has_rsample = True

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Return samples with gradients."""
        return self.sample(sample_shape) + (self.probs - self.probs.detach())


class Multinomial(_OfCategorical):
    """Multinomial distribution: the number of times that each class is drawn in `total_count` independent draws.

    Args:
        total_count (int): the number of draws.
        probs, logits (Tensor): one of them: probabilities along the last dimension, which are normalized, or their
            logarithms up to a constant.
        validate_args (bool): whether parameters and values are checked.

    Raises:
        ValueError: not exactly one of `probs` and `logits` is given, or a parameter is out of range.

    Example:
        >>> opweave.distributions.Multinomial(3, opweave.tensor([0.5, 0.5])).log_prob(opweave.tensor([1.0, 2.0]))
        tensor(-0.9808)
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}  # noqa: RUF012

    def __init__(
        self, total_count: int = 1, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported")
        self.total_count = total_count
        super().__init__(probs, logits, validate_args)

    def _ow_expanded(self, made: Any, shape: Size) -> None:
        super()._ow_expanded(made, shape)
        made.total_count = self.total_count

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self) -> Any:
        """The constraint on samples."""
        return constraints.multinomial(self.total_count)

    @property
    def mean(self) -> Tensor:
        """The expectations."""
        return self.probs * self.total_count

    @property
    def variance(self) -> Tensor:
        """The variances."""
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ()) -> Any:
        """Return samples."""
        sample_shape = Size(sample_shape)
        drawn = self._categorical.sample(Size((self.total_count,)) + sample_shape)
        drawn = drawn.permute(*range(1, drawn.dim()), 0)
        counts = drawn.new_zeros(self._extended_shape(sample_shape))
        return counts.scatter_add_(-1, drawn, ops.ones_like(drawn)).type_as(self.probs)

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithms of the probabilities of values."""
        value = self._ow_checked(value)
        logits, value = ops.broadcast_tensors([self.logits, value])
        logits = logits.masked_fill((value == 0) & (logits == -math.inf), 0)
        return (value.sum(-1) + 1).lgamma() - (value + 1).lgamma().sum(-1) + (logits * value).sum(-1)

    def entropy(self) -> Tensor:
        """Return the entropies."""
        n = ops.scalar_tensor(float(self.total_count), dtype=self.probs.dtype)
        counts = Binomial(self.total_count, self.probs).enumerate_support(False)[1:]
        weights = Binomial(self.total_count, self.probs).log_prob(counts).exp()
        return n * self._categorical.entropy() - (n + 1).lgamma() + (weights * (counts + 1).lgamma()).sum((0, -1))
