"""Observers, modules for training with rounding, and what quantizes a model."""

from .defaults import *  # noqa: F403
from .fake_quantize import *  # noqa: F403
from .histogram import *  # noqa: F403
from .observer import *  # noqa: F403
from .placeholders import *  # noqa: F403
from .qconfig import *  # noqa: F403
from .quantize import *  # noqa: F403
from .stubs import *  # noqa: F403
