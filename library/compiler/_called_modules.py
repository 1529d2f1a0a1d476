"""Modules that are called by functions which cannot be recorded: their calls are compiled.

So a step of training that changes parameters, and runs as it is, has its forward pass in fewer loops, and with it the
backward pass of that.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import Any

_MOST_MODULES = 16
"""The number of modules that a function has compiled: it may make new ones in each call."""


class CalledModules:
    """The outermost modules that a function calls, with what compiles the calls of each.

    Attributes:
        compiled: the compiled calls, by modules.
    """

    def __init__(self, compile_call: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
        """Begin with none. `compile_call` gives the compiled form of a function."""
        self.compiled: dict[Any, Callable[..., Any]] = {}
        self._compile_call = compile_call

    def run(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return the result of a function, whose modules run as they are compiled."""
        from ..nn.modules._calls import Calls

        Calls._compiled_call_impl = _COMPILED_CALL  # type: ignore[assignment]
        return _with(self, function, args, kwargs)

    def call_of(self, module: Any) -> Callable[..., Any] | None:
        """Return the compiled call of a module; None: it is called as it is."""
        if module not in self.compiled:
            if len(self.compiled) >= _MOST_MODULES or not (module._parameters or module._modules):
                return None
            self.compiled[module] = self._compile_call(module._call_impl)
        return partial(self._call, self.compiled[module])

    @staticmethod
    def _call(compiled: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return _with(None, compiled, args, kwargs)


class _State(threading.local):
    modules: CalledModules | None = None


_state = _State()


def _with(
    modules: CalledModules | None, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    before, _state.modules = _state.modules, modules
    try:
        return function(*args, **kwargs)
    finally:
        _state.modules = before


class _CompiledCall:
    """The attribute of modules that is their compiled call, or None."""

    def __get__(self, module: Any, kind: type) -> Callable[..., Any] | None:
        modules = _state.modules
        return None if modules is None or module is None else modules.call_of(module)


_COMPILED_CALL = _CompiledCall()
