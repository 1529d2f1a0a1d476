"""The devices on which tensors are: the CPU, `meta`, where they have no elements, and those that programs register.

A tensor on `meta` knows its dtype, shape and strides. Operators say what their results are and compute nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, overload

from .._C import lib
from .._handle import FAMILIES, ModeBase, default_device, register_device, set_device_run, with_device
from .dtypes import advised
from .keys import DEVICE_KEYS, KEY_BITS

if TYPE_CHECKING:
    from .registered_device import Device

_DESCRIBED = KEY_BITS["meta"]
"""The key of tensors without memory, which only describe what they are the handles of."""

_Result = TypeVar("_Result")

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
            row = accelerator()
            if row is None:
                raise RuntimeError("Cannot access accelerator device when none is available.")
            type, index = _parse_device(row.name, type)
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

    def __enter__(self) -> device:
        """Make tensors of this thread on the device, within the block, unless another one is named."""
        _block(self).__enter__()
        return self

    def __exit__(self, *exception: object) -> None:
        _block(self).__exit__(*exception)


def _parse_device(text: str, index: int | None) -> tuple[str, int | None]:
    if not text:
        raise RuntimeError("Device string must not be empty")
    name, colon, number = text.partition(":")
    if colon and index is not None:
        raise RuntimeError(f"type (string) must not include an index because index was passed explicitly: {text}")
    if colon and not (number.isascii() and number.isdigit() and (number == "0" or number[0] != "0")):
        raise RuntimeError(f"Invalid device string: '{text}'")
    if name not in _DEVICE_TYPES and name not in _registered:
        known = ", ".join(_DEVICE_TYPES)
        text = f"Expected one of {known} device type at start of device string: {name}"
        raise advised(RuntimeError(text), name)  # as in x.to("float32")
    if index is not None and index < 0:
        raise RuntimeError("Device index must not be negative")
    return name, int(number) if colon else index


_registered: dict[str, Device] = {}
CPU = device("cpu")
META = device("meta")


# ---- the table of devices -----------------------------------------------------------------------------------


BY_NUMBER: dict[int, device] = {0: CPU, 1: META}
"""Devices by what the core calls them: the number of their kind, and 256 times their index."""
_numbers: dict[device, int] = {CPU: 0, META: 1}
_OF_KIND = 256


def register(row: Device) -> None:
    """Add a kind of device. Tensors of it carry a dispatch key of the same name.

    Raises:
        ValueError: the name is no identifier, or there is such a device, or another accelerator; there are less than 1
            or more than 256 of it; one function for pinned memory is missing; there is no such family of operators.
        RuntimeError: there are as many kinds as the core has room for, which is 8.
    """
    if not row.name.isidentifier():
        raise ValueError(f"the name of a device must be an identifier, but got {row.name!r}")
    if row.name in KEY_BITS or row.name == CPU.type:
        raise ValueError(f"there is a device or a dispatch key {row.name!r} already")
    if (row.allocate_pinned is None) != (row.free_pinned is None):
        raise ValueError("a device gives allocate_pinned and free_pinned, or neither")
    if row.is_accelerator and (other := accelerator()):
        raise ValueError(f"{row.name!r} cannot be the accelerator beside {other.name!r}: there is one at most")
    for family in row.runs:
        if family not in FAMILIES:
            raise ValueError(f"there is no family {family} of operators")
    kind = register_device(
        row.name, row.count, row.keeps_blocks, row.allocate, row.free, row.copy_within,
        row.allocate_pinned, row.free_pinned,
    )  # fmt: skip
    for family, address in row.runs.items():
        set_device_run(kind, family, address)
    KEY_BITS[row.name] = DEVICE_KEYS[kind]
    _registered[row.name] = row
    for index in range(row.count):
        each = device(row.name, index)
        BY_NUMBER[kind + _OF_KIND * index] = each
        _numbers[each] = kind + _OF_KIND * index


def functions_of(where: device) -> tuple[Device, int]:
    """Return what the kind of a registered device was registered with, and the index within the kind."""
    return _registered[where.type], where.index or 0


def accelerator() -> Device | None:
    """The kind of device that was registered as the accelerator."""
    return next((row for row in _registered.values() if row.is_accelerator), None)


def is_registered(where: device | str) -> bool:
    """True of all devices, or types of devices, but the CPU and `meta`."""
    return (where if isinstance(where, str) else where.type) in _registered


def available(value: Any) -> device:
    """The device that is meant by one or by its text; without an index the thread's current one of its kind.

    Raises RuntimeError where no tensor can be on it.
    """
    given = value if isinstance(value, device) else device(value)
    row = _registered.get(given.type)
    found = BY_NUMBER.get(_numbers.get(device(given.type, 0 if row else None), -1))
    if found is None:
        raise RuntimeError(
            f"device {str(given)!r} is not available: tensors of this build live on "
            + ", ".join(["the CPU", *_registered])
        )
    if row is None:
        return found
    index = _current.index_of.get(row.name, 0) if given.index is None else given.index
    if index >= row.count:
        raise RuntimeError(f"device {str(given)!r} is not available: there are {row.count} devices of this kind")
    return BY_NUMBER[_numbers[device(row.name, index)]]


def number_of(where: device) -> int:
    """Return the core's number of an available device."""
    return _numbers[where]


def device_of(tensor: Any) -> device:
    """The device of a tensor, whatever its class says."""
    return BY_NUMBER[lib.device(tensor._h)]


def holds_elements(where: device) -> bool:
    """Return whether tensors on a device have elements: False for meta."""
    return where is not META


def has_values(tensor: Any) -> bool:
    """False of a tensor that is only described, whose elements nobody can read."""
    return not lib.keys(tensor._h) & _DESCRIBED or holds_elements(tensor.device)


def stands_for_others(tensor: Any) -> bool:
    """True of a tensor without memory whose elements somebody has: those that it consists of, or its payload."""
    return bool(lib.keys(tensor._h) & _DESCRIBED) and holds_elements(tensor.device)


# ---- which one of a kind ------------------------------------------------------------------------------------


class _Current(threading.local):
    """The devices of this thread that are meant where only their kind is named: their index, by kind."""

    def __init__(self) -> None:
        self.index_of: dict[str, int] = {}


_current = _Current()


def set_current(where: device) -> None:
    """Set the registered device of this thread that is meant where only its kind is named."""
    _current.index_of[where.type] = where.index or 0


# ---- the device of new tensors ------------------------------------------------------------------------------


class _Blocks(threading.local):
    """The functions that enter and leave a block, by device: the core changes the state of the thread, and restores
    it."""

    def __init__(self) -> None:
        self.modes: dict[device, ModeBase] = {}


_OF_DEVICE = 2
"""The word of the core that a mode changes: the number of the thread's default device."""
_blocks = _Blocks()


def _mode(where: device) -> ModeBase:
    mode = ModeBase()
    mode._word, mode._cleared, mode._set = _OF_DEVICE, 0xFFFFFFFF, _numbers[where]
    return mode


def _block(value: device) -> ModeBase:
    where = available(value)
    if where not in _blocks.modes:
        _blocks.modes[where] = _mode(where)
    return _blocks.modes[where]


def get_default_device() -> device:
    """Return the device of tensors that this thread makes where none is named."""
    return BY_NUMBER[default_device()]


def set_default_device(device: device | str | None) -> None:
    """Choose the device of tensors that this thread makes from now on where none is named; None stands for the CPU.

    Raises RuntimeError for a device that is not available.
    """
    _mode(CPU if device is None else available(device)).__enter__()


def on_device(where: device | None, function: Callable[..., _Result], *args: Any) -> _Result:
    """Return the result of a function while a device is the default one; None leaves it."""
    if where is None:
        return function(*args)
    return with_device(_numbers[where], function, *args)
