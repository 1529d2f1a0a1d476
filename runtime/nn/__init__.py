"""opweave.nn: what neural networks are made of, as in torch.nn."""

from . import functional

__all__ = ["functional"]
