"""Autocast: operators that are computed in a half format, in float32, or in the widest format of their tensors.

Where a thread casts for the CPU, the dispatch key `autocast` is included in its calls and asked before that of
autograd, so that the graph records the casts. An operator whose entry has the key `autocast` gets tensors of its format
and is computed without the key; any other that is made of operators casts within. Functions that are operators in torch
and Python here cast by the decorator `autocasts`. The formats are those of torch's lists for the CPU; `as_is` are
operators made of those of the lists here and of kernels in torch.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar, cast

from .._base.devices import CPU
from .._base.dtypes import EXPORTS, dtype
from .._base.sequences import remade
from .._base.tensor_class import Tensor
from .._handle import keys as keys_of
from .._handle import with_keys
from .dispatcher import KEYS, redispatch, register
from .modes import include_key
from .op import NEW, Op

__all__ = ["AUTOCAST", "autocasts", "cast_tensors", "casting", "computed", "set_casting", "state"]

_F = TypeVar("_F", bound=Callable[..., Any])

AUTOCAST = KEYS["autocast"]
_FLOAT32, _FLOAT64 = EXPORTS["float32"], EXPORTS["float64"]

_MARGINS = {"reflect": (2, 4), "replicate": (2, 4, 6)}
"""The numbers of margins with which `pad` is computed in float32, by mode."""


def _in_half(values: Any) -> dtype:
    return state.dtypes["cpu"]


def _in_float32(values: Any) -> dtype:
    return _FLOAT32


def _in_widest(values: Any) -> dtype:
    half = state.dtypes["cpu"]
    formats = {each.dtype for each in _castable(values)}
    if not formats <= {half, _FLOAT32}:
        raise RuntimeError("Unexpected floating ScalarType in at::autocast::prioritize")
    return _FLOAT32 if _FLOAT32 in formats else half


def _as_they_are(values: Any) -> None:
    return None


def _in_float32_by_mode(values: Any) -> dtype | None:
    _, margins, mode, *_ = values
    return _FLOAT32 if len(margins) in _MARGINS.get(mode, ()) else None


_RULES: dict[str | None, Callable[[Any], dtype | None]] = {
    "half": _in_half,
    "float32": _in_float32,
    "widest": _in_widest,
    "as_is": _as_they_are,
    "borders": _in_float32_by_mode,
    None: _as_they_are,
}
"""The format for these arguments, or None if they stay as they are, by the word of an entry."""

_FIRST_FORMATS = {
    "bfloat16": ("cpu", "hpu", "maia", "xla"),
    "float16": ("cuda", "ipu", "mps", "mtia", "privateuseone", "xpu"),
}


class _State(threading.local):
    """The settings of autocast in a thread, by kind of device."""

    def __init__(self) -> None:
        self.enabled: set[str] = set()
        self.dtypes = {kind: EXPORTS[name] for name, kinds in _FIRST_FORMATS.items() for kind in kinds}
        self.cache = True
        self.nesting = 0


state = _State()


def casting() -> dtype | None:
    """Return the format to which products are cast in the calls of this thread; None: they are not."""
    return state.dtypes[CPU.type] if keys_of() & AUTOCAST else None


def set_casting(enabled: bool) -> None:
    """Set whether the calls of this thread cast from now on."""
    include_key("autocast", enabled)


# ---- casts --------------------------------------------------------------------------------------------------


def _is_castable(value: Any) -> bool:
    return (
        isinstance(value, Tensor)
        and value.is_floating_point()
        and value.dtype is not _FLOAT64
        and value.device.type == CPU.type
    )


def _castable(values: Any) -> Iterator[Any]:
    if isinstance(values, (tuple, list)):
        for each in values:
            yield from _castable(each)
    elif _is_castable(values):
        yield values


def cast_tensors(values: Any, wanted: dtype | None) -> Any:
    """Nested values with the floating tensors of the CPU in another dtype, those of float64 excepted. None: as they
    are."""
    if wanted is None:
        return values
    if isinstance(values, Tensor):
        return values.to(wanted) if _is_castable(values) and values.dtype is not wanted else values
    if isinstance(values, (tuple, list)):
        return remade(type(values), [cast_tensors(each, wanted) for each in values])
    if isinstance(values, dict):
        return {name: cast_tensors(each, wanted) for name, each in values.items()}
    return values


def _cast(op: Op, args: Sequence[Any], out: Any, mode: int) -> Any:
    go_on = functools.partial(redispatch, op, below="autocast")
    if op.autocast is None:
        return go_on(args, out, mode)
    wanted = _RULES[op.autocast](args) if mode == NEW and out is None else None
    return with_keys(0, AUTOCAST, go_on, cast_tensors(args, wanted), out, mode)


def computed(rule: str | None, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """The result of a function of Python that does what an operator does: its tensors are cast by the rule of entries
    that have this word, and what it calls casts no more."""
    if not keys_of() & AUTOCAST:
        return function(*args, **kwargs)
    args, kwargs = cast_tensors((args, kwargs), _RULES[rule](args))
    return with_keys(0, AUTOCAST, functools.partial(function, *args, **kwargs))


def autocasts(rule: str) -> Callable[[_F], _F]:
    """Decorate a function of Python that is an operator in torch, whose entry would have this word."""

    def decorate(function: _F) -> _F:
        @functools.wraps(function)
        def decorated(*args: Any, **kwargs: Any) -> Any:
            return computed(rule, function, *args, **kwargs)

        return cast(_F, decorated)

    return decorate


register("autocast", _cast)
