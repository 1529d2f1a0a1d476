"""Gradients: `backward`, `grad`, modes, functions with derivatives of their own, and what checks or uses derivatives.

Modules are imported when a name of theirs is first asked for: a program that computes no gradients pays for none.
"""

import sys as _sys
from importlib import import_module as _import_module
from types import ModuleType as _ModuleType
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from .._names.module_names import submodule as _submodule

if _TYPE_CHECKING:  # the names of _MODULES and _SUBMODULES, which checkers cannot compute
    from .._autograd import anomaly_mode as anomaly_mode
    from .._autograd import grad_mode as grad_mode
    from .._autograd.anomaly_mode import detect_anomaly as detect_anomaly
    from .._autograd.anomaly_mode import is_anomaly_check_nan_enabled as is_anomaly_check_nan_enabled
    from .._autograd.anomaly_mode import is_anomaly_enabled as is_anomaly_enabled
    from .._autograd.anomaly_mode import set_detect_anomaly as set_detect_anomaly
    from .._autograd.backward_api import backward as backward
    from .._autograd.backward_api import grad as grad
    from .._autograd.grad_mode import enable_grad as enable_grad
    from .._autograd.grad_mode import enforce_grad_layout_policy as enforce_grad_layout_policy
    from .._autograd.grad_mode import inference_mode as inference_mode
    from .._autograd.grad_mode import is_grad_enabled as is_grad_enabled
    from .._autograd.grad_mode import is_inference_mode_enabled as is_inference_mode_enabled
    from .._autograd.grad_mode import is_multithreading_enabled as is_multithreading_enabled
    from .._autograd.grad_mode import no_grad as no_grad
    from .._autograd.grad_mode import set_grad_enabled as set_grad_enabled
    from .._autograd.grad_mode import set_multithreading_enabled as set_multithreading_enabled
    from .._autograd.node import Node as Node
    from . import function as function
    from . import functional as functional
    from . import graph as graph
    from . import profiler as profiler
    from . import profiler_util as profiler_util
    from . import variable as variable
    from .function import Function as Function
    from .gradcheck import gradcheck as gradcheck
    from .gradcheck import gradgradcheck as gradgradcheck
    from .variable import Variable as Variable

_MODULES = {
    "backward": ".._autograd.backward_api",
    "grad": ".._autograd.backward_api",
    "Function": ".function",
    "detect_anomaly": ".._autograd.anomaly_mode",
    "set_detect_anomaly": ".._autograd.anomaly_mode",
    "is_anomaly_enabled": ".._autograd.anomaly_mode",
    "is_anomaly_check_nan_enabled": ".._autograd.anomaly_mode",
    "no_grad": ".._autograd.grad_mode",
    "enable_grad": ".._autograd.grad_mode",
    "enforce_grad_layout_policy": ".._autograd.grad_mode",
    "set_grad_enabled": ".._autograd.grad_mode",
    "inference_mode": ".._autograd.grad_mode",
    "is_grad_enabled": ".._autograd.grad_mode",
    "is_inference_mode_enabled": ".._autograd.grad_mode",
    "is_multithreading_enabled": ".._autograd.grad_mode",
    "set_multithreading_enabled": ".._autograd.grad_mode",
    "Node": ".._autograd.node",
    "Variable": ".variable",
    "gradcheck": ".gradcheck",
    "gradgradcheck": ".gradcheck",
}
_SUBMODULES = {
    "anomaly_mode": ".._autograd.anomaly_mode",
    "forward_ad": ".forward_ad",
    "function": ".function",
    "functional": ".functional",
    "grad_mode": ".._autograd.grad_mode",
    "graph": ".graph",
    "profiler": ".profiler",
    "profiler_util": ".profiler_util",
    "variable": ".variable",
}

if not _TYPE_CHECKING:
    __all__ = [*_MODULES]


class _Namespace(_ModuleType):
    """This module, in which `gradcheck` is the function also once the module of this name has been imported."""

    def __setattr__(self, name: str, value: _Any) -> None:
        if not (name in _MODULES and isinstance(value, _ModuleType)):
            super().__setattr__(name, value)


_sys.modules[__name__].__class__ = _Namespace


def __getattr__(name: str) -> _Any:
    if name in _MODULES:
        value: _Any = getattr(_import_module(_MODULES[name], __name__), name)
        globals()[name] = value
        return value
    if name in _SUBMODULES:
        return _import_module(_SUBMODULES[name], __name__)
    return _submodule(__name__, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES, *_SUBMODULES})
