"""Modules of quantized models."""

from . import quantized as quantized

__all__ = ["quantized"]
