"""Modules and functions of quantized tensors, with torch's names."""

from . import dynamic as dynamic
from . import functional as functional
from .functional_modules import FloatFunctional, QFunctional
from .linear import Linear
from .modules import DeQuantize, Quantize

__all__ = ["DeQuantize", "FloatFunctional", "Linear", "QFunctional", "Quantize", "dynamic", "functional"]
