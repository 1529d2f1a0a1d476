"""Modules that are copied to several devices, of which there is one."""

from __future__ import annotations

from typing import Any

from .module import Module

__all__ = ["DataParallel"]


class DataParallel(Module):
    """Calls a module, which is the part `module` of it.

    Args:
        module (Module): the module.
        device_ids, output_device, dim: without effect, as there is one device.

    Example:
        >>> opweave.nn.DataParallel(opweave.nn.Linear(3, 2))(opweave.ones(4, 3)).shape
        opweave.Size([4, 2])
    """

    def __init__(self, module: Any, device_ids: Any = None, output_device: Any = None, dim: int = 0) -> None:
        super().__init__()
        self.module, self.dim = module, dim
        self.device_ids: list[Any] = []

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """Return what the module returns."""
        return self.module(*inputs, **kwargs)
