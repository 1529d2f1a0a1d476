"""Functions that are recorded as calls, whatever they do: those of the package, and those that users name."""

from __future__ import annotations

import builtins
import functools
import inspect
import sys
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

from ._names import public_functions
from .proxy import proxy_among

__all__ = ["Patches", "original_of", "wrap"]

_PACKAGE = __name__.partition(".")[0]
_MISSING = object()

_wrapped: dict[tuple[int, str], dict[str, Any]] = {}
"""The globals of modules in which `wrap` was called, by their identity and the name."""
_recorders: dict[int, Any] = {}


def wrap(fn_or_name: str | Callable[..., Any]) -> Any:
    """Register a function of the module that calls this: its calls are recorded, and what it does is not traced. At the
    level of the module, as a call or as a decorator:

        fx.wrap("len")

        @fx.wrap
        def function(x, y): ...

    Args:
        fn_or_name (str | Callable): a function that is global there, or the name of one, which may be a builtin.

    Raises:
        RuntimeError: it is neither.
        NotImplementedError: not called at the level of a module.
    """
    if not callable(fn_or_name) and not isinstance(fn_or_name, str):
        raise RuntimeError("Unsupported type for global function! Must be either a callable or string name")
    name = fn_or_name if isinstance(fn_or_name, str) else fn_or_name.__name__
    frame = inspect.currentframe()
    caller = None if frame is None else frame.f_back
    if caller is None or caller.f_code.co_name != "<module>":
        raise NotImplementedError("wrap must be called at the top level of a module")
    _wrapped[id(caller.f_globals), name] = caller.f_globals
    return fn_or_name


def original_of(function: Any) -> Any:
    """The function that is recorded for one that stands in its place while a program is traced."""
    return getattr(function, "_recorded", function)


def _recorder(function: Callable[..., Any]) -> Any:
    """The function, but for calls with traced values, which are recorded."""
    if id(function) not in _recorders:

        @functools.wraps(function)
        def recorder(*args: Any, **kwargs: Any) -> Any:
            proxy = proxy_among((args, kwargs))
            if proxy is None:
                return function(*args, **kwargs)
            return proxy.tracer.create_proxy("call_function", function, args, kwargs)

        recorder._recorded = function  # type: ignore[attr-defined]
        _recorders[id(function)] = recorder
    return _recorders[id(function)]


@functools.cache
def _public_recorders(module: str) -> dict[str, Any]:
    """Return the functions that record the calls of functions of a module of the package, by name."""
    return {name: _recorder(function) for name, function in public_functions()[module].items()}


@functools.cache
def _public_identities() -> frozenset[int]:
    return frozenset(id(each) for functions in public_functions().values() for each in functions.values())


class Patches:
    """A block in which functions are replaced by what records their calls.

    Args:
        modules: modules of which all functions are, besides the package's own.
        functions: further functions that are.
    """

    def __init__(self, modules: Iterable[ModuleType], functions: Iterable[Callable[..., Any]]) -> None:
        self._modules = list(modules)
        self._recorded = {id(each) for each in functions} | _public_identities()
        self._looked_at: set[int] = set()
        self._before: list[Callable[[], Any]] = []

    def __enter__(self) -> Patches:
        try:
            for name, functions in public_functions().items():
                # There are a thousand of them: those of a module are replaced together.
                names = vars(sys.modules[f"{_PACKAGE}.{name}".rstrip(".")])
                before = {each: function for each, function in functions.items() if names.get(each) is function}
                self._before.append(functools.partial(names.update, before))
                recorders = _public_recorders(name)
                names.update({each: recorders[each] for each in before})
            for module in self._modules:
                public = {each: value for each, value in vars(module).items() if each[0] != "_" and callable(value)}
                self._recorded.update(id(value) for value in public.values() if not isinstance(value, type))
                self.look_at(vars(module))
            for (_, name), names in list(_wrapped.items()):
                if name in names or hasattr(builtins, name):
                    self._replace(names, name)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *error: Any) -> None:
        while self._before:
            self._before.pop()()

    def look_at(self, names: dict[str, Any]) -> None:
        """Replace the functions among the global names of a function that is about to run."""
        if id(names) in self._looked_at:
            return
        self._looked_at.add(id(names))
        for name, value in list(names.items()):
            if id(value) in self._recorded:
                self._replace(names, name)

    def set_attribute(self, owner: Any, name: str, value: Any) -> None:
        """Set an attribute of a class that has it, for the block."""
        own = vars(owner).get(name, _MISSING)
        self._before.append(
            functools.partial(delattr, owner, name) if own is _MISSING else functools.partial(setattr, owner, name, own)
        )
        setattr(owner, name, value)

    def _replace(self, names: dict[str, Any], name: str) -> None:
        before = names.get(name, _MISSING)
        function = getattr(builtins, name) if before is _MISSING else before
        if original_of(function) is not function:
            return
        self._before.append(
            functools.partial(names.pop, name, None)
            if before is _MISSING
            else functools.partial(names.__setitem__, name, before)
        )
        names[name] = _recorder(function)
