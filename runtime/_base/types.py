"""Small types that describe tensors: sizes, layouts and memory formats, with PyTorch's names and texts."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from math import prod
from typing import TYPE_CHECKING, Any, SupportsIndex, overload

from .._handle import SizeBase, set_size_class
from . import devices
from .shown_name import qualified
from .type_names import type_name, wrong_type

__all__ = [
    "Size",
    "channels_last",
    "channels_last_3d",
    "check_placement",
    "contiguous_format",
    "layout",
    "memory_format",
    "preserve_format",
    "sparse_bsc",
    "sparse_bsr",
    "sparse_coo",
    "sparse_csc",
    "sparse_csr",
    "strided",
]


class Size(SizeBase):
    """The sizes of a tensor's dimensions: a tuple of ints."""

    __slots__ = ()
    __module__ = "opweave"

    def __new__(cls, sizes: Iterable[SupportsIndex] = ()) -> Size:
        values = tuple(sizes)
        for index, value in enumerate(values):
            if not hasattr(value, "__index__"):
                raise TypeError(f"opweave.Size() takes an iterable of 'int' (item {index} is '{type_name(value)}')")
        return tuple.__new__(cls, map(operator.index, values))

    def numel(self) -> int:
        """Number of elements of a tensor of this size."""
        return prod(self)

    def __repr__(self) -> str:
        return f"{qualified('Size')}({list(self)})"

    if TYPE_CHECKING:

        @overload
        def __getitem__(self, index: SupportsIndex) -> int: ...
        @overload
        def __getitem__(self, index: slice) -> Size: ...
        def __getitem__(self, index: Any) -> Any: ...

    def __add__(self, other: Any) -> Size:
        if not isinstance(other, tuple):
            raise TypeError(f"can only concatenate tuple (not {type_name(other)}) to opweave.Size")
        return Size(tuple.__add__(self, other))

    def __radd__(self, other: Any) -> Size:
        return Size(other + tuple(self)) if isinstance(other, tuple) else NotImplemented

    def __mul__(self, count: SupportsIndex) -> Size:
        return tuple.__new__(Size, tuple.__mul__(self, count))

    __rmul__ = __mul__

    def __reduce__(self) -> tuple[type[Size], tuple[tuple[int, ...]]]:
        return Size, (tuple(self),)


set_size_class(Size)


# ---- layouts and memory formats -----------------------------------------------------------------------------


class _Constant:
    """One of a few named objects, pickled by name."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return qualified(self._name)

    def __reduce__(self) -> str:
        return self._name


class layout(_Constant):  # noqa: N801 (PyTorch's name)
    """The storage scheme of a tensor: where in memory its elements are."""

    __slots__ = ()
    __module__ = "opweave"


class memory_format(_Constant):  # noqa: N801 (PyTorch's name)
    """The order of the elements of a result in memory."""

    __slots__ = ("order",)
    __module__ = "opweave"

    def __init__(self, name: str, order: int) -> None:
        super().__init__(name)
        self.order = order
        """The core's number (ow_order): 0 keeps the order of the input, 1 is C order."""


_layout = layout
strided = layout("strided")
sparse_coo = layout("sparse_coo")
sparse_csr = layout("sparse_csr")
sparse_csc = layout("sparse_csc")
sparse_bsr = layout("sparse_bsr")
sparse_bsc = layout("sparse_bsc")
LAYOUTS = (strided, sparse_coo, sparse_csr, sparse_csc, sparse_bsr, sparse_bsc)
preserve_format = memory_format("preserve_format", 0)
contiguous_format = memory_format("contiguous_format", 1)
channels_last = memory_format("channels_last", 2)
channels_last_3d = memory_format("channels_last_3d", 3)


class qscheme(_Constant):  # noqa: N801 (PyTorch's name)
    """The scheme by which a tensor is quantized."""

    __slots__ = ()
    __module__ = "opweave"


per_tensor_affine = qscheme("per_tensor_affine")
per_channel_affine = qscheme("per_channel_affine")
per_tensor_symmetric = qscheme("per_tensor_symmetric")
per_channel_symmetric = qscheme("per_channel_symmetric")
per_channel_affine_float_qparams = qscheme("per_channel_affine_float_qparams")
QSCHEMES = {
    "per_tensor_affine": per_tensor_affine,
    "per_channel_affine": per_channel_affine,
    "per_tensor_symmetric": per_tensor_symmetric,
    "per_channel_symmetric": per_channel_symmetric,
    "per_channel_affine_float_qparams": per_channel_affine_float_qparams,
}
"""The memory formats, by name."""


FORMATS = (contiguous_format, channels_last, channels_last_3d)
"""The memory formats that determine strides, the usual one first."""
CHANNELS_LAST = {each.order: each for each in (channels_last, channels_last_3d)}
"""The formats with the channels last, by ow_order."""


def memory_order(function: str, value: Any) -> int:
    """A memory format as the core numbers it; that of None keeps the order of the input."""
    if value is None:
        return preserve_format.order
    if not isinstance(value, memory_format):
        raise TypeError(f"{function}(): argument 'memory_format' must be opweave.memory_format, not {type_name(value)}")
    return value.order


def check_placement(
    function: str,
    *,
    layout: Any = None,
    device: Any = None,
    pin_memory: Any = None,
    memory_format: Any = None,
) -> devices.device | None:
    """The device that a function is to make its tensor on, None if it is not named. Refuses what no function can give:
    other devices, layouts or orders of memory. What is asked to be pinned is given to `pinned_result`."""
    if layout is not None and layout is not strided:
        if not isinstance(layout, _layout):
            raise wrong_type(function, "layout", "opweave.layout", layout)
        raise NotImplementedError(f"{function}(): {layout!r} is not supported")
    where = None if device is None else devices.available(device)
    if pin_memory is not None and not isinstance(pin_memory, bool):
        raise wrong_type(function, "pin_memory", "bool", pin_memory)
    if memory_format is not None:
        memory_order(function, memory_format)
    return where
