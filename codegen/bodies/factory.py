"""`factory`: the shape of the result in Python, and the value of each element."""

from __future__ import annotations

from ..expr import names
from ..fields import Entry, lacks
from ..model import Factory
from ..source import Mapping
from .shared import expression_field, python_names, report_unused

EXAMPLE = "factory: {shape: size, value: 0}"
_KEYS = ("let", "shape", "value")


def read(entry: Entry, node: Mapping) -> Factory | None:
    entry.known_keys(node, _KEYS, "key of 'factory'")
    if lacks(node, ("shape",), _KEYS):
        entry.report(node.span, "'factory' needs 'shape'", EXAMPLE)
    before = len(entry.diagnostics)
    let, used = _let(entry, node)
    value = expression_field(entry, node, "value", (*(argument.name for argument in entry.scalars), "i"))
    shape = entry.text(node, "shape")
    if shape is not None:
        used |= python_names(entry, shape, "eval") or frozenset()
    if shape is None or len(entry.diagnostics) > before:
        return None
    if value is not None:
        used |= names(value.tree)
    report_unused(entry, "factory", entry.schema.positional, used)
    return Factory(shape.value.strip(), let, value)


def _let(entry: Entry, node: Mapping) -> tuple[tuple[tuple[str, str], ...], frozenset[str]]:
    """New values of arguments, all computed from the old ones; and the names that they use."""
    found: list[tuple[str, str]] = []
    used: frozenset[str] = frozenset()
    locals_node = entry.mapping(node, "let", "argument to expression")
    if locals_node is not None:
        entry.known_keys(locals_node, (argument.name for argument in entry.schema.arguments), "argument")
        for key in locals_node.keys:
            text = entry.text(locals_node, key.value)
            if text is not None:
                used |= python_names(entry, text, "eval") or frozenset()
                found.append((key.value, text.value.strip()))
    return tuple(found), used
