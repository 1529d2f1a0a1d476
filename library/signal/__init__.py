"""opweave.signal: what signals are processed with, as in torch.signal."""

from . import windows

__all__ = ["windows"]
