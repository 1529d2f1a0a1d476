"""`factory`: the shape of the result in Python, and the value of each element or a call that fills `result`."""

from __future__ import annotations

from ...dtypes import DTYPES, DType
from ...expr import names
from ...model.operator import Factory
from ...model.variants import PLACEMENT
from ...source import Mapping
from ..fields import Entry, lacks
from ..python_text import python_names
from .shared import expression_field, report_unused

EXAMPLE = "factory: {shape: size, value: 0}"
_KEYS = ("dtype", "fill", "let", "shape", "value")


def read(entry: Entry, node: Mapping) -> Factory | None:
    """Read the body of a factory; None: there is a mistake, which is reported."""
    entry.known_keys(node, _KEYS, where="factory")
    if lacks(node, ("shape",), _KEYS):
        entry.report(node.span, "'factory' needs 'shape'", EXAMPLE)
    before = len(entry.diagnostics)
    known = tuple(argument.name for argument in entry.schema.arguments)
    let, used = _let(entry, node, known)
    value = expression_field(entry, node, "value", (*(argument.name for argument in entry.scalars), "i"))
    shape = entry.text(node, "shape")
    if shape is not None:
        used |= python_names(entry, shape, "eval", known)
    fill = entry.text(node, "fill")
    if fill is not None:
        used |= python_names(entry, fill, "eval", (*known, "result"))
        if value is not None:
            entry.report(fill.span, "a tensor has either a 'value' for each element or an expression that fills it")
    dtype = _dtype(entry, node)
    if shape is None or len(entry.diagnostics) > before:
        return None
    if value is not None:
        used |= names(value.tree)
    given = (a for a in entry.schema.arguments if a.name not in ("dtype", *PLACEMENT) and not a.is_tensor)
    report_unused(entry, "factory", given, used)
    return Factory(shape.value.strip(), let, value, None if fill is None else fill.value.strip(), dtype)


def _dtype(entry: Entry, node: Mapping) -> DType | None:
    word = entry.text(node, "dtype")
    return DTYPES[word.value] if word is not None and entry.known("dtype", word, DTYPES) else None


def _let(entry: Entry, node: Mapping, known: tuple[str, ...]) -> tuple[tuple[tuple[str, str], ...], frozenset[str]]:
    """New values of arguments, all computed from the old ones, and the names that they use."""
    bindings: list[tuple[str, str]] = []
    used: frozenset[str] = frozenset()
    locals_node = entry.mapping(node, "let", "argument to expression")
    if locals_node is not None:
        entry.known_keys(locals_node, known, "argument")
        for key in locals_node.keys:
            text = entry.text(locals_node, key.value)
            if text is not None:
                used |= python_names(entry, text, "eval", known)
                bindings.append((key.value, text.value.strip()))
    return tuple(bindings), used
