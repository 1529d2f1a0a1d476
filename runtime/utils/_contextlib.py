"""Context managers that are decorators as well, which libraries derive from `torch.utils._contextlib`'s."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

__all__ = ["_DecoratorContextManager", "_NoParamDecoratorContextManager", "context_decorator"]


def context_decorator(ctx: Any, func: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function each of whose calls, or of a generator each of whose steps, is within a context.

    Args:
        ctx: returns the context of each call.
        func: a function or a generator function.
    """
    if inspect.isgeneratorfunction(func):

        @functools.wraps(func)
        def steps(*args: Any, **kwargs: Any) -> Any:
            generator = func(*args, **kwargs)
            send, given = generator.send, None
            try:
                while True:
                    with ctx():
                        value = send(given)
                    try:
                        given, send = (yield value), generator.send
                    except GeneratorExit:
                        with ctx():
                            generator.close()
                        raise
                    except BaseException as error:
                        given, send = error, generator.throw
            except StopIteration as end:
                return end.value

        return steps

    @functools.wraps(func)
    def called(*args: Any, **kwargs: Any) -> Any:
        with ctx():
            return func(*args, **kwargs)

    return called


class _DecoratorContextManager:
    """Base of context managers that are decorators: each call is within a new one, which `clone` makes."""

    def __call__(self, orig_func: Callable[..., Any]) -> Callable[..., Any]:
        return context_decorator(self.clone, orig_func)

    def __enter__(self) -> Any:
        raise NotImplementedError

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> Any:
        raise NotImplementedError

    def clone(self) -> Any:
        """Return another one of the class; one whose `__init__` takes arguments defines it anew."""
        return type(self)()


class _NoParamDecoratorContextManager(_DecoratorContextManager):
    """The same, where the class itself may decorate: `@mode` is `@mode()`."""

    def __new__(cls, orig_func: Any = None) -> Any:
        if orig_func is None:
            return super().__new__(cls)
        return cls()(orig_func)
