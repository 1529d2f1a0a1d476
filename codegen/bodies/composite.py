"""`composite`: the body of a Python function in terms of other operators."""

from __future__ import annotations

from ..fields import Entry
from ..model import Composite
from ..python_text import python_names
from .shared import report_unused


def read(entry: Entry) -> Composite | None:
    source = entry.text(entry.node, "composite")
    if source is None:
        return None
    before = len(entry.diagnostics)
    used = python_names(entry, source, "exec", (argument.name for argument in entry.schema.arguments))
    if len(entry.diagnostics) > before:
        return None
    report_unused(entry, "body", entry.schema.arguments, used)
    return Composite(source)
