"""opweave.optim.functional: what steps of optimizers are made of, each one pass over the memory.

The operators come from ops.yaml.
"""

from .._optim_functional import *  # noqa: F403 (the generated module has __all__)
from .._optim_functional import __all__ as __all__
