"""opweave.nn: what neural networks are made of, as in torch.nn."""

from . import functional as functional

__all__ = ["functional"]
