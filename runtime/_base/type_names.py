"""Types as messages give them. Imports nothing, so that every module can."""

from __future__ import annotations

from typing import Any

_PLAIN = frozenset({"builtins", "__main__", __name__.partition(".")[0]})


def type_name(value: Any) -> str:
    """The type of a value. A class of another library comes with its module: `torch.Tensor` is not `Tensor`."""
    return class_name(type(value))


def class_name(kind: type) -> str:
    """Return the name of a class, with its module unless that is Python's own."""
    module = kind.__module__
    return kind.__name__ if str(module).partition(".")[0] in _PLAIN else f"{module}.{kind.__name__}"


def wrong_type(function: str, argument: str, kind: str, value: Any, position: int = 0) -> TypeError:
    """The error about a value that is not of the kind of an argument, which was given at a position, from 1, or by
    name."""
    where = f" (position {position})" if position else ""
    return TypeError(f"{function}(): argument '{argument}'{where} must be {kind}, not {type_name(value)}")
