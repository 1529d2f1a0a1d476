"""Reads the body of an entry: one module for each family of bodies.

Every reader takes the Entry, which reports mistakes, and returns the frozen body (model/operator.py), or None after a
mistake that leaves no usable body.
"""

from __future__ import annotations

from collections.abc import Callable

from ...model.operator import Body, Family
from ...source import Mapping as MappingNode
from ...source import Node
from ..fields import Entry
from . import (
    composite,
    core,
    elementwise,
    extern,
    factory,
    folding,
    index_variables,
    indexing,
    lapack,
    loop,
    places,
    random,
    reduction,
    rows,
    view,
)

Reader = Callable[[Entry], Body | None]


def at_key(read: Callable[[Entry, Node], Body | None]) -> Reader:
    """Return the reader of a body that stands under the key of its family."""

    def reader(entry: Entry) -> Body | None:
        node = entry.node.get(entry.family.key)
        return None if node is None else read(entry, node)

    return reader


def mapping(read: Callable[[Entry, MappingNode], Body | None], example: str) -> Reader:
    """Return the reader of such a body that is a mapping; messages show the example."""

    def reader(entry: Entry, node: Node) -> Body | None:
        if isinstance(node, MappingNode):
            return read(entry, node)
        entry.report(node.span, f"'{entry.family.key}' must be a mapping", example)
        return None

    return at_key(reader)


READERS: dict[Family, Reader] = {
    Family.ELEMENTWISE: at_key(elementwise.read),
    Family.REDUCE: mapping(reduction.read_reduce, reduction.REDUCE_EXAMPLE),
    Family.SCAN: mapping(reduction.read_scan, reduction.SCAN_EXAMPLE),
    Family.ROWS: mapping(rows.read, rows.EXAMPLE),
    Family.COMPUTE: mapping(places.read, index_variables.EXAMPLE),
    Family.VIEW: mapping(view.read, view.EXAMPLE),
    Family.FACTORY: mapping(factory.read, factory.EXAMPLE),
    Family.EXTERN: extern.read,
    Family.INDEXING: indexing.read,
    Family.RANDOM: random.read,
    Family.LAPACK: lapack.read,
    Family.CORE: core.read,
    Family.LOOP: loop.read,
    Family.FOLD: folding.read,
    Family.COMPOSITE: composite.read,
}


def read(entry: Entry) -> Body | None:
    """The body of the entry."""
    return READERS[entry.family](entry)
