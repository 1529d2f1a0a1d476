"""`rows`: values that are computed over each row, one after the other, and the results."""

from __future__ import annotations

import re

from ...model.operator import MAX_RESULTS, MAX_STAGES, Expression, Let, Rows
from ...source import Mapping, Node, Scalar, Sequence
from ..fields import Entry
from ..reserved import argument_reason
from . import shared
from .shared import expression

EXAMPLE = "rows: {let: {total: {sum: self}}, value: self / total}"
REDUCTIONS = ("sum", "max", "min")
_KEYS = ("let", "value", "results", "degrees")
_WORD = re.compile(r"\w+")


def read(entry: Entry, node: Mapping) -> Rows | None:
    entry.known_keys(node, _KEYS, where="rows")
    before = len(entry.diagnostics)
    known = ["count", *(argument.name for argument in entry.scalars)]
    lets: list[Let] = []
    broken: set[str] = set()
    named = entry.mapping(node, "let", "name to a reduction or an expression")
    for key in named.keys if named is not None else ():
        let = None if named is None else _let(entry, named, key, known, broken)
        if let is None:
            broken.add(key.value)
        else:
            lets.append(let)
            known.append(let.name)
    value = node.get("value")
    given = node.get("results")
    if (value is None) == (given is None):
        entry.report(node.span, "'rows' needs either 'value' or 'results'", EXAMPLE)
        return None
    each = _expression(entry, value, [*known, "self"], broken) if value is not None else None
    items = tuple(given) if isinstance(given, Sequence) else () if given is None else (given,)
    results = tuple(found for item in items if (found := _expression(entry, item, known, broken)) is not None)
    _limit(entry, node, sum(let.combine is not None for let in lets), MAX_STAGES, "reductions")
    _limit(entry, node, len(results), MAX_RESULTS, "results")
    degrees = shared.degrees(entry, node, "degrees", len(results))
    if len(entry.diagnostics) > before:
        return None
    if len(entry.schema.returns) != (len(results) or 1):
        entry.report(entry.name_span, f"the schema has {len(entry.schema.returns)} results, the body {len(results)}")
    return Rows(tuple(lets), each, results, degrees)


def _limit(entry: Entry, node: Mapping, count: int, most: int, what: str) -> None:
    if count > most:
        message = f"{count} {what}; the core takes up to {most}"
        entry.report(node.span, message, "write two operators, and a composite that calls both")


def _let(entry: Entry, named: Mapping, key: Scalar, known: list[str], broken: set[str]) -> Let | None:
    reason = argument_reason(key.value, entry.family)
    if reason is not None or key.value in (*known, "self"):
        entry.report(key.span, f"'{key.value}' {reason or 'is there already'}", "rename it")
    node = named.get(key.value)
    if not isinstance(node, Mapping):
        expression = _expression(entry, node, known, broken)
        return None if expression is None else Let(key.value, expression, None)
    entry.known_keys(node, REDUCTIONS, "reduction")
    if len(node.keys) != 1:
        entry.report(node.span, f"{len(node.keys)} reductions in one variable", "{sum: expression}")
    for reduction in node.keys[:1]:
        expression = _expression(entry, node.get(reduction.value), [*known, "self"], broken)
        if expression is not None and reduction.value in REDUCTIONS:
            return Let(key.value, expression, reduction.value)
    return None


def _expression(entry: Entry, node: Node | None, known: list[str], broken: set[str]) -> Expression | None:
    if not isinstance(node, Scalar):
        span = entry.node.span if node is None else node.span
        entry.report(span, "'rows' has an expression that is no text", EXAMPLE)
        return None
    if broken.intersection(_WORD.findall(node.value)):
        return None  # the definition of such a name has to be corrected first
    return expression(entry, node, known)
