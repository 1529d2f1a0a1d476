"""opweave.nn: what neural networks are made of, as in torch.nn."""

from __future__ import annotations

from . import attention, common_types, functional, grad, init, modules, parallel, parameter, utils
from .modules import *  # noqa: F403
from .parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter

__all__ = ["Buffer", "Parameter", "UninitializedBuffer", "UninitializedParameter"]
__all__ += ["attention", "common_types", "functional", "grad", "init", "modules", "parallel", "parameter", "utils"]
__all__ += modules.__all__
