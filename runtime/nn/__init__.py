"""opweave.nn: what neural networks are made of, as in torch.nn."""

from __future__ import annotations

from . import functional, grad, init, modules, parameter, utils
from .modules import *  # noqa: F403
from .parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter

__all__ = ["Buffer", "Parameter", "UninitializedBuffer", "UninitializedParameter"]
__all__ += ["functional", "grad", "init", "modules", "parameter", "utils"]
__all__ += modules.__all__
