"""The namespace `opweave.xpu`: XPU devices, of which there are none."""

from .backends._no_devices import *  # noqa: F403
from .backends._no_devices import __all__ as __all__
