"""The names of torch's compiled module that programs reach for, as `torch._C` under torch's name."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ._names.module_names import submodule

__path__: list[str] = []  # so that it has the submodules that module_names.py knows
_PACKAGE = __name__.partition(".")[0]
_MODULES = {
    "DispatchKey": "_torch_keys",
    "DispatchKeySet": "_torch_keys",
    "_ExcludeDispatchKeyGuard": "_torch_keys",
    "DisableTorchFunction": "overrides",
    "DisableTorchFunctionSubclass": "overrides",
    "Generator": "",
    "ScriptFunction": "jit",
    "ScriptModule": "jit",
    "Size": "",
    "Tag": "",
    "TensorBase": "_base.tensor_class:Tensor",
    "_TensorBase": "_base.tensor_class:Tensor",
    "_TensorMeta": "_base.tensor_class:TensorClass",
    "_VariableFunctions": ":",
    "_disabled_torch_function_impl": "overrides",
    "_nn": "nn.functional:",
    "device": "",
    "dtype": "",
    "is_grad_enabled": "",
    "layout": "",
    "memory_format": "",
}
"""The module of opweave for each name, and after a colon the name there; without one it is the module itself."""


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        try:
            return submodule(__name__, name)
        except AttributeError:
            raise AttributeError(f"module 'torch._C' (which opweave does not have) has no attribute {name!r}") from None
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


def _get_tracing_state() -> Any:
    """Return what records the calls of this thread while a program is traced; None: nothing does."""
    return import_module(f"{_PACKAGE}.jit._state").recorder()


def _are_functorch_transforms_active() -> bool:
    """Return whether a transform of functions is running: False."""
    return False


def _get_default_device() -> str:
    """Return the kind of device of new tensors."""
    return str(import_module(f"{_PACKAGE}._base.devices").get_default_device().type)


def _get_accelerator() -> Any:
    """Return the kind of device that is the fastest: the accelerator, or the CPU where there is none."""
    devices = import_module(f"{_PACKAGE}._base.devices")
    row = devices.accelerator()
    return devices.device(row.name if row else "cpu")


def _get_privateuse1_backend_name() -> str:
    """Return the name of the kind of device that torch leaves to others."""
    return "privateuseone"


def _is_alias_of(data: Any, other: Any) -> bool:
    """Return whether two tensors share memory."""
    return bool(data.untyped_storage().data_ptr() == other.untyped_storage().data_ptr())


def _is_torch_function_mode_enabled() -> bool:
    """Return whether a mode sees the calls of this thread."""
    return import_module(f"{_PACKAGE}._dispatch.modes").innermost("function_mode") is not None


def _set_grad_enabled(mode: bool) -> None:
    """Set whether calls of this thread are recorded for gradients."""
    import_module(f"{_PACKAGE}._autograd.grad_mode").set_grad_enabled(mode)
