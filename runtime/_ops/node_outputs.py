"""The results of an operator that are outputs of the function that users called, for the composites that call it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._handle import set_edge

__all__ = ["outputs", "unkept"]


def outputs(results: Sequence[Any], *places: int) -> Any:
    """Return the results at these places, or the only one, as which alone their node has outputs.

    The others were computed for its gradient, or for other functions; hooks of the node do not see them.
    """
    chosen = tuple([results[place] for place in places])
    edges = [each._edge for each in chosen]
    if edges[0] is not None:
        node = edges[0][0]
        recorded = tuple([place for place, edge in zip(places, edges, strict=True) if edge is not None])
        if all(edge is None or edge == (node, place) for place, edge in zip(places, edges, strict=True)):
            node.shown = recorded
    return chosen if len(chosen) > 1 else chosen[0]


def unkept(result: Any) -> Any:
    """Return a copy in the place of a result that its node keeps, so that users may overwrite it."""
    if not result.requires_grad:
        return result
    copied = result.detach().clone()
    set_edge(copied, result._edge)
    return copied
