"""Kullback-Leibler divergences of distributions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from .. import _operators as ops
from .. import linalg
from .classes import Categorical, OneHotCategorical
from .composed import Independent, MultivariateNormal, half_log_det
from .discrete import Bernoulli, Binomial, Geometric, Poisson
from .gamma_family import Exponential, Gamma
from .half import HalfNormal
from .real_valued import Cauchy, Laplace, Normal, Uniform
from .shares import Beta, Dirichlet
from .transformed import Gumbel, LogNormal, TransformedDistribution
from .utils import _sum_rightmost, euler_constant

__all__ = ["kl_divergence", "register_kl"]

_registered: dict[tuple[type, type], Callable[[Any, Any], Any]] = {}


def register_kl(type_p: type, type_q: type) -> Callable[[Any], Any]:
    """Decorate the function that computes the KL divergence of one type of distribution from another. The types may be
    any classes, as those of libraries that have distributions of their own.

    Raises:
        TypeError: it is no type.
    """
    for name, kind in (("type_p", type_p), ("type_q", type_q)):
        if not isinstance(kind, type):
            raise TypeError(f"Expected {name} to be a class but got {kind}")

    def decorate(function: Any) -> Any:
        _registered[type_p, type_q] = function
        return function

    return decorate


def kl_divergence(p: Any, q: Any) -> Any:
    """Return the Kullback-Leibler divergence of `p` from `q`, `E_p[log p - log q]`, of the batch's shape.

    Raises:
        NotImplementedError: there is no formula for these types.
    """
    for kind_p in type(p).__mro__:
        for kind_q in type(q).__mro__:
            function = _registered.get((kind_p, kind_q))
            if function is not None:
                return function(p, q)
    raise NotImplementedError(f"No KL(p || q) is implemented for p type {p.__class__.__name__} and q type "
                              f"{q.__class__.__name__}")  # fmt: skip


@register_kl(Normal, Normal)
def _normal(p: Any, q: Any) -> Any:
    ratio = (p.scale / q.scale).square()
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale).square() - 1 - ratio.log())


@register_kl(HalfNormal, HalfNormal)
def _half_normal(p: Any, q: Any) -> Any:
    return _normal(p.base_dist, q.base_dist)


@register_kl(Laplace, Laplace)
def _laplace(p: Any, q: Any) -> Any:
    ratio, apart = p.scale / q.scale, (p.loc - q.loc).abs()
    return -ratio.log() + apart / q.scale + ratio * (-apart / p.scale).exp() - 1


@register_kl(Cauchy, Cauchy)
def _cauchy(p: Any, q: Any) -> Any:
    both = (p.scale + q.scale).square() + (p.loc - q.loc).square()
    return both.log() - (4 * p.scale * q.scale).log()


@register_kl(Gumbel, Gumbel)
def _gumbel(p: Any, q: Any) -> Any:
    ratio, scaled = p.scale / q.scale, p.loc / q.scale
    first = q.loc / q.scale
    log_ratio = -ratio.log() - first + scaled
    return log_ratio + ratio * euler_constant + (first + (1 + ratio).lgamma() - scaled).exp() - (1 + euler_constant)


@register_kl(Uniform, Uniform)
def _uniform(p: Any, q: Any) -> Any:
    result = ((q.high - q.low) / (p.high - p.low)).log()
    return result.masked_fill((q.low > p.low) | (q.high < p.high), math.inf)


@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p: Any, q: Any) -> Any:
    one = p.probs * (ops.softplus(-q.logits) - ops.softplus(-p.logits))
    one = one.masked_fill(q.probs == 0, math.inf).masked_fill(p.probs == 0, 0)
    zero = (1 - p.probs) * (ops.softplus(q.logits) - ops.softplus(p.logits))
    return one + zero.masked_fill(q.probs == 1, math.inf).masked_fill(p.probs == 1, 0)


@register_kl(Binomial, Binomial)
def _binomial(p: Any, q: Any) -> Any:
    if bool((p.total_count > q.total_count).any()):
        return ops.full_like(p.probs, math.inf)
    return p.total_count * (p.probs * (p.logits - q.logits) + (-p.probs).log1p() - (-q.probs).log1p())


@register_kl(Geometric, Geometric)
def _geometric(p: Any, q: Any) -> Any:
    return -p.entropy() - (-q.probs).log1p() / p.probs - q.logits


@register_kl(Poisson, Poisson)
def _poisson(p: Any, q: Any) -> Any:
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@register_kl(Categorical, Categorical)
def _categorical(p: Any, q: Any) -> Any:
    terms = p.probs * (p.logits - q.logits)
    return terms.masked_fill(q.probs == 0, math.inf).masked_fill(p.probs == 0, 0).sum(-1)


@register_kl(OneHotCategorical, OneHotCategorical)
def _one_hot(p: Any, q: Any) -> Any:
    return _categorical(p._categorical, q._categorical)


@register_kl(Exponential, Exponential)
def _exponential(p: Any, q: Any) -> Any:
    ratio = q.rate / p.rate
    return -ratio.log() + ratio - 1


@register_kl(Gamma, Gamma)
def _gamma(p: Any, q: Any) -> Any:
    parts = q.concentration * (p.rate / q.rate).log() + q.concentration.lgamma() - p.concentration.lgamma()
    parts = parts + (p.concentration - q.concentration) * p.concentration.digamma()
    return parts + (q.rate - p.rate) * (p.concentration / p.rate)


@register_kl(Beta, Beta)
def _beta(p: Any, q: Any) -> Any:
    return _dirichlet(p._dirichlet, q._dirichlet)


@register_kl(Dirichlet, Dirichlet)
def _dirichlet(p: Any, q: Any) -> Any:
    a, b = p.concentration, q.concentration
    total = a.sum(-1)
    first = total.lgamma() - b.sum(-1).lgamma() - (a.lgamma() - b.lgamma()).sum(-1)
    return first + ((a - b) * (a.digamma() - total.digamma().unsqueeze(-1))).sum(-1)


@register_kl(MultivariateNormal, MultivariateNormal)
def _multivariate_normal(p: Any, q: Any) -> Any:
    if p.event_shape != q.event_shape:
        raise ValueError(
            "KL-divergence between two Multivariate Normals with different event shapes cannot be computed"
        )
    root_p, root_q = p._unbroadcasted_scale_tril, q._unbroadcasted_scale_tril
    logarithms = half_log_det(root_q) - half_log_det(root_p)
    spread = linalg.solve_triangular(root_q, root_p, upper=False).square().sum((-2, -1))
    apart = linalg.solve_triangular(root_q, (q.loc - p.loc).unsqueeze(-1), upper=False).square().sum((-2, -1))
    return logarithms + 0.5 * (spread + apart - p.event_shape[0])


@register_kl(LogNormal, LogNormal)
def _log_normal(p: Any, q: Any) -> Any:
    return _normal(p.base_dist, q.base_dist)


@register_kl(TransformedDistribution, TransformedDistribution)
def _transformed(p: Any, q: Any) -> Any:
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError("the divergence of distributions of different transforms is not known")
    return kl_divergence(p.base_dist, q.base_dist)


@register_kl(Independent, Independent)
def _independent(p: Any, q: Any) -> Any:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError("the divergence of distributions of different dimensions is not known")
    return _sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)


@register_kl(Uniform, Normal)
def _uniform_normal(p: Any, q: Any) -> Any:
    width = p.high - p.low
    first = (math.sqrt(math.pi * 2) * q.scale / width).log()
    return first + (width.square() / 12 + ((p.high + p.low) / 2 - q.loc).square()) / 2 / q.scale.square()


@register_kl(Laplace, Normal)
def _laplace_normal(p: Any, q: Any) -> Any:
    ratio, apart = (p.scale / q.scale).square(), (p.loc - q.loc) / q.scale
    return -0.5 * (2 * ratio / math.pi).log() + ratio + 0.5 * apart.square() - 1


@register_kl(Exponential, Gamma)
def _exponential_gamma(p: Any, q: Any) -> Any:
    ratio = q.rate / p.rate
    return (
        -q.concentration * ratio.log()
        + ratio
        + q.concentration.lgamma()
        + q.concentration * euler_constant
        - (1 + euler_constant)
    )
