"""Modules of float tensors that are quantized while they run."""

from .linear import Linear

__all__ = ["Linear"]
