"""The function `get_device_module`."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from ._base.devices import device as _device

_PACKAGE_NAMES = ["get_device_module"]

_MODULES = ("cpu", "cuda", "mps", "xpu")


def get_device_module(device: _device | str | None = None) -> ModuleType:
    """Return the namespace of a kind of device, such as `opweave.cpu`, which None stands for as well.

    Raises:
        RuntimeError: there is no namespace of that name, no such device, or `device` is something else.
    """
    if not (device is None or isinstance(device, (str, _device))):
        raise RuntimeError(f"Invalid value of device '{device}', expect torch.device, str, or None")
    kind = _device("cpu" if device is None else device).type
    if kind not in _MODULES:
        raise RuntimeError(f"Device '{kind}' does not have a corresponding module registered as 'torch.{kind}'.")
    return import_module(f".{kind}", __package__)
