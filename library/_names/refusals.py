"""Names of torch that have no meaning here: they can be imported, and say so where they are used."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, NoReturn

__all__ = ["refused_class", "refused_decorator", "refused_function"]


def refused_function(module: str, name: str, instead: str) -> Callable[..., NoReturn]:
    """A function that raises NotImplementedError, whose message ends with what to do instead."""

    def function(*args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(f"{module}.{name}() does not exist: {instead}")

    function.__module__ = module
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"Raise NotImplementedError: {instead}"
    return function


def refused_class(module: str, name: str, instead: str) -> type:
    """A class that has no instances: objects can be asked whether they are some, and classes can be derived from it."""

    def new(cls: type, *args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(f"{module}.{name} has no instances: {instead}")

    return type(name, (), {"__new__": new, "__module__": module, "__doc__": f"A class without instances: {instead}"})


def refused_decorator(module: str, name: str, instead: str) -> Callable[..., Any]:
    """A decorator, whose functions raise NotImplementedError when they are called."""
    refuse = refused_function(module, name, instead)

    def decorate(function: Any) -> Any:
        return wraps(function)(lambda *args, **kwargs: refuse()) if callable(function) else refuse()

    return decorate
