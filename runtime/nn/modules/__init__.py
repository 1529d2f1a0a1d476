"""The modules of opweave.nn."""

from __future__ import annotations

from . import (
    activation,
    adaptive,
    attention,
    batchnorm,
    choices,
    container,
    conv,
    distance,
    dropout,
    linear,
    linear_losses,
    loss,
    normalization,
    parallel,
    parameter_container,
    pooling,
    rnn,
    rnn_cells,
    shapes,
    sparse,
    transformer,
    upsampling,
    utils,  # noqa: F401 (PyTorch's name)
)
from .activation import *  # noqa: F403
from .adaptive import *  # noqa: F403
from .attention import *  # noqa: F403
from .batchnorm import *  # noqa: F403
from .choices import *  # noqa: F403
from .container import *  # noqa: F403
from .conv import *  # noqa: F403
from .distance import *  # noqa: F403
from .dropout import *  # noqa: F403
from .linear import *  # noqa: F403
from .linear_losses import *  # noqa: F403
from .loss import *  # noqa: F403
from .module import Module
from .normalization import *  # noqa: F403
from .parallel import *  # noqa: F403
from .parameter_container import *  # noqa: F403
from .pooling import *  # noqa: F403
from .rnn import *  # noqa: F403
from .rnn_cells import *  # noqa: F403
from .shapes import *  # noqa: F403
from .sparse import *  # noqa: F403
from .transformer import *  # noqa: F403
from .upsampling import *  # noqa: F403

__all__ = ["Module"]
__all__ += activation.__all__
__all__ += adaptive.__all__
__all__ += attention.__all__
__all__ += parallel.__all__
__all__ += parameter_container.__all__
__all__ += rnn.__all__
__all__ += rnn_cells.__all__
__all__ += transformer.__all__
__all__ += upsampling.__all__
__all__ += batchnorm.__all__
__all__ += choices.__all__
__all__ += container.__all__
__all__ += conv.__all__
__all__ += pooling.__all__
__all__ += distance.__all__
__all__ += dropout.__all__
__all__ += linear.__all__
__all__ += linear_losses.__all__
__all__ += loss.__all__
__all__ += normalization.__all__
__all__ += shapes.__all__
__all__ += sparse.__all__
