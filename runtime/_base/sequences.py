"""Tuples and lists that are made again with other elements."""

from __future__ import annotations

from typing import Any

__all__ = ["remade"]


def remade(kind: type, elements: list[Any]) -> Any:
    """A tuple or list of this class. Those of `typing.NamedTuple` take their elements one by one, others a sequence."""
    return getattr(kind, "_make", kind)(elements)
