"""opweave.utils: tools around tensors, as in torch.utils."""

from importlib import import_module as _import_module
from typing import Any as _Any

from .._base.module_names import submodule as _submodule
from . import benchmark

# Imported when first asked for.
_LAZY = (
    "_contextlib",
    "_python_dispatch",
    "_pytree",
    "checkpoint",
    "collect_env",
    "data",
    "deterministic",
    "dlpack",
    "flop_counter",
    "hooks",
    "weak",
)

__all__ = ["benchmark", *(name for name in _LAZY if name[0] != "_")]


def __getattr__(name: str) -> _Any:
    if name in _LAZY:
        return _import_module(f".{name}", __name__)
    return _submodule(__name__, name)
