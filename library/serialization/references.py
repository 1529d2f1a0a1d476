"""The references to storages in a pickle, found without running it.

Files of the format before 1.6 have the bytes of storages behind the pickle that refers to them, and their sizes follow
from the references alone. So these are found first: what is made while the pickle is read may look at elements.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

from .allowed import OBJECTS
from .pickle_data import DATA_OPCODES, PickleData
from .unpickler import full_name

__all__ = ["references_in"]

_LONGEST_NAME = 1000
_OBJECT = object()
"""A stand-in for everything that a pickle makes by calls, and for what is no part of a reference."""


class _References(PickleData):
    """Goes through a pickle and makes nothing of it but texts, numbers and tuples."""

    def __init__(self, data: bytes, place: int) -> None:
        super().__init__(data, "latin-1", place)
        self.found: list[Any] = []

    def _list(self) -> list[Any]:
        return []

    def _set(self, items: list[Any]) -> None:
        pass

    def _persistent(self) -> None:
        self.found.append(self._stack.pop())
        self._stack.append(_OBJECT)

    def _global(self) -> None:
        self._stack.append(_found(self._line(), self._line()))

    def _stack_global(self) -> None:
        name, module = self._stack.pop(), self._stack.pop()
        self._stack.append(_found(module, name))

    def _call(self, count: int) -> None:
        """Replaces a function and its arguments by an object."""
        del self._stack[len(self._stack) - count :]
        self._stack.append(_OBJECT)

    def _build(self) -> None:
        self._stack.pop()

    def _frozenset(self) -> None:
        self._popped()
        self._stack.append(_OBJECT)


def _found(module: Any, name: Any) -> Any:
    is_named = type(module) is type(name) is str and len(module) + len(name) < _LONGEST_NAME
    return OBJECTS.get(full_name(module, name), _OBJECT) if is_named else _OBJECT


_R = _References
_OPCODES: dict[int, Callable[[Any], Any]] = {
    **DATA_OPCODES,
    pickle.BINPERSID[0]: _R._persistent,
    pickle.GLOBAL[0]: _R._global,
    pickle.STACK_GLOBAL[0]: _R._stack_global,
    pickle.REDUCE[0]: lambda self: self._call(2),
    pickle.NEWOBJ[0]: lambda self: self._call(2),
    pickle.NEWOBJ_EX[0]: lambda self: self._call(3),
    pickle.BUILD[0]: _R._build,
    pickle.ADDITEMS[0]: _R._popped,
    pickle.FROZENSET[0]: _R._frozenset,
}


def references_in(data: bytes, place: int) -> tuple[list[Any], int]:
    """The references in the pickle at a place in bytes, and where that ends.

    Raises UnpicklingError or EOFError for what is no pickle.
    """
    reader = _References(data, place)
    reader.run(_OPCODES)
    return reader.found, reader.place
