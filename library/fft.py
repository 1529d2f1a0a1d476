"""opweave.fft: discrete Fourier transforms, as in torch.fft. The operators come from ops.yaml."""

from ._fft import *  # noqa: F403 (the generated module has __all__)
from ._fft import __all__ as __all__
