"""Blocks in which products of matrices are computed in a half format, and what needs the range of float32 in it."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any

from .._base.dtypes import dtype
from .._base.warn import warn
from .._dispatch.autocast import cast_tensors
from . import autocast_state as state

__all__ = ["autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]
_PACKAGE_NAMES = ["autocast"]

_HALVES = ("bfloat16", "float16")


class _Entered(threading.local):
    def __init__(self) -> None:
        self.before: list[tuple[bool, dtype]] = []
        """The settings before each block that this thread is within."""


_entered = _Entered()


def is_autocast_available(device_type: str) -> bool:
    """Return whether there is autocast for a kind of device: for the CPU alone.

    Raises:
        TypeError: it is no text.
    """
    if not isinstance(device_type, str):
        raise TypeError(f"device_type must be a str, but got {type(device_type).__name__}")
    return device_type == "cpu"


class autocast:  # noqa: N801 (PyTorch's name)
    """A block, or a decorator of functions, in which products of matrices are computed in a half format.

    Args:
        device_type (str): `cpu`. For other devices nothing happens, as there are none.
        dtype: bfloat16, which None means, or float16.
        enabled (bool): False undoes a block around this one.
        cache_enabled (bool): without effect.

    Raises:
        ValueError: the kind of device is no text.
    """

    def __init__(
        self, device_type: str, dtype: Any = None, enabled: bool = True, cache_enabled: bool | None = None
    ) -> None:
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        self.device = device_type
        self.fast_dtype = self.dtype = state.get_autocast_dtype(device_type) if dtype is None else dtype
        if str(self.dtype).rpartition(".")[2] not in _HALVES:
            if enabled and device_type == "cpu":
                warn(
                    f"In CPU autocast, but the target dtype is not supported. Disabling autocast. CPU Autocast only "
                    f"supports dtype of opweave.bfloat16 and opweave.float16 currently, but got {self.dtype}."
                )
            enabled = False
        self.enabled = self._enabled = enabled and device_type == "cpu"

    def __enter__(self) -> autocast:
        _entered.before.append((state.is_autocast_enabled(self.device), state.get_autocast_dtype(self.device)))
        state.set_autocast_enabled(self.device, self.enabled)
        state.set_autocast_dtype(self.device, self.dtype)
        state.autocast_increment_nesting()
        return self

    def __exit__(self, *exception: object) -> None:
        state.autocast_decrement_nesting()
        enabled, lower = _entered.before.pop()
        state.set_autocast_enabled(self.device, enabled)
        state.set_autocast_dtype(self.device, lower)

    def __call__(self, func: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(func)
        def decorated(*args: Any, **kwargs: Any) -> Any:
            with self:
                return func(*args, **kwargs)

        return decorated


def custom_fwd(fwd: Any = None, *, device_type: str = "cpu", cast_inputs: dtype | None = None) -> Any:
    """Decorate `forward` of a Function: it runs under the autocast of its call, or outside with inputs
    of the dtype `cast_inputs`.
    """
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def decorated(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        ctx._dtype = state.get_autocast_dtype(device_type)
        ctx._fwd_used_autocast = state.is_autocast_enabled(device_type)
        if cast_inputs is None or not ctx._fwd_used_autocast:
            return fwd(ctx, *args, **kwargs)
        ctx._fwd_used_autocast = False
        with autocast(device_type, enabled=False):
            return fwd(ctx, *cast_tensors(args, cast_inputs), **cast_tensors(kwargs, cast_inputs))

    return decorated


def custom_bwd(bwd: Any = None, *, device_type: str = "cpu") -> Any:
    """Decorate `backward` of a Function whose `forward` has `custom_fwd`: it runs under the same autocast."""
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def decorated(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        with autocast(device_type, dtype=ctx._dtype, enabled=ctx._fwd_used_autocast):
            return bwd(ctx, *args, **kwargs)

    return decorated
