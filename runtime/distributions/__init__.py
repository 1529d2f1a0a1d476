"""opweave.distributions: probability distributions, as in torch.distributions. A seed draws the same numbers."""

from __future__ import annotations

from . import (
    bounded,
    classes,
    composed,
    constraints,
    discrete,
    gamma_family,
    kl_moments,  # noqa: F401 (registers divergences)
    lkj_cholesky,
    matrices,
    mixture_same_family,
    real_valued,
    relaxed,
    shares,
    transformed,
    transforms,
)
from .bounded import *  # noqa: F403
from .classes import *  # noqa: F403
from .composed import *  # noqa: F403
from .constraint_registry import biject_to, transform_to
from .discrete import *  # noqa: F403
from .distribution import Distribution, ExponentialFamily
from .gamma_family import *  # noqa: F403
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

__all__ = ["Distribution", "ExponentialFamily", "biject_to", "constraints", "kl_divergence", "register_kl"]
__all__ += ["transform_to", "transforms"]
__all__ += bounded.__all__
__all__ += classes.__all__
__all__ += composed.__all__
__all__ += discrete.__all__
__all__ += gamma_family.__all__
__all__ += lkj_cholesky.__all__
__all__ += matrices.__all__
__all__ += mixture_same_family.__all__
__all__ += real_valued.__all__
__all__ += relaxed.__all__
__all__ += shares.__all__
__all__ += transformed.__all__
__all__ += transforms.__all__

globals().update(named_modules(__name__, [each for name in __all__ if isinstance(each := globals()[name], type)]))
