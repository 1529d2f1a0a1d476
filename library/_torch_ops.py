"""The names of operators that programs reach for in torch's module `torch._ops`."""

from __future__ import annotations

from . import ops
from ._dispatch.overloads import Namespace as _OpNamespace
from ._dispatch.overloads import OpOverload, OpOverloadPacket
from ._names.refusals import refused_class

__all__ = ["HigherOrderOperator", "OpOverload", "OpOverloadPacket", "_OpNamespace", "ops"]

HigherOrderOperator = refused_class(
    __name__,
    "HigherOrderOperator",
    "operators take no functions, as programs are not compiled. Call a function of Python that calls operators.",
)
