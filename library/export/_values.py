"""Values of programs as JSON has them: what JSON does not know is an object with one key that says what it is."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from .._base import types
from .._base.devices import device
from .._base.dtypes import EXPORTS, dtype
from .._base.types import layout, memory_format
from ..fx.node import Node

__all__ = ["to_json", "value_of"]


def to_json(value: Any) -> Any:
    """Return an argument of a node as JSON. Raises TypeError for one that files do not have."""
    if isinstance(value, Node):
        return {"node": value.name}
    if value is None or type(value) in (bool, int, str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": str(value)}
    if isinstance(value, complex):
        return {"complex": [to_json(value.real), to_json(value.imag)]}
    if isinstance(value, tuple):
        return {"tuple": [to_json(each) for each in value]}
    if isinstance(value, list):
        return [to_json(each) for each in value]
    if isinstance(value, slice):
        return {"slice": [to_json(each) for each in (value.start, value.stop, value.step)]}
    if isinstance(value, device):
        return {"device": str(value)}
    for kind in (dtype, layout, memory_format):
        if isinstance(value, kind):
            return {kind.__name__: str(value).rpartition(".")[2]}
    raise TypeError(f"a value of class {type(value).__qualname__} cannot be written to a file")


def _named(kind: type) -> Callable[[Any], Any]:
    def find(name: Any) -> Any:
        found = getattr(types, str(name), None)
        if not isinstance(found, kind):
            raise ValueError(f"there is no {kind.__name__} {name!r}")
        return found

    return find


_MADE: Mapping[str, Callable[[Any], Any]] = {
    "float": float,
    "complex": lambda parts: complex(*map(float, parts)),
    "tuple": tuple,
    "slice": lambda parts: slice(*parts),
    "device": device,
    "dtype": EXPORTS.__getitem__,
    "layout": _named(layout),
    "memory_format": _named(memory_format),
}


def value_of(data: Any, nodes: Mapping[str, Node]) -> Any:
    """Return the argument of some JSON. Raises KeyError or ValueError where it is none."""
    if isinstance(data, list):
        return [value_of(each, nodes) for each in data]
    if not isinstance(data, dict):
        return data
    ((kind, inner),) = data.items()
    return nodes[inner] if kind == "node" else _MADE[kind](value_of(inner, nodes))
