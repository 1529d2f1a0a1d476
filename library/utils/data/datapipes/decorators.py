"""Decorators of classes of pipes."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any

from .datapipe import IterDataPipe, MapDataPipe

__all__ = [
    "argument_validation", "functional_datapipe", "guaranteed_datapipes_determinism", "non_deterministic",
    "runtime_validation", "runtime_validation_disabled",
]  # fmt: skip


class functional_datapipe:  # noqa: N801 (PyTorch's name)
    """Decorator: the class is a form of other pipes, by this name."""

    def __init__(self, name: str, enable_df_api_tracing: bool = False) -> None:
        self.name = name

    def __call__(self, cls: Any) -> Any:
        kind = cls.cls if isinstance(cls, non_deterministic) else cls
        if not (isinstance(kind, type) and issubclass(kind, (IterDataPipe, MapDataPipe))):
            raise TypeError("`functional_datapipe` can only decorate IterDataPipe")
        base = IterDataPipe if issubclass(kind, IterDataPipe) else MapDataPipe
        base.register_datapipe_as_function(self.name, cls)
        return cls


class _Switch:
    """A block, or from the call on until it is left, in which something holds."""

    active = False

    def __init__(self) -> None:
        self.prev, type(self).active = type(self).active, True

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exception: object) -> None:
        type(self).active = self.prev


class guaranteed_datapipes_determinism(_Switch):  # noqa: N801 (PyTorch's name)
    """A block in which pipes that are not deterministic are errors."""


class runtime_validation_disabled(_Switch):  # noqa: N801 (PyTorch's name)
    """A block of PyTorch's checks of types, of which there are none here."""


class non_deterministic:  # noqa: N801 (PyTorch's name)
    """Decorator: the class is not deterministic, or is not where a function of its arguments returns True."""

    def __init__(self, arg: Any) -> None:
        self.cls: Any = None
        self.deterministic_fn: Callable[..., bool] = lambda *args, **kwargs: True
        if isinstance(arg, type):
            if not issubclass(arg, IterDataPipe):
                raise TypeError(
                    f"Only `IterDataPipe` can be decorated with `non_deterministic`, but {arg.__name__} is found"
                )
            self.cls = arg
        elif callable(arg):
            self.deterministic_fn = arg
        else:
            raise TypeError(f"{arg} can not be decorated by non_deterministic")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.cls is None:
            if not (isinstance(args[0], type) and issubclass(args[0], IterDataPipe)):
                raise TypeError(f"Only `IterDataPipe` can be decorated, but {args[0].__name__} is found")
            self.cls = args[0]
            return self
        result = self.deterministic_fn(*args, **kwargs)
        if not isinstance(result, bool):
            raise TypeError(
                "deterministic_fn of `non_deterministic` decorator is required to return a boolean value, but "
                f"{type(result)} is found"
            )
        if result and guaranteed_datapipes_determinism.active:
            raise TypeError(
                f"{self.cls.__name__} is non-deterministic, but you set 'guaranteed_datapipes_determinism'. You can "
                "turn off determinism for this DataPipe if that is acceptable for your application"
            )
        return self.cls(*args, **kwargs)


def argument_validation(f: Any) -> Any:
    """Decorator: arguments whose annotation is a class of pipes must be pipes, or it raises TypeError."""
    signature, hints = inspect.signature(f), inspect.get_annotations(f, eval_str=True)
    kinds = {name for name, hint in hints.items() if isinstance(hint, type) and issubclass(hint, IterDataPipe)}

    @wraps(f)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        for name, value in signature.bind(*args, **kwargs).arguments.items():
            if name in kinds and not isinstance(value, IterDataPipe):
                raise TypeError(f"Expected argument '{name}' as a IterDataPipe, but found {type(value)}")
        return f(*args, **kwargs)

    return wrapper


def runtime_validation(f: Any) -> Any:
    """Decorator of `__iter__`, which stays as it is. Raises TypeError for other functions."""
    if f.__name__ != "__iter__":
        raise TypeError(f"Can not decorate function {f.__name__} with 'runtime_validation'")
    return f
