"""Memory formats of the weights of convolutions."""

from __future__ import annotations

from typing import Any

from ..modules.conv import Conv2d, Conv3d, ConvTranspose2d, ConvTranspose3d

__all__ = ["convert_conv2d_weight_memory_format", "convert_conv3d_weight_memory_format"]


def convert_conv2d_weight_memory_format(module: Any, memory_format: Any) -> Any:
    """Bring the weights of all convolutions of images in a module to a memory format. Returns the module."""
    return _converted(module, (Conv2d, ConvTranspose2d), memory_format)


def convert_conv3d_weight_memory_format(module: Any, memory_format: Any) -> Any:
    """Bring the weights of all convolutions of volumes in a module to a memory format. Returns the module."""
    return _converted(module, (Conv3d, ConvTranspose3d), memory_format)


def _converted(module: Any, kinds: tuple[type, ...], memory_format: Any) -> Any:
    found: list[Any] = [each for each in module.modules() if isinstance(each, kinds)]
    for each in found:
        each.weight.data = each.weight.detach().clone(memory_format=memory_format)
    return module
