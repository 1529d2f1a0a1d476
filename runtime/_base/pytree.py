"""Nested tuples, lists and dictionaries as a flat list of what is in them, and back."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

__all__ = ["Structure", "flatten"]

_CONTAINERS: dict[type, Callable[[Any, list[Any]], Any]] = {
    tuple: lambda keys, values: tuple(values),
    list: lambda keys, values: values,
    deque: lambda keys, values: deque(values, keys),
    dict: lambda keys, values: dict(zip(keys, values, strict=True)),
    OrderedDict: lambda keys, values: OrderedDict(zip(keys, values, strict=True)),
}
"""How containers are made of their keys and values; the keys of a deque are its greatest length."""


class _Leaf:
    """Stands for whatever is no container, where a structure is printed."""

    def __repr__(self) -> str:
        return "*"


@dataclass(frozen=True)
class Structure:
    """The containers of a nested value, without what is in them; `kind` is None for what is no container."""

    kind: type | None
    keys: Any = None
    children: tuple[Structure, ...] = ()

    def unflatten(self, leaves: Iterable[Any]) -> Any:
        """A value of this structure from as many leaves as it has."""
        return self._from(iter(leaves))

    def _from(self, leaves: Iterator[Any]) -> Any:
        if self.kind is None:
            return next(leaves)
        values = [child._from(leaves) for child in self.children]
        make = _CONTAINERS.get(self.kind)
        return self.kind(*values) if make is None else make(self.keys, values)

    def __str__(self) -> str:
        return repr(self._from(iter(_Leaf, None)))


_LEAF = Structure(None)


def flatten(value: Any) -> tuple[list[Any], Structure]:
    """The leaves of a nested value, from left to right, and its structure.

    An instance of a subclass of a container is a leaf, unless it is a named tuple.
    """
    leaves: list[Any] = []
    return leaves, _structure(value, leaves)


def _structure(value: Any, leaves: list[Any]) -> Structure:
    kind = type(value)
    if kind not in _CONTAINERS and not (isinstance(value, tuple) and hasattr(kind, "_fields")):
        leaves.append(value)
        return _LEAF
    keys = tuple(value) if isinstance(value, dict) else value.maxlen if isinstance(value, deque) else None
    values = value.values() if isinstance(value, dict) else value
    return Structure(kind, keys, tuple(_structure(each, leaves) for each in values))
