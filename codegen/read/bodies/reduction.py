"""`reduce` and `scan`: the combination of an accumulator with each element."""

from __future__ import annotations

from ...errors import suggest
from ...expr import names
from ...model.operator import End, Expression, Found, Reduce, Scan
from ...source import Mapping
from ..fields import Entry, lacks
from .line_order import SORTED
from .shared import degrees, expression, expression_field

REDUCE_EXAMPLE = "reduce: {identity: 0, combine: acc + self}"
SCAN_EXAMPLE = "scan: {identity: 0, combine: acc + self}"
_IN_ORDER = "order: sequential, state: {total: 0}, next: {total: total + self}, value: total"
_REDUCE_KEYS = ("identity", "empty", "combine", "map", "finalize", "results", "degree", "pairwise")
_SCAN_KEYS = ("identity", "combine", "results")


def read_reduce(entry: Entry, node: Mapping) -> Reduce | None:
    """Read a reduction; None: there is a mistake, which is reported."""
    entry.known_keys(node, _REDUCE_KEYS, where="reduce")
    combine = _combine(entry, node, _REDUCE_KEYS, REDUCE_EXAMPLE)
    identity = _identity(entry, node, _REDUCE_KEYS)
    empty = entry.text(node, "empty")
    if empty is not None and empty.value != "refuse":
        entry.report(empty.span, f"unknown word '{empty.value}' for 'empty'", suggest(empty.value, ("refuse",)))
    each = _using(entry, node, "map", ("self",), ("self",))
    finalize = _using(entry, node, "finalize", ("acc", "count"), ("acc",))
    if combine is None or identity is None:
        return None
    pairwise = entry.text(node, "pairwise")
    other = None if pairwise is None else pairwise.value
    degree = next(iter(degrees(entry, node, "degree", 1)), None)
    return Reduce(combine, identity, empty is not None, each, finalize, _results(entry, node), degree, other)


def read_scan(entry: Entry, node: Mapping) -> Scan | None:
    """Read a scan; None: there is a mistake, which is reported."""
    mark = node.key(SORTED)
    if mark is not None:
        entry.report(mark.span, "a scan in an order is one with a state", _IN_ORDER)
        return None
    entry.known_keys(node, _SCAN_KEYS, where="scan")
    combine = _combine(entry, node, _SCAN_KEYS, SCAN_EXAMPLE)
    identity = _identity(entry, node, _SCAN_KEYS)
    return None if combine is None or identity is None else Scan(combine, identity, _results(entry, node))


def _results(entry: Entry, node: Mapping) -> tuple[Found, ...]:
    """The results in the order of the schema: the accumulated value unless the body declares others."""
    words = {results.value: results for results in Found}
    given = entry.words("results", node)
    results = tuple(words[word.value] for word in given if entry.known("result", word, words)) or (Found.VALUE,)
    if len(results) != len(entry.schema.returns):
        entry.report(entry.name_span, f"the schema has {len(entry.schema.returns)} results, the body {len(results)}")
    return results


def _combine(entry: Entry, node: Mapping, keys: tuple[str, ...], example: str) -> Expression | None:
    if lacks(node, ("combine",), keys):
        entry.report(node.span, f"'{entry.family.key}' needs 'combine'", example)
    return _using(entry, node, "combine", ("acc", "self"), ("acc", "self"))


def _using(entry: Entry, node: Mapping, key: str, known: tuple[str, ...], needed: tuple[str, ...]) -> Expression | None:
    """An expression over the names `known`, which must use all of `needed`."""
    expression = expression_field(entry, node, key, known)
    if expression is not None:
        for name in needed:
            if name not in names(expression.tree):
                entry.report(expression.source.span, f"'{key}' does not use '{name}'")
    return expression


def _identity(entry: Entry, node: Mapping, keys: tuple[str, ...]) -> Expression | End | None:
    """The identity of the combination: a number, or an end of the dtype's range."""
    if lacks(node, ("identity",), keys):
        entry.report(node.span, f"'{entry.family.key}' needs 'identity'", "a number, 'lowest' or 'highest'")
    scalar = entry.text(node, "identity")
    if scalar is None:
        return None
    ends = {end.value: end for end in End}
    return ends[scalar.value] if scalar.value in ends else expression(entry, scalar, tuple(ends))
