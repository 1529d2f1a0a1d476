"""Context managers that are decorators as well, which libraries derive from `torch.utils._contextlib`'s."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._base.contexts import context_decorator as context_decorator

__all__ = ["_DecoratorContextManager", "_NoParamDecoratorContextManager", "context_decorator"]


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
