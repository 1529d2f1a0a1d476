"""Python functions that the formulas of derivatives in ops.yaml call besides operators."""

from __future__ import annotations

from ..fft.derivatives import *  # noqa: F403
from ..linalg.derivatives import *  # noqa: F403
from ..linalg.spectral_derivatives import *  # noqa: F403
from .basic import *  # noqa: F403
from .folds import *  # noqa: F403
from .networks import *  # noqa: F403
from .parts import *  # noqa: F403
from .recurrent import *  # noqa: F403
from .rows import *  # noqa: F403
from .selection import *  # noqa: F403
