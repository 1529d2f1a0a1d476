"""opweave.distributions: probability distributions, as in torch.distributions. A seed draws the same numbers."""

# ruff: noqa: F405 (the names in __all__ are those of the modules, in full for type checkers)
from __future__ import annotations

from . import constraints, transforms
from . import kl_moments as kl_moments  # registers divergences
from .bounded import *  # noqa: F403
from .classes import *  # noqa: F403
from .composed import *  # noqa: F403
from .constraint_registry import biject_to, transform_to
from .discrete import *  # noqa: F403
from .distribution import Distribution, ExponentialFamily
from .gamma_family import *  # noqa: F403
from .half import *  # noqa: F403
from .inverse_gamma import *  # noqa: F403
from .kl import kl_divergence, register_kl
from .lkj_cholesky import *  # noqa: F403
from .matrices import *  # noqa: F403
from .mixture_same_family import *  # noqa: F403
from .module_names import named_modules
from .real_valued import *  # noqa: F403
from .relaxed import *  # noqa: F403
from .shares import *  # noqa: F403
from .transformed import *  # noqa: F403
from .transforms import *  # noqa: F403

__all__ = [
    "AbsTransform", "AffineTransform", "Bernoulli", "Beta", "Binomial", "CatTransform", "Categorical", "Cauchy",
    "Chi2", "ComposeTransform", "ContinuousBernoulli", "CorrCholeskyTransform", "CumulativeDistributionTransform",
    "Dirichlet", "Distribution", "ExpRelaxedCategorical", "ExpTransform", "Exponential", "ExponentialFamily",
    "FisherSnedecor", "Gamma", "GeneralizedPareto", "Geometric", "Gumbel", "HalfCauchy", "HalfNormal", "Independent",
    "IndependentTransform", "InverseGamma", "Kumaraswamy", "LKJCholesky", "Laplace", "LogNormal", "LogisticNormal",
    "LogitRelaxedBernoulli", "LowRankMultivariateNormal", "LowerCholeskyTransform", "MixtureSameFamily",
    "Multinomial", "MultivariateNormal", "NegativeBinomial", "Normal", "OneHotCategorical",
    "OneHotCategoricalStraightThrough", "Pareto", "Poisson", "PositiveDefiniteTransform", "PowerTransform",
    "RelaxedBernoulli", "RelaxedOneHotCategorical", "ReshapeTransform", "SigmoidTransform", "SoftmaxTransform",
    "SoftplusTransform", "StackTransform", "StickBreakingTransform", "StudentT", "TanhTransform", "Transform",
    "TransformedDistribution", "Uniform", "VonMises", "Weibull", "Wishart", "biject_to", "constraints",
    "identity_transform", "kl_divergence", "register_kl", "transform_to", "transforms",
]  # fmt: skip

globals().update(named_modules(__name__, [each for name in __all__ if isinstance(each := globals()[name], type)]))
