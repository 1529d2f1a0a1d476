"""Changes of shape: flattening, shuffles, margins."""

from __future__ import annotations

from typing import Any

from ..._tensor.tensor import Tensor
from .. import functional
from ._declared import Call
from .module import Module

__all__ = [
    "ChannelShuffle",
    "CircularPad1d",
    "CircularPad2d",
    "CircularPad3d",
    "ConstantPad1d",
    "ConstantPad2d",
    "ConstantPad3d",
    "Flatten",
    "PixelShuffle",
    "PixelUnshuffle",
    "ReflectionPad1d",
    "ReflectionPad2d",
    "ReflectionPad3d",
    "ReplicationPad1d",
    "ReplicationPad2d",
    "ReplicationPad3d",
    "Unflatten",
    "ZeroPad1d",
    "ZeroPad2d",
    "ZeroPad3d",
]


class Flatten(Module):
    """Flattening of the dimensions from `start_dim` to `end_dim` into one.

    Example:
        >>> opweave.nn.Flatten()(opweave.ones(2, 4, 8, 8)).shape
        opweave.Size([2, 256])
    """

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor of the same elements."""
        return input.flatten(self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Unflatten(Module):
    """Expansion of one dimension to several.

    Args:
        dim (int or str): the dimension, or its name.
        unflattened_size (tuple of int, or of tuples): the sizes that it becomes; of a dimension that is named pairs of
            a name and a size.

    Raises:
        TypeError: they are of other types.

    Example:
        >>> opweave.nn.Unflatten(1, (2, 2))(opweave.ones(2, 4, 8, 8)).shape
        opweave.Size([2, 2, 2, 8, 8])
    """

    def __init__(self, dim: Any, unflattened_size: Any) -> None:
        super().__init__()
        if not isinstance(dim, (int, str)):
            raise TypeError(f"dim must be an int or a name, but got {type(dim).__name__}")
        kind, kinds = (int, "ints") if isinstance(dim, int) else (tuple, "tuples")
        if not isinstance(unflattened_size, (tuple, list)):
            found = type(unflattened_size).__name__
            raise TypeError(f"unflattened_size must be tuple of {kinds}, but found type {found}")
        for place, size in enumerate(unflattened_size):
            if not isinstance(size, kind):
                found = type(size).__name__
                raise TypeError(
                    f"unflattened_size must be tuple of {kinds}, but found element of type {found} at pos {place}"
                )
        self.dim, self.unflattened_size = dim, unflattened_size

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor of the same elements."""
        named: Any = input  # whose dimensions may have names
        result: Tensor = named.unflatten(self.dim, self.unflattened_size)
        return result

    def extra_repr(self) -> str:
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"


class PixelShuffle(Call, call="pixel_shuffle"):
    """Pixel shuffle: each `r * r` channels become one of `r` times the height and width, by `upscale_factor` r.

    Example:
        >>> opweave.nn.PixelShuffle(2)(opweave.ones(2, 4, 8, 8)).shape
        opweave.Size([2, 1, 16, 16])
    """

    upscale_factor: int


class PixelUnshuffle(Call, call="pixel_unshuffle"):
    """Inverse of PixelShuffle.

    Example:
        >>> opweave.nn.PixelUnshuffle(2)(opweave.ones(2, 4, 8, 8)).shape
        opweave.Size([2, 16, 4, 4])
    """

    downscale_factor: int


class ChannelShuffle(Call, call="channel_shuffle"):
    """Channel shuffle: channels are taken from each of `groups` groups in turn.

    Example:
        >>> opweave.nn.ChannelShuffle(2)(opweave.arange(4.0).view(1, 4, 1)).flatten()
        tensor([0., 2., 1., 3.])
    """

    groups: int


class _Pad(Module):
    """Base of margins: their mode, and the number of dimensions that have them."""

    _ow_mode: str
    _ow_dimensions: int

    def __init_subclass__(cls, mode: str = "", **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if mode:
            cls._ow_mode, cls._ow_dimensions = mode, int(cls.__name__[-2])

    def __init__(self, padding: Any) -> None:
        super().__init__()
        count = 2 * self._ow_dimensions
        if isinstance(padding, int):
            padding = (padding,) * count
        elif len(padding := tuple(padding)) != count:
            raise ValueError(f"{type(self).__name__} takes one number or {count}, but got {len(padding)}")
        self.padding = padding

    def forward(self, input: Tensor) -> Tensor:
        """Return a larger tensor."""
        return functional.pad(input, self.padding, self._ow_mode)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _ConstantPad(_Pad):
    def __init__(self, padding: Any, value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        """Return a larger tensor."""
        return functional.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


def _family(name: str, base: type[_Pad], mode: str, what: str) -> list[type[_Pad]]:
    """The classes for one, two and three dimensions."""
    made = []
    for dimensions, listed in enumerate(("L", "H, W", "D, H, W"), 1):
        doc = (
            f"Margins {what}, of inputs (N, C, {listed}) or (C, {listed}).\n\n"
            f"    Args:\n        padding (int or tuple of int): one width, or {2 * dimensions}, before and after each "
            "dimension, from the last one on.\n"
        )
        if base is _ConstantPad:
            doc += "        value (float): what they are filled with.\n"
        options = "(2, 9.0)" if base is _ConstantPad else "(2)"
        sizes, larger = dimensions * ", 4", dimensions * ", 8"
        doc += (
            f"\n    Example:\n        >>> opweave.nn.{name}{dimensions}d{options}(opweave.ones(1, 3{sizes})).shape\n"
            f"        opweave.Size([1, 3{larger}])\n    "
        )
        names: dict[str, Any] = {"__doc__": doc, "__module__": __name__}
        made.append(type(f"{name}{dimensions}d", (base,), names, mode=mode))
    return made


class _ZeroPad(_ConstantPad):
    def __init__(self, padding: Any) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


ConstantPad1d, ConstantPad2d, ConstantPad3d = _family("ConstantPad", _ConstantPad, "constant", "of one number")
ZeroPad1d, ZeroPad2d, ZeroPad3d = _family("ZeroPad", _ZeroPad, "constant", "of zeros")
ReflectionPad1d, ReflectionPad2d, ReflectionPad3d = _family("ReflectionPad", _Pad, "reflect", "that mirror the input")
ReplicationPad1d, ReplicationPad2d, ReplicationPad3d = _family(
    "ReplicationPad", _Pad, "replicate", "of copies of the border"
)
CircularPad1d, CircularPad2d, CircularPad3d = _family("CircularPad", _Pad, "circular", "from the opposite side")
