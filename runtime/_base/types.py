"""Small types that describe tensors: sizes, devices, layouts and memory formats, with PyTorch's names and texts."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from math import prod
from typing import TYPE_CHECKING, Any, SupportsIndex, overload

from .._handle import SizeBase, set_size_class
from .type_names import type_name

__all__ = [
    "Size",
    "channels_last",
    "channels_last_3d",
    "check_placement",
    "contiguous_format",
    "device",
    "get_default_device",
    "layout",
    "memory_format",
    "preserve_format",
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
        return f"opweave.Size({list(self)})"

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


# ---- devices ------------------------------------------------------------------------------------------------

# torch's, in its order: a device can be named that no tensor can be on.
_DEVICE_TYPES = (
    "cpu", "cuda", "ipu", "xpu", "mkldnn", "opengl", "opencl", "ideep", "hip", "ve", "fpga", "maia", "xla", "lazy",
    "vulkan", "mps", "meta", "hpu", "mtia", "privateuseone",
)  # fmt: skip


class device:  # noqa: N801 (PyTorch's name)
    """The device that holds a tensor's memory: a type, such as `cpu`, and perhaps an index."""

    __slots__ = ("index", "type")
    __module__ = "opweave"

    type: str
    index: int | None

    @overload
    def __init__(self, type: device) -> None: ...
    @overload
    def __init__(self, type: str, index: int | None = None) -> None: ...
    def __init__(self, type: Any, index: Any = None) -> None:
        if isinstance(type, device) and index is None:
            type, index = type.type, type.index
        elif isinstance(type, str):
            type, index = _parse_device(type, index)
        elif isinstance(type, int) and index is None:
            raise RuntimeError("Cannot access accelerator device when none is available.")
        else:
            raise TypeError(f"device(): argument 'type' must be str or opweave.device, not {type.__class__.__name__}")
        object.__setattr__(self, "type", type)
        object.__setattr__(self, "index", index)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"attribute {name!r} of 'opweave.device' objects is not writable")

    def __repr__(self) -> str:
        return f"device(type={self.type!r}" + (")" if self.index is None else f", index={self.index})")

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, device) and self.type == other.type and self.index == other.index

    def __hash__(self) -> int:
        return hash((self.type, self.index))

    def __reduce__(self) -> tuple[Any, ...]:
        return device, (self.type,) if self.index is None else (self.type, self.index)


def _parse_device(text: str, index: int | None) -> tuple[str, int | None]:
    if not text:
        raise RuntimeError("Device string must not be empty")
    name, colon, number = text.partition(":")
    if colon and index is not None:
        raise RuntimeError(f"type (string) must not include an index because index was passed explicitly: {text}")
    if colon and not (number.isascii() and number.isdigit() and (number == "0" or number[0] != "0")):
        raise RuntimeError(f"Invalid device string: '{text}'")
    if name not in _DEVICE_TYPES:
        known = ", ".join(_DEVICE_TYPES)
        raise RuntimeError(f"Expected one of {known} device type at start of device string: {name}")
    if index is not None and index < 0:
        raise RuntimeError("Device index must not be negative")
    return name, int(number) if colon else index


CPU = device("cpu")


def get_default_device() -> device:
    """Return the device of new tensors for which none is given."""
    return CPU


# ---- layouts and memory formats -----------------------------------------------------------------------------


class _Constant:
    """One of a few named objects, pickled by name."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return "opweave." + self._name

    def __reduce__(self) -> str:
        return self._name


class layout(_Constant):  # noqa: N801 (PyTorch's name)
    """The storage scheme of a tensor; there is only `strided`."""

    __slots__ = ()
    __module__ = "opweave"


class memory_format(_Constant):  # noqa: N801 (PyTorch's name)
    """In which order the elements of a result lie in memory."""

    __slots__ = ()
    __module__ = "opweave"


_layout = layout
strided = layout("strided")
contiguous_format = memory_format("contiguous_format")
preserve_format = memory_format("preserve_format")
channels_last = memory_format("channels_last")
channels_last_3d = memory_format("channels_last_3d")


FORMATS = (contiguous_format, channels_last, channels_last_3d)
"""The memory formats that determine strides, the usual one first."""
_ORDERS = {None: 0, preserve_format: 0, contiguous_format: 1, channels_last: 2, channels_last_3d: 3}


def memory_order(function: str, value: Any) -> int:
    """A memory format as the core numbers it (ow_order): 0 keeps the order of the input, 1 is C order."""
    if value is not None and not isinstance(value, memory_format):
        raise TypeError(f"{function}(): argument 'memory_format' must be opweave.memory_format, not {type_name(value)}")
    return _ORDERS[value]


def check_device(value: Any) -> None:
    """Refuses a device (or the text of one) that is not the CPU."""
    given = value if isinstance(value, device) else device(value)
    if given.type != "cpu":
        raise RuntimeError(f"device {str(given)!r} is not available: tensors of this build live on the CPU")


def check_placement(
    function: str,
    *,
    layout: Any = None,
    device: Any = None,
    pin_memory: Any = None,
    memory_format: Any = None,
) -> None:
    """Refuses what a function that makes tensors cannot give: another device, layout, order or kind of memory."""
    if layout is not None and layout is not strided:
        if not isinstance(layout, _layout):
            raise TypeError(f"{function}(): argument 'layout' must be opweave.layout, not {type_name(layout)}")
        raise NotImplementedError(f"{function}(): {layout!r} is not supported")
    if device is not None:
        check_device(device)
    if pin_memory is not None and not isinstance(pin_memory, bool):
        raise TypeError(f"{function}(): argument 'pin_memory' must be bool, not {type_name(pin_memory)}")
    if pin_memory:
        raise RuntimeError(f"{function}(): memory cannot be pinned because there is no accelerator")
    if memory_format is not None:
        memory_order(function, memory_format)
