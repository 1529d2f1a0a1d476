"""opweave.special: special functions, as in torch.special. The operators come from ops.yaml."""

from ._special import *  # noqa: F403 (the generated module has __all__)
from ._special import __all__ as __all__
