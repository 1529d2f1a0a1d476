"""Convolutions of one to three dimensions, with weights that are learned, and their transposes."""

from __future__ import annotations

import math
from typing import Any

from ..._operators import empty
from ..._tensor.tensor import Tensor
from .. import functional, init
from ..parameter import Parameter, UninitializedParameter
from .lazy import LazyModuleMixin
from .module import Module

__all__ = [
    "Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d", "LazyConv1d", "LazyConv2d",
    "LazyConv3d", "LazyConvTranspose1d", "LazyConvTranspose2d", "LazyConvTranspose3d",
]  # fmt: skip

_MODES = ("zeros", "reflect", "replicate", "circular")


def spread(value: Any, count: int) -> tuple[Any, ...]:
    """A number for each dimension."""
    return tuple(value) if isinstance(value, (tuple, list)) else (value,) * count


class _ConvNd(Module):
    """Base class of convolutions and their transposes."""

    _ow_dims: int
    transposed = False
    bias: Any

    def _ow_begin(self, channels: tuple[int, int], bias: bool, mode: str, place: dict[str, Any], **sizes: Any) -> None:
        """Sets options and makes the parameters. `sizes` are those that have a number for each dimension."""
        Module.__init__(self)
        self.in_channels, self.out_channels = channels
        groups = sizes.pop("groups")
        if groups <= 0:
            raise ValueError("groups must be a positive integer")
        for name in ("in_channels", "out_channels"):
            if getattr(self, name) % groups:
                raise ValueError(f"{name} must be divisible by groups")
        padding = sizes["padding"]
        if isinstance(padding, str):
            if padding not in ("same", "valid"):
                raise ValueError(f"Invalid padding string {padding!r}, should be one of {{'same', 'valid'}}")
            if padding == "same" and any(each != 1 for each in spread(sizes["stride"], self._ow_dims)):
                raise ValueError("padding='same' is not supported for strided convolutions")
        if mode not in _MODES:
            raise ValueError(f"padding_mode must be one of {set(_MODES)}, but got padding_mode='{mode}'")
        for name, value in sizes.items():
            setattr(self, name, value if isinstance(value, str) else spread(value, self._ow_dims))
        self.groups, self.padding_mode = groups, mode
        self._place = place
        if self.in_channels or not isinstance(self, LazyModuleMixin):
            self._ow_make(bias)

    def _ow_weight_shape(self) -> tuple[int, ...]:
        inputs, outputs = self.in_channels, self.out_channels
        first, second = (inputs, outputs) if self.transposed else (outputs, inputs)
        return (first, second // self.groups, *self.kernel_size)

    def _ow_make(self, bias: bool) -> None:
        place = self.__dict__.pop("_place")
        self.weight = Parameter(empty(self._ow_weight_shape(), **place))
        if bias:
            self.bias = Parameter(empty(self.out_channels, **place))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the parameters anew, uniform between plus and minus one over the root of the inputs of an output."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in = math.prod(self.weight.shape[1:])
            if fan_in:
                init.uniform_(self.bias, -1 / math.sqrt(fan_in), 1 / math.sqrt(fan_in))

    def _ow_margins(self) -> list[int]:
        """Return the margins of `padding` for functional.pad: before and after each dimension, from the last one on."""
        if self.padding == "valid":
            return [0, 0] * self._ow_dims
        result = []
        for place in reversed(range(self._ow_dims)):
            if self.padding == "same":
                total = self.dilation[place] * (self.kernel_size[place] - 1)
                result += [total // 2, total - total // 2]
            else:
                result += [self.padding[place]] * 2
        return result

    def extra_repr(self) -> str:
        parts = [
            f"{self.in_channels}", f"{self.out_channels}", f"kernel_size={self.kernel_size}", f"stride={self.stride}"
        ]  # fmt: skip
        ones, zeros = (1,) * self._ow_dims, (0,) * self._ow_dims
        usual: dict[str, Any] = {"padding": zeros, "dilation": ones, "output_padding": zeros, "groups": 1}
        for name, value in usual.items():
            given = getattr(self, name, value)
            if given != value:
                parts.append(f"{name}={given}")
        if self.bias is None:
            parts.append("bias=False")
        if self.padding_mode != "zeros":
            parts.append(f"padding_mode={self.padding_mode}")
        return ", ".join(parts)


class _Conv(_ConvNd):
    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        sizes = {"kernel_size": kernel_size, "stride": stride, "padding": padding, "dilation": dilation}
        place = {"device": device, "dtype": dtype}
        self._ow_begin((in_channels, out_channels), bias, padding_mode, place, groups=groups, **sizes)

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor with `out_channels` channels."""
        convolve, padding = getattr(functional, f"conv{self._ow_dims}d"), self.padding
        if self.padding_mode != "zeros":
            input, padding = functional.pad(input, self._ow_margins(), self.padding_mode), 0
        result: Tensor = convolve(input, self.weight, self.bias, self.stride, padding, self.dilation, self.groups)
        return result


class _ConvTranspose(_ConvNd):
    transposed = True

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {self.__class__.__name__}')
        sizes = {"kernel_size": kernel_size, "stride": stride, "padding": padding, "dilation": dilation}
        sizes["output_padding"] = output_padding
        place = {"device": device, "dtype": dtype}
        self._ow_begin((in_channels, out_channels), bias, padding_mode, place, groups=groups, **sizes)

    def forward(self, input: Any, output_size: Any = None) -> Any:
        """Return a tensor with `out_channels` channels, of the sizes `output_size` if they are given.

        Raises:
            ValueError: there is no result of these sizes.
        """
        more = self.output_padding if output_size is None else self._ow_more(input, list(output_size))
        convolve = getattr(functional, f"conv_transpose{self._ow_dims}d")
        return convolve(input, self.weight, self.bias, self.stride, self.padding, more, self.groups, self.dilation)

    def _ow_more(self, input: Any, wanted: list[int]) -> list[int]:
        """The output padding by which the result has the sizes wanted."""
        dims = self._ow_dims
        whole = input.dim() - dims
        if len(wanted) == whole + dims:
            wanted = wanted[whole:]
        if len(wanted) != dims:
            raise ValueError(
                f"ConvTranspose{dims}D: for {input.dim()}D input, output_size must have {dims} or {whole + dims} "
                f"elements (got {len(wanted)})"
            )
        least = [
            (input.size(place + whole) - 1) * self.stride[place]
            - 2 * self.padding[place]
            + self.dilation[place] * (self.kernel_size[place] - 1)
            + 1
            for place in range(dims)
        ]
        most = [size + stride - 1 for size, stride in zip(least, self.stride, strict=True)]
        if any(not low <= size <= high for low, size, high in zip(least, wanted, most, strict=True)):
            raise ValueError(
                f"requested an output size of {wanted}, but valid sizes range from {least} to {most} (for an input of "
                f"{input.size()[2:]})"
            )
        return [size - low for size, low in zip(wanted, least, strict=True)]


class _LazyConv(LazyModuleMixin):
    """Mixed into a convolution: the number of its input channels is that of its first input."""

    def __init__(self, out_channels: int, kernel_size: Any, *args: Any, **kwargs: Any) -> None:
        module: Any = self
        super().__init__(0, 0, kernel_size, *args, **kwargs)
        module.out_channels = out_channels
        place = module.__dict__.pop("_place")
        names = (*_OPTIONS[type(self).__name__[4:-2]], "bias")
        bias = kwargs.get("bias", dict(zip(names, args, strict=False)).get("bias", True))
        module.weight = UninitializedParameter(**place)
        if bias:
            module.bias = UninitializedParameter(**place)
        else:
            module.register_parameter("bias", None)

    def reset_parameters(self) -> None:
        """Draw the parameters anew, once they are there."""
        module: Any = self
        if not self.has_uninitialized_params() and module.in_channels:
            super().reset_parameters()  # type: ignore[misc]

    def initialize_parameters(self, input: Any, *args: Any, **kwargs: Any) -> None:
        """Give the parameters their shape, by an input."""
        module: Any = self
        if not self.has_uninitialized_params():
            return
        dims = module._ow_dims
        if input.dim() not in (dims + 1, dims + 2):
            raise RuntimeError(
                f"Expected {dims + 1}D (unbatched) or {dims + 2}D (batched) input to {self.__class__.__name__}, but "
                f"got input of size: {input.shape}"
            )
        module.in_channels = input.shape[1] if input.dim() == dims + 2 else input.shape[0]
        if module.in_channels % module.groups:
            raise ValueError("in_channels must be divisible by groups")
        module.weight.materialize(module._ow_weight_shape())
        if module.bias is not None:
            module.bias.materialize((module.out_channels,))
        self.reset_parameters()


_OPTIONS = {
    "Conv": ("stride", "padding", "dilation", "groups"),
    "ConvTranspose": ("stride", "padding", "output_padding", "groups"),
}
_SHAPES = {1: "L", 2: "H, W", 3: "D, H, W"}


def _family(name: str, base: type, what: str, more: str) -> list[Any]:
    """The classes for one, two and three dimensions, each with the one that takes channels from its first input."""
    made: list[Any] = []
    for dims, shape in _SHAPES.items():
        sizes = dims * ", 8"
        doc = (
            f"{what}, of inputs (N, C, {shape}) or (C, {shape}).\n\n    Args:\n        in_channels (int): C.\n"
            "        out_channels (int): the channels of results.\n"
            "        kernel_size, stride, padding, dilation (int or tuple of int): sizes, one or for each dimension"
            f"{more}.\n        groups (int): inputs and outputs are divided into so many groups.\n"
            "        bias (bool): whether there is a bias.\n        device, dtype: those of the parameters.\n\n"
            f"    Example:\n        >>> opweave.nn.{name}{dims}d(4, 6, 1)(opweave.ones(2, 4{sizes})).shape\n"
            f"        opweave.Size([2, 6{sizes}])\n    "
        )
        usual: Any = type(f"{name}{dims}d", (base,), {"__doc__": doc, "__module__": __name__, "_ow_dims": dims})
        lazy_doc = f"{usual.__name__} whose `in_channels` is that of its first input."
        names = {"__doc__": lazy_doc, "__module__": __name__, "cls_to_become": usual}
        made += [usual, type(f"Lazy{usual.__name__}", (_LazyConv, usual), names)]
    return made


Conv1d, LazyConv1d, Conv2d, LazyConv2d, Conv3d, LazyConv3d = _family(
    "Conv", _Conv, "Convolution",
    "; padding\n            also `same` or `valid`. `padding_mode` is `zeros`, `reflect`, `replicate` or `circular`",
)  # fmt: skip
(
    ConvTranspose1d, LazyConvTranspose1d, ConvTranspose2d, LazyConvTranspose2d, ConvTranspose3d, LazyConvTranspose3d
) = _family(
    "ConvTranspose", _ConvTranspose, "Transposed convolution",
    ";\n            `output_padding` is added to the sizes of results",
)  # fmt: skip
