"""Constructors of classes that declare their options as annotated attributes, with defaults as their values."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform
else:

    def dataclass_transform(**_: Any) -> Any:
        """Return a decorator that changes nothing: type checkers alone read it."""
        return lambda cls: cls


__all__ = ["REQUIRED", "dataclass_transform", "declared_defaults", "give_constructor"]

REQUIRED: Any = object()
"""The default of an option that has to be given."""


def declared_defaults(cls: type) -> dict[str, Any]:
    """Return the defaults of the options that a class itself declares, by name."""
    own = vars(cls)
    return {name: own.get(name, REQUIRED) for name in own.get("__annotations__", {}) if name[0] != "_"}


def give_constructor(
    cls: type, defaults: Mapping[str, Any], positional: int, leading: Mapping[str, Any] | None = None
) -> None:
    """Give a class the `__init__` that passes its options to `_ow_begin`, as a dict, and take them from its attributes.

    Args:
        cls: the class.
        defaults: those of the options, by name.
        positional: how many of the options may be given without their names.
        leading: arguments before the options, with their types, which `_ow_begin` is given before the dict.
    """
    first = list(leading or ())
    options = [name if default is REQUIRED else f"{name}=_{name}" for name, default in defaults.items()]
    if positional < len(options):
        options.insert(positional, "*")
    given = ", ".join([*first, f"{{{', '.join(f'{name!r}: {name}' for name in defaults)}}}"])
    source = f"def __init__(self, {', '.join([*first, *options])}):\n    self._ow_begin({given})\n"
    names = {f"_{name}": default for name, default in defaults.items()}
    exec(source, vars(sys.modules[cls.__module__]), names)
    made: Any = names["__init__"]
    made.__qualname__, made.__module__ = f"{cls.__qualname__}.__init__", cls.__module__
    types = {name: kind for name, kind in vars(cls).get("__annotations__", {}).items() if name in defaults}
    made.__annotations__ = {**(leading or {}), **types, "return": None}
    cls.__init__ = made  # type: ignore[misc]
    for name in vars(cls).keys() & defaults:
        delattr(cls, name)
