"""opweave.utils.data.graph: the pipes that a pipe is made of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .datapipes.datapipe import IterDataPipe, MapDataPipe

__all__ = ["traverse_dps"]


def _pipes_in(value: Any) -> Iterator[Any]:
    if isinstance(value, (IterDataPipe, MapDataPipe)):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _pipes_in(each)
    elif isinstance(value, (list, tuple, set, frozenset)):
        for each in value:
            yield from _pipes_in(each)


def traverse_dps(datapipe: Any) -> dict[int, tuple[Any, Any]]:
    """Return the graph of a pipe: by its id the pipe and the graph of those in its attributes.

    Raises:
        RuntimeError: it is no pipe.
    """
    return _graph(datapipe, frozenset())


def _graph(pipe: Any, above: frozenset[int]) -> dict[int, tuple[Any, Any]]:
    if not isinstance(pipe, (IterDataPipe, MapDataPipe)):
        raise RuntimeError(f"Expected `IterDataPipe` or `MapDataPipe`, but {type(pipe)} is found")
    if id(pipe) in above:
        return {}
    within: dict[int, tuple[Any, Any]] = {}
    for each in _pipes_in(vars(pipe)):
        within.update(_graph(each, above | {id(pipe)}))
    return {id(pipe): (pipe, within)}
