"""opweave.utils: tools around tensors, as in torch.utils."""

from importlib import import_module as _import_module
from typing import Any as _Any

from .._names.module_names import submodule as _submodule
from . import benchmark

# Imported when first asked for.
_LAZY = (
    "_contextlib",
    "_python_dispatch",
    "_pytree",
    "checkpoint",
    "collect_env",
    "cpp_extension",
    "data",
    "deterministic",
    "dlpack",
    "flop_counter",
    "hooks",
    "tensorboard",
    "weak",
)
_FUNCTIONS = {"swap_tensors": "_swap"}

__all__ = ["benchmark", "swap_tensors", *(name for name in _LAZY if name[0] != "_")]


def __getattr__(name: str) -> _Any:
    if name in _LAZY:
        return _import_module(f".{name}", __name__)
    if name in _FUNCTIONS:
        return getattr(_import_module(f".{_FUNCTIONS[name]}", __name__), name)
    return _submodule(__name__, name)
