"""opweave.nn.functional: what layers of neural networks compute, as in torch.nn.functional.

Elementwise operators, pooling and the like come from ops.yaml; the modules here are written in terms of operators.
"""

from __future__ import annotations

from ..._nn_functional import *  # noqa: F403 (the generated module has __all__)
from ..._nn_functional import __all__ as __all__
from . import (
    heads,
    linear_losses,
    losses,
    products,
    upsampling,
)
from .heads import *  # noqa: F403
from .linear_losses import *  # noqa: F403
from .losses import *  # noqa: F403
from .products import *  # noqa: F403
from .to_arguments import _parse_to as _parse_to
from .upsampling import *  # noqa: F403

__all__ += heads.__all__
__all__ += linear_losses.__all__
__all__ += losses.__all__
__all__ += products.__all__
__all__ += upsampling.__all__
