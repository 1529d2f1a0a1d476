"""opweave.linalg: linear algebra, as in torch.linalg. The operators come from ops.yaml."""

from ._base.errors import LinAlgError
from ._linalg import *  # noqa: F403 (the generated module has __all__)
from ._linalg import __all__ as _operators

__all__ = ["LinAlgError", *_operators]
