"""Mixtures of the distributions of a batch."""

from __future__ import annotations

from typing import Any

from .._autograd.grad_mode import no_grad
from .._base.types import Size
from .._tensor.tensor import Tensor
from . import constraints
from .classes import Categorical
from .distribution import Distribution

__all__ = ["MixtureSameFamily"]


class MixtureSameFamily(Distribution):
    """Mixture distribution whose components are the distributions along the last dimension of a batch.

    Args:
        mixture_distribution (Categorical): the probabilities of the components.
        component_distribution (Distribution): the components.
        validate_args (bool): whether values are checked.

    Example:
        >>> weights = opweave.distributions.Categorical(opweave.tensor([0.5, 0.5]))
        >>> parts = opweave.distributions.Normal(opweave.tensor([-1.0, 1.0]), 1.0)
        >>> opweave.distributions.MixtureSameFamily(weights, parts).log_prob(opweave.tensor(0.0))
        tensor(-1.4189)
    """

    arg_constraints = {}  # noqa: RUF012

    def __init__(
        self, mixture_distribution: Any, component_distribution: Any, validate_args: bool | None = None
    ) -> None:
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError("The Mixture distribution needs to be an  instance of opweave.distributions.Categorical")
        if not isinstance(component_distribution, Distribution):
            raise ValueError("The Component distribution need to be an instance of opweave.distributions.Distribution")
        count = mixture_distribution.logits.size(-1)
        if component_distribution.batch_shape[-1] != count:
            raise ValueError(
                f"`mixture_distribution component` ({count}) does not equal "
                f"`component_distribution.batch_shape[-1]` ({component_distribution.batch_shape[-1]})"
            )
        self.mixture_distribution, self.component_distribution = mixture_distribution, component_distribution
        super().__init__(
            component_distribution.batch_shape[:-1], component_distribution.event_shape, validate_args=validate_args
        )

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """Return a distribution whose parameters are expanded to another batch shape."""
        shape = Size(batch_shape)
        parts = self.component_distribution.expand((*shape, self.component_distribution.batch_shape[-1]))
        made = self._ow_instance(_instance)
        MixtureSameFamily.__init__(made, self.mixture_distribution.expand(shape), parts, self._validate_args)
        return made

    @constraints.dependent_property
    def support(self) -> Any:
        """The constraint on samples."""
        return constraints.MixtureSameFamilyConstraint(self.component_distribution.support)

    def _ow_weights(self) -> Any:
        probs = self.mixture_distribution.probs
        return probs.reshape((*probs.shape, *(1,) * len(self._event_shape)))

    @property
    def mean(self) -> Tensor:
        """The expectations."""
        return (self._ow_weights() * self.component_distribution.mean).sum(-1 - len(self._event_shape))

    @property
    def variance(self) -> Tensor:
        """The variances."""
        dim, parts = -1 - len(self._event_shape), self.component_distribution
        apart = parts.mean - self.mean.unsqueeze(dim)
        return (self._ow_weights() * (parts.variance + apart.square())).sum(dim)

    def _ow_spread(self, value: Any) -> Any:
        return value.unsqueeze(-1 - len(self._event_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithms of the densities of values."""
        parts = self.component_distribution.log_prob(self._ow_spread(self._ow_checked(value)))
        return (parts + self.mixture_distribution.logits.log_softmax(-1)).logsumexp(-1)

    def cdf(self, value: Any) -> Tensor:
        """Return the probabilities of values that are not larger."""
        return (self.component_distribution.cdf(self._ow_spread(value)) * self.mixture_distribution.probs).sum(-1)

    def sample(self, sample_shape: Any = ()) -> Any:
        """Return samples."""
        with no_grad():
            chosen = self.mixture_distribution.sample(sample_shape)
            drawn = self.component_distribution.sample(sample_shape)
            dim = len(tuple(sample_shape)) + len(self._batch_shape)
            shape = (*chosen.shape, 1, *self._event_shape)
            places = chosen.reshape((*chosen.shape, 1, *(1,) * len(self._event_shape))).expand(shape)
            return drawn.gather(dim, places).squeeze(dim)

    def __repr__(self) -> str:
        return f"MixtureSameFamily(\n  {self.mixture_distribution},\n  {self.component_distribution})"
