"""opweave.nn.functional: activations and the like, as in torch.nn.functional. The operators come from ops.yaml."""

from .._nn_functional import *  # noqa: F403 (the generated module has __all__)
from .._nn_functional import __all__ as __all__
