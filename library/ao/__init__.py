"""opweave.ao: quantization of models, with torch's names."""

from . import nn as nn
from . import quantization as quantization

__all__ = ["nn", "quantization"]
