"""Modes of a thread that see its calls: what users call (`TorchFunctionMode`), or what runs then (`TorchDispatchMode`).

A mode that is entered includes a dispatch key, so that all calls of the thread come to the dispatcher, whatever tensors
they have. The handlers of these keys ask the innermost mode, which is left meanwhile: what it calls itself goes to the
mode around it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .._handle import include
from . import overloads, subclass
from .dispatcher import KEYS, redispatch, register
from .op import Op

if TYPE_CHECKING:
    from typing_extensions import Self


RECORDED = "compile"
"""The key of calls that are recorded, to be compiled or exported."""


class _Entered(threading.local):
    def __init__(self) -> None:
        self.modes: dict[str, tuple[Any, ...]] = {}


_entered = _Entered()


def _set(key: str, modes: tuple[Any, ...]) -> None:
    _entered.modes[key] = modes
    include(sum(KEYS[each] for each, active in _entered.modes.items() if active))


def innermost(key: str) -> Any:
    """The mode that was entered last; None: there is none."""
    modes = _entered.modes.get(key)
    return modes[-1] if modes else None


def without_innermost(key: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """The result of a function during which the innermost mode is left."""
    modes = _entered.modes[key]
    _set(key, modes[:-1])
    try:
        return function(*arguments)
    finally:
        _set(key, modes)


def include_key(key: str, included: bool) -> None:
    """Set whether all calls of the thread come to the handlers of a key that has no modes."""
    _set(key, (key,) if included else ())


def are_recorded() -> bool:
    """Whether the calls of the thread are recorded, to be compiled or exported."""
    return innermost(RECORDED) is not None


class _ModeBase:
    _key: str

    def __enter__(self) -> Self:
        _set(self._key, (*_entered.modes.get(self._key, ()), self))
        return self

    def __exit__(self, *exception: object) -> None:
        _set(self._key, _entered.modes[self._key][:-1])


class TorchFunctionMode(_ModeBase):
    """Sees the functions and methods that are called in its block, before classes derived from Tensor do.

    Override `__torch_function__(self, func, types, args=(), kwargs=None)`: its result is that of the call.
    """

    _key = "function_mode"

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise NotImplementedError


class TorchDispatchMode(_ModeBase):
    """Sees the operators that run in its block, after autograd has recorded them and composites are decomposed.

    Override `__torch_dispatch__(self, func, types, args=(), kwargs=None)`: its result is that of the operator. `func`
    is an overload such as `opweave.ops.aten.add.Tensor`.
    """

    _key = "dispatch_mode"

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise NotImplementedError


def _see_function(op: Op, args: Sequence[Any], out: Any, mode: int) -> Any:
    current = innermost("function_mode")
    if current is None:
        return redispatch(op, args, out, mode, below="function_mode")
    overloaded = subclass.overloaded_arguments((*args, out))
    types = tuple([type(each) for each in overloaded])
    function = overloads.public_function(op, mode)
    positional, named = overloads.as_called(op, args, out, mode)
    result = without_innermost("function_mode", current.__torch_function__, function, types, positional, named)
    return result if result is not NotImplemented else subclass.answer(overloaded, function, types, positional, named)


def _see_operator(op: Op, args: Sequence[Any], out: Any, mode: int) -> Any:
    current = innermost("dispatch_mode")
    if current is None or op.decomposes:
        return redispatch(op, args, out, mode, below="dispatch_mode")
    overload = overloads.of_call(op, mode, out)
    positional, named = overloads.as_called(op, args, out, mode)
    return without_innermost("dispatch_mode", current.__torch_dispatch__, overload, (), positional, named)


register("function_mode", _see_function)
register("dispatch_mode", _see_operator)
