"""opweave.nn: what neural networks are made of, as in torch.nn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import attention as attention
from . import common_types as common_types
from . import functional as functional
from . import grad as grad
from . import init as init
from . import modules as modules
from . import parallel as parallel
from . import parameter as parameter
from . import utils as utils
from .modules import *  # noqa: F403
from .parameter import Buffer as Buffer
from .parameter import Parameter as Parameter
from .parameter import UninitializedBuffer as UninitializedBuffer
from .parameter import UninitializedParameter as UninitializedParameter

# Type checkers, which understand no list but one written out, take what is imported in these forms for public.
if not TYPE_CHECKING:
    __all__ = [
        "Buffer", "Parameter", "UninitializedBuffer", "UninitializedParameter", "attention", "common_types",
        "functional", "grad", "init", "modules", "parallel", "parameter", "utils", *modules.__all__,
    ]  # fmt: skip
