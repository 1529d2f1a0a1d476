"""opweave.linalg: linear algebra, as in torch.linalg. The operators come from ops.yaml."""

from ._linalg import *  # noqa: F403 (the generated module has __all__)
from ._linalg import __all__ as _operators
from .errors import LinAlgError

__all__ = ["LinAlgError", *_operators]
