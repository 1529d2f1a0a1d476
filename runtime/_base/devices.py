"""The devices on which tensors are: the CPU, and `meta`, where they have no elements.

A tensor on `meta` knows its dtype, shape and strides. Operators say what their results are and compute nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar, overload

from .._C import lib
from .._handle import ModeBase, excluded, with_keys
from .keys import KEY_BITS

_META = KEY_BITS["meta"]
_WRAPPER = KEY_BITS["wrapper"]
_DESCRIBED = _META | KEY_BITS["sparse"] | _WRAPPER
"""Those of handles that only describe what they are the handles of."""
_DEFAULT = KEY_BITS["device"]
"""Excluded where factories make tensors on `meta` if no device is named."""

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

    def __enter__(self) -> device:
        """Within the block, tensors of this thread are made on the device unless another one is named."""
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
    if name not in _DEVICE_TYPES:
        known = ", ".join(_DEVICE_TYPES)
        raise RuntimeError(f"Expected one of {known} device type at start of device string: {name}")
    if index is not None and index < 0:
        raise RuntimeError("Device index must not be negative")
    return name, int(number) if colon else index


CPU = device("cpu")
META = device("meta")


def available(value: Any) -> device:
    """The device that is meant by one or by its text, without an index. Raises RuntimeError where no tensor can be."""
    given = value if isinstance(value, device) else device(value)
    if given.type == "cpu":
        return CPU
    if given.type == "meta":
        return META
    raise RuntimeError(f"device {str(given)!r} is not available: tensors of this build live on the CPU")


def has_values(tensor: Any) -> bool:
    """False of a tensor that is only described, whose elements nobody can read."""
    keys = lib.keys(tensor._h) & _DESCRIBED
    return keys != _META and (keys == 0 or keys & _WRAPPER != 0 or tensor.device is not META)


# ---- the device of new tensors ------------------------------------------------------------------------------


class _Blocks(threading.local):
    """What enters and leaves a block, by device: the core changes the state of the thread, and restores it."""

    def __init__(self) -> None:
        self.modes = {CPU: _mode(CPU), META: _mode(META)}


def _mode(where: device) -> ModeBase:
    mode = ModeBase()
    mode._cleared, mode._set = _change(where)
    return mode


def _change(where: device) -> tuple[int, int]:
    """The keys that are looked at again where the device is the default one, and those that are excluded."""
    return (0, _DEFAULT) if where is META else (_DEFAULT, 0)


_blocks = _Blocks()


def _block(value: device) -> ModeBase:
    return _blocks.modes[available(value)]


def get_default_device() -> device:
    """Return the device of tensors that this thread makes where none is named."""
    return META if excluded() & _DEFAULT else CPU


def set_default_device(device: device | str | None) -> None:
    """Choose the device of tensors that this thread makes from now on where none is named; None stands for the CPU.

    Raises RuntimeError for a device that is not available.
    """
    _mode(CPU if device is None else available(device)).__enter__()


def on_device(where: device | None, function: Callable[..., _Result], *args: Any) -> _Result:
    """What a function returns while a device is the default one; None leaves it."""
    if where is None or where is get_default_device():
        return function(*args)
    result: _Result = with_keys(*_change(where), function, *args)
    return result
