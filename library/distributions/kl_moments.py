"""Divergences of distributions of different types: minus the entropy of the first and the expectation, under it, of the
logarithm of the second one's density, which is in terms of moments. Infinite where the first has values that the second
has not."""

from __future__ import annotations

import math
from typing import Any

from .. import _operators as ops
from .. import linalg
from .composed import MultivariateNormal, half_log_det
from .discrete import Bernoulli, Binomial, Poisson
from .gamma_family import Exponential, Gamma
from .kl import register_kl
from .matrices import LowRankMultivariateNormal, Wishart, multivariate_digamma
from .real_valued import Laplace, Normal, Uniform
from .relaxed import ContinuousBernoulli
from .shares import Beta
from .transformed import Gumbel, Pareto

_INFINITE = {
    Exponential: (Beta, ContinuousBernoulli, Pareto, Uniform),
    Gamma: (Beta, ContinuousBernoulli, Pareto, Uniform),
    Beta: (Pareto,),
    ContinuousBernoulli: (Pareto,),
    Gumbel: (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform),
    Laplace: (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform),
    Normal: (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform),
    Pareto: (Beta, ContinuousBernoulli, Uniform),
    Poisson: (Bernoulli, Binomial),
}
"""The values of these are not among those of the others."""


def _infinite(p: Any, q: Any) -> Any:
    return ops.full_like(p.mean, math.inf)


for _first, _others in _INFINITE.items():
    for _other in _others:
        register_kl(_first, _other)(_infinite)


# ---- moments ------------------------------------------------------------------------------------------------


def _mean_log(p: Any) -> Any:
    """The expectation of the logarithm."""
    if isinstance(p, Beta):
        return p.concentration1.digamma() - (p.concentration1 + p.concentration0).digamma()
    if isinstance(p, Pareto):
        return p.scale.log() + p.alpha.reciprocal()
    return (p.high.xlogy(p.high) - p.low.xlogy(p.low)) / (p.high - p.low) - 1


def _mean_exp(p: Any, factor: Any) -> Any:
    """The expectation of `exp(-x * factor)`."""
    if isinstance(p, Gamma):
        return (1 + factor / p.rate) ** -p.concentration
    if isinstance(p, Exponential):
        return p.rate / (p.rate + factor)
    if isinstance(p, Normal):
        return (0.5 * (p.scale * factor).square() - p.loc * factor).exp()
    return ((-p.low * factor).exp() - (-p.high * factor).exp()) / (factor * (p.high - p.low))


def _unless(result: Any, outside: Any) -> Any:
    return ops.where(outside, math.inf, result)


# ---- by the second distribution -----------------------------------------------------------------------------


@register_kl(Beta, Normal)
@register_kl(ContinuousBernoulli, Normal)
@register_kl(Exponential, Normal)
@register_kl(Gamma, Normal)
@register_kl(Gumbel, Normal)
@register_kl(Pareto, Normal)
def _normal(p: Any, q: Any) -> Any:
    spread = (p.variance + (p.mean - q.loc).square()) / (2 * q.scale.square())
    return spread + q.scale.log() + 0.5 * math.log(2 * math.pi) - p.entropy()


@register_kl(Beta, Exponential)
@register_kl(ContinuousBernoulli, Exponential)
@register_kl(Gamma, Exponential)
@register_kl(Pareto, Exponential)
def _exponential(p: Any, q: Any) -> Any:
    return q.rate * p.mean - q.rate.log() - p.entropy()


@register_kl(Uniform, Exponential)
def _uniform_exponential(p: Any, q: Any) -> Any:
    return _unless(_exponential(p, q), p.low < 0)


@register_kl(Beta, Gamma)
@register_kl(Pareto, Gamma)
def _gamma(p: Any, q: Any) -> Any:
    norm = q.concentration.lgamma() - q.concentration * q.rate.log()
    return norm - (q.concentration - 1) * _mean_log(p) + q.rate * p.mean - p.entropy()


@register_kl(Uniform, Gamma)
def _uniform_gamma(p: Any, q: Any) -> Any:
    return _unless(_gamma(p, q), p.low < 0)


@register_kl(Exponential, Gumbel)
@register_kl(Gamma, Gumbel)
@register_kl(Normal, Gumbel)
@register_kl(Uniform, Gumbel)
def _gumbel(p: Any, q: Any) -> Any:
    level = (q.loc / q.scale).exp() * _mean_exp(p, q.scale.reciprocal())
    return (p.mean - q.loc) / q.scale + level + q.scale.log() - p.entropy()


@register_kl(Beta, ContinuousBernoulli)
@register_kl(ContinuousBernoulli, ContinuousBernoulli)
def _continuous_bernoulli(p: Any, q: Any) -> Any:
    return -p.entropy() - p.mean * q.logits - (-q.probs).log1p() - q._ow_log_norm()


@register_kl(Uniform, ContinuousBernoulli)
def _uniform_continuous_bernoulli(p: Any, q: Any) -> Any:
    return _unless(_continuous_bernoulli(p, q), (p.high >= 1) | (p.low <= 0))


@register_kl(Beta, Uniform)
def _beta_uniform(p: Any, q: Any) -> Any:
    return _unless((q.high - q.low).log() - p.entropy(), (q.low > 0) | (q.high < 1))


@register_kl(ContinuousBernoulli, Uniform)
def _continuous_bernoulli_uniform(p: Any, q: Any) -> Any:
    return _unless((q.high - q.low).log() - p.entropy(), (q.low >= 0) | (q.high <= 1))


@register_kl(Uniform, Beta)
def _uniform_beta(p: Any, q: Any) -> Any:
    a, b = q.concentration1, q.concentration0
    mirrored = Uniform(1 - p.high, 1 - p.low, validate_args=False)
    norm = a.lgamma() + b.lgamma() - (a + b).lgamma()
    result = norm - (a - 1) * _mean_log(p) - (b - 1) * _mean_log(mirrored) - p.entropy()
    return _unless(result, (p.high > 1) | (p.low < 0))


@register_kl(Pareto, Pareto)
def _pareto(p: Any, q: Any) -> Any:
    result = (q.alpha + 1) * _mean_log(p) - q.alpha.log() - q.alpha * q.scale.log() - p.entropy()
    return _unless(result, p.scale < q.scale)


@register_kl(Uniform, Pareto)
def _uniform_pareto(p: Any, q: Any) -> Any:
    result = (q.alpha + 1) * _mean_log(p) - q.alpha.log() - q.alpha * q.scale.log() - p.entropy()
    return _unless(result, p.low < q.scale)


@register_kl(Normal, Laplace)
def _normal_laplace(p: Any, q: Any) -> Any:
    apart = p.loc - q.loc
    near = math.sqrt(2 / math.pi) * p.scale * (-0.5 * (apart / p.scale).square()).exp()
    distance = near + apart * (math.sqrt(0.5) * apart / p.scale).erf()
    return distance / q.scale + (2 * q.scale).log() - p.entropy()


@register_kl(Bernoulli, Poisson)
def _bernoulli_poisson(p: Any, q: Any) -> Any:
    return q.rate - p.probs * q.rate.log() - p.entropy()


# ---- several numbers ----------------------------------------------------------------------------------------


@register_kl(LowRankMultivariateNormal, LowRankMultivariateNormal)
@register_kl(LowRankMultivariateNormal, MultivariateNormal)
@register_kl(MultivariateNormal, LowRankMultivariateNormal)
def _low_rank(p: Any, q: Any) -> Any:
    if p.event_shape != q.event_shape:
        raise ValueError(
            "KL-divergence between two (Low Rank) Multivariate Normals with different event shapes cannot be computed"
        )
    n = p.event_shape[0]
    entropy = p.entropy() - 0.5 * n * (1 + math.log(2 * math.pi))
    rest = q.entropy() - 0.5 * n * (1 + math.log(2 * math.pi))
    spread = (q.precision_matrix * p.covariance_matrix).sum((-2, -1))
    apart = (q.loc - p.loc).unsqueeze(-1)
    length = (apart.mT @ q.precision_matrix @ apart).squeeze((-2, -1))
    return rest - entropy + 0.5 * (spread + length - n)


@register_kl(Wishart, Wishart)
def _wishart(p: Any, q: Any) -> Any:
    n = p.event_shape[-1]
    root_p, root_q = p._unbroadcasted_scale_tril, q._unbroadcasted_scale_tril
    logarithms = half_log_det(root_q) - half_log_det(root_p)
    spread = linalg.solve_triangular(root_q, root_p, upper=False).square().sum((-2, -1))
    norms = (q.df / 2).mvlgamma(n) - (p.df / 2).mvlgamma(n)
    slope = (p.df - q.df) / 2 * multivariate_digamma(p.df / 2, n)
    return q.df * logarithms + norms + slope + p.df / 2 * (spread - n)
