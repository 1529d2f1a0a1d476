"""`composite`: the body of a Python function in terms of other operators; and `routine` where it is Python, in terms of
the core."""

from __future__ import annotations

from ...model.operator import Composite, Requirement
from ...model.routines import CORE_CALLS
from ...source import Mapping, Scalar
from ..fields import ROUTINE, Entry, lacks
from ..python_text import python_names
from . import requirements
from .shared import report_unused

PYTHON = ("body", "fast_path")
"""The keys of a body that is a mapping."""


def read(entry: Entry) -> Composite | None:
    """Read a composite; None: there is a mistake, which is reported."""
    key = ROUTINE if ROUTINE in entry.node else "composite"
    node = entry.node.get(key)
    if isinstance(node, Mapping):
        entry.known_keys(node, PYTHON, where=key)
        if lacks(node, ("body",), ("fast_path",)):
            entry.report(node.span, f"'{key}' needs 'body'", "{fast_path: ..., body: ...}")
    source = entry.text(node, "body") if isinstance(node, Mapping) else entry.text(entry.node, key)
    if source is None:
        return None
    before = len(entry.diagnostics)
    used = python_names(entry, source, "exec", (argument.name for argument in entry.schema.arguments))
    if len(entry.diagnostics) > before:
        return None
    require, quoted = _require(entry)
    report_unused(entry, "body", entry.schema.arguments, used | quoted)
    core = _core(entry, node) if isinstance(node, Mapping) else None
    return Composite(source, core, require, opaque=key == ROUTINE)


def _require(entry: Entry) -> tuple[tuple[Requirement[Scalar, Scalar], ...], frozenset[str]]:
    """The conditions in Python, and the names that they and their messages use."""
    known = tuple(argument.name for argument in entry.schema.arguments)
    used: frozenset[str] = frozenset()

    def python(text: Scalar) -> Scalar | None:
        nonlocal used
        before = len(entry.diagnostics)
        used |= python_names(entry, text, "eval", known)
        return None if len(entry.diagnostics) > before else text

    example = f"{next(iter(known), 'dim')} > 0"
    return requirements.read(entry, entry.node.get("require"), example, python, python, may_raise=True), used


def _core(entry: Entry, node: Mapping) -> str | None:
    scalar = entry.text(node, "fast_path")
    if scalar is None:
        return None
    python_names(entry, scalar, "eval", (argument.name for argument in entry.schema.arguments))
    called = scalar.part(0, len(scalar.value.partition("(")[0]))
    entry.known("call of the core", called, CORE_CALLS)
    return scalar.value.strip()
