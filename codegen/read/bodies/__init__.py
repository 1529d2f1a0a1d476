"""Reads the body of an entry: one module for each family of bodies.

Every reader takes the Entry, which reports mistakes, and returns the frozen body (model/operator.py), or None after a
mistake that leaves no usable body.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ...model.operator import Body, Family
from ...source import Mapping as MappingNode
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

_MAPPINGS: Mapping[Family, tuple[Callable[[Entry, MappingNode], Body | None], str]] = {
    Family.REDUCE: (reduction.read_reduce, reduction.REDUCE_EXAMPLE),
    Family.SCAN: (reduction.read_scan, reduction.SCAN_EXAMPLE),
    Family.ROWS: (rows.read, rows.EXAMPLE),
    Family.COMPUTE: (places.read, index_variables.EXAMPLE),
    Family.VIEW: (view.read, view.EXAMPLE),
    Family.FACTORY: (factory.read, factory.EXAMPLE),
}


def read(entry: Entry) -> Body | None:
    """The body of the entry."""
    if entry.family is Family.EXTERN:
        return extern.read(entry)
    if entry.family is Family.INDEXING:
        return indexing.read(entry)
    if entry.family is Family.RANDOM:
        return random.read(entry)
    if entry.family is Family.LAPACK:
        return lapack.read(entry)
    if entry.family is Family.CORE:
        return core.read(entry)
    if entry.family is Family.COMPOSITE:
        return composite.read(entry)
    if entry.family is Family.LOOP:
        return loop.read(entry)
    if entry.family is Family.FOLD:
        return folding.read(entry)
    node = entry.node.get(entry.family.key)
    if node is None:
        return None
    if entry.family is Family.ELEMENTWISE:
        return elementwise.read(entry, node)
    reader, example = _MAPPINGS[entry.family]
    if not isinstance(node, MappingNode):
        entry.report(node.span, f"'{entry.family.key}' must be a mapping", example)
        return None
    return reader(entry, node)
