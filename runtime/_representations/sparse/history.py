"""Nodes of values that are seen again as those of a sparse tensor, with torch's names."""

from __future__ import annotations

from functools import cache
from typing import Any

from ..._autograd.node import Node, edges_of, part_of_graph
from ..._handle import alias, needs_grad

__all__ = ["seen_as"]


class _Seen(Node):
    """A node that passes the gradient on as it is."""

    __slots__ = ()

    def apply(self, grad: Any) -> tuple[Any, ...]:
        return (grad,)


@cache
def _kind(name: str) -> type[Node]:
    return type(name, (_Seen,), {"__slots__": ()})


def seen_as(name: str, values: Any) -> Any:
    """The same elements in the same memory; where a history is recorded, as an output of a node of this name."""
    same = alias(values)
    if needs_grad(values):
        part_of_graph(same, _kind(name)(edges_of((values,))))
    return same
