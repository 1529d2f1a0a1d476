"""The names of torch's compiled module that programs reach for, as `torch._C` under torch's name."""

from __future__ import annotations

from importlib import import_module
from typing import Any

__path__: list[str] = []  # so that it has the submodules that module_names.py knows
_PACKAGE = __name__.partition(".")[0]
_MODULES = {
    "DisableTorchFunction": "overrides",
    "DisableTorchFunctionSubclass": "overrides",
    "Generator": "",
    "ScriptFunction": "jit",
    "ScriptModule": "jit",
    "Size": "",
    "Tag": "",
    "TensorBase": "_base.tensor_class:Tensor",
    "_TensorBase": "_base.tensor_class:Tensor",
    "_VariableFunctions": ":",
    "_disabled_torch_function_impl": "overrides",
    "_nn": "nn.functional:",
    "device": "",
    "dtype": "",
    "is_grad_enabled": "",
    "layout": "",
    "memory_format": "",
}
"""For each name the module of opweave that has it, and after a colon the name there: none is the module itself."""


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'torch._C' (which opweave does not have) has no attribute {name!r}")
    module, colon, own = _MODULES[name].partition(":")
    value: Any = import_module(f"{_PACKAGE}.{module}".rstrip("."))
    if own or not colon:
        value = getattr(value, own or name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})


def _log_api_usage_once(event: str) -> None:
    """Do nothing: uses are not counted."""


def _get_tracing_state() -> None:
    """Return None: calls are not traced."""


def _set_grad_enabled(mode: bool) -> None:
    """Set whether calls of this thread are recorded for gradients."""
    import_module(f"{_PACKAGE}._autograd.grad_mode").set_grad_enabled(mode)
