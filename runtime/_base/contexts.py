"""Functions each of whose calls is within a context."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .lazy_imports import load

__all__ = ["context_decorator"]


def context_decorator(ctx: Any, func: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function each of whose calls, or of a generator each of whose steps, is within a context.

    Args:
        ctx: returns the context of each call.
        func: a function or a generator function.
    """
    if load("inspect").isgeneratorfunction(func):

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
