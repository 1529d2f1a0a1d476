"""Gradients: `backward`, `grad`, modes, functions with derivatives of their own, and what checks or uses derivatives.

Modules are imported when a name of theirs is first asked for: a program that computes no gradients pays for none.
"""

from importlib import import_module as _import_module
from typing import Any as _Any

_MODULES = {
    "backward": "calls",
    "grad": "calls",
    "Function": "function",
    "detect_anomaly": "anomaly",
    "set_detect_anomaly": "anomaly",
    "is_anomaly_enabled": "anomaly",
    "is_anomaly_check_nan_enabled": "anomaly",
    "no_grad": "modes",
    "enable_grad": "modes",
    "set_grad_enabled": "modes",
    "inference_mode": "modes",
    "is_grad_enabled": "modes",
    "is_inference_mode_enabled": "modes",
    "Node": "node",
    "gradcheck": "gradcheck",
    "gradgradcheck": "gradcheck",
}
_SUBMODULES = ("anomaly", "engine", "function", "functional", "graph", "modes")

__all__ = [*_MODULES]


def __getattr__(name: str) -> _Any:
    if name in _MODULES:
        value: _Any = getattr(_import_module(f".{_MODULES[name]}", __name__), name)
        globals()[name] = value
        return value
    if name in _SUBMODULES:
        return _import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES, *_SUBMODULES})
