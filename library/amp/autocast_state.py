"""The settings of autocast in this thread, by kind of device. Only those of the CPU have an effect."""

from __future__ import annotations

from typing import Any, overload

from .._base.devices import device
from .._base.dtypes import dtype
from .._base.type_names import type_name, wrong_type
from .._base.warn import warn
from .._dispatch.autocast import set_casting
from .._dispatch.autocast import state as _state

_PACKAGE_NAMES = [
    "autocast_decrement_nesting",
    "autocast_increment_nesting",
    "clear_autocast_cache",
    "get_autocast_cpu_dtype",
    "get_autocast_dtype",
    "is_autocast_cache_enabled",
    "is_autocast_cpu_enabled",
    "is_autocast_enabled",
    "set_autocast_cache_enabled",
    "set_autocast_cpu_dtype",
    "set_autocast_cpu_enabled",
    "set_autocast_dtype",
    "set_autocast_enabled",
]

_dtype = dtype
_KINDS = frozenset(_state.dtypes)
"""The kinds of devices that have autocast."""


def _kind(function: str, device_type: Any) -> str:
    if not isinstance(device_type, str):
        raise wrong_type(function, "device_type", "str", device_type, position=1)
    return device(device_type).type


def _kind_that_casts(function: str, device_type: Any) -> str:
    kind = _kind(function, device_type)
    if kind not in _KINDS:
        raise RuntimeError("unknown device type for autocast in get_autocast_dispatch_key_from_device_type")
    return kind


def is_autocast_enabled(device_type: str = "cuda") -> bool:
    """Return whether this thread casts for a kind of device: within a block of `autocast`, or as it was set.

    Raises:
        TypeError: `device_type` is no text.
        RuntimeError: it is no kind of device, or one that has no autocast.
    """
    return _kind_that_casts("is_autocast_enabled", device_type) in _state.enabled


@overload
def set_autocast_enabled(device_type: str, enabled: bool) -> None: ...
@overload
def set_autocast_enabled(device_type: bool, /) -> None: ...
@overload
def set_autocast_enabled(*, enabled: bool) -> None: ...
def set_autocast_enabled(device_type: Any = "cuda", enabled: Any = None) -> None:
    """Set whether this thread casts for a kind of device from now on, which for `cpu` alone has an effect.

    Args:
        device_type (str): the kind of device, which may be left out and is `cuda` then.
        enabled (bool): whether it does.

    Raises:
        TypeError: an argument has another type.
        RuntimeError: it is no kind of device, or one that has no autocast.
    """
    position = 2
    if enabled is None:
        device_type, enabled, position = "cuda", device_type, 1
    kind = _kind_that_casts("set_autocast_enabled", device_type)
    if not isinstance(enabled, bool):
        raise wrong_type("set_autocast_enabled", "enabled", "bool", enabled, position)
    (_state.enabled.add if enabled else _state.enabled.discard)(kind)
    if kind == "cpu":
        set_casting(enabled)


def get_autocast_dtype(device_type: str) -> dtype:
    """Return the half format of a kind of device: in it products are computed.

    Raises:
        TypeError: `device_type` is no text.
        RuntimeError: it is no kind of device, or one that has no half format.
    """
    kind = _kind("get_autocast_dtype", device_type)
    if kind not in _state.dtypes:
        raise RuntimeError("unsupported scalarType")
    return _state.dtypes[kind]


def set_autocast_dtype(device_type: str, dtype: dtype) -> None:
    """Set the half format of a kind of device in this thread.

    Raises:
        TypeError: an argument has another type.
        RuntimeError: it is no kind of device.
    """
    kind = _kind("set_autocast_dtype", device_type)
    if not isinstance(dtype, _dtype):
        raise wrong_type("set_autocast_dtype", "dtype", "opweave.dtype", dtype, position=2)
    _state.dtypes[kind] = dtype


def is_autocast_cache_enabled() -> bool:
    """Return whether copies of parameters are kept until the block ends: without effect, as none are."""
    return _state.cache


def set_autocast_cache_enabled(enabled: bool) -> None:
    """Set what `is_autocast_cache_enabled` returns. Raises TypeError if it is no bool."""
    if not isinstance(enabled, bool):
        raise TypeError(f"enabled must be a bool (got {type_name(enabled)})")
    _state.cache = enabled


def clear_autocast_cache() -> None:
    """Forget copies of parameters: none are kept."""


def autocast_increment_nesting() -> int:
    """Count one more block of autocast that this thread is within, and return their number."""
    _state.nesting += 1
    return _state.nesting


def autocast_decrement_nesting() -> int:
    """Count one block of autocast less that this thread is within, and return their number."""
    _state.nesting -= 1
    return _state.nesting


# ---- earlier names ------------------------------------------------------------------------------------------


def _deprecate(old: str, new: str) -> None:
    warn(f"torch.{old} is deprecated. Please use torch.{new} instead.", DeprecationWarning)


def is_autocast_cpu_enabled() -> bool:
    """Return `is_autocast_enabled("cpu")`, with a warning."""
    _deprecate("is_autocast_cpu_enabled()", "is_autocast_enabled('cpu')")
    return is_autocast_enabled("cpu")


def set_autocast_cpu_enabled(enabled: bool) -> None:
    """Call `set_autocast_enabled("cpu", enabled)`, with a warning. Raises TypeError if it is no bool."""
    _deprecate("set_autocast_cpu_enabled(enabled)", "set_autocast_enabled('cpu', enabled)")
    if not isinstance(enabled, bool):
        raise TypeError(f"enabled must be a bool (got {type_name(enabled)})")
    set_autocast_enabled("cpu", enabled)


def get_autocast_cpu_dtype() -> dtype:
    """Return `get_autocast_dtype("cpu")`, with a warning."""
    _deprecate("get_autocast_cpu_dtype()", "get_autocast_dtype('cpu')")
    return get_autocast_dtype("cpu")


def set_autocast_cpu_dtype(dtype: dtype) -> None:
    """Call `set_autocast_dtype("cpu", dtype)`, with a warning. Raises TypeError if it is no dtype."""
    _deprecate("set_autocast_cpu_dtype(dtype)", "set_autocast_dtype('cpu', dtype)")
    if not isinstance(dtype, _dtype):
        raise TypeError(f"dtype must be a torch.dtype (got {type_name(dtype)})")
    set_autocast_dtype("cpu", dtype)
