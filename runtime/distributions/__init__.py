"""opweave.distributions: probability distributions, as in torch.distributions.

Those that are drawn by means of gamma distributed numbers (Gamma, Beta, Dirichlet, Chi2, StudentT, ...) draw other
numbers than torch's under the same seed; all others draw the same.
"""

from __future__ import annotations

from . import classes, composed, constraints, discrete, gamma_family, real_valued, shares, transformed, transforms
from .classes import *  # noqa: F403
from .composed import *  # noqa: F403
from .constraint_registry import biject_to, transform_to
from .discrete import *  # noqa: F403
from .distribution import Distribution, ExponentialFamily
from .gamma_family import *  # noqa: F403
from .kl import kl_divergence, register_kl
from .real_valued import *  # noqa: F403
from .shares import *  # noqa: F403
from .transformed import *  # noqa: F403
from .transforms import *  # noqa: F403

__all__ = ["Distribution", "ExponentialFamily", "biject_to", "constraints", "kl_divergence", "register_kl"]
__all__ += ["transform_to", "transforms"]
__all__ += classes.__all__
__all__ += composed.__all__
__all__ += discrete.__all__
__all__ += gamma_family.__all__
__all__ += real_valued.__all__
__all__ += shares.__all__
__all__ += transformed.__all__
__all__ += transforms.__all__
