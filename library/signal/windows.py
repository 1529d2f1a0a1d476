"""opweave.signal.windows: windows, as in torch.signal.windows. The operators come from ops.yaml."""

from .._signal_windows import *  # noqa: F403 (the generated module has __all__)
from .._signal_windows import __all__ as __all__
