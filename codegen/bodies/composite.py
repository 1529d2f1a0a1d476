"""`composite`: the body of a Python function in terms of other operators."""

from __future__ import annotations

from ..fields import Entry
from ..model import Composite
from .shared import python_names, report_unused


def read(entry: Entry) -> Composite | None:
    source = entry.text(entry.node, "composite")
    used = None if source is None else python_names(entry, source, "exec")
    if source is None or used is None:
        return None
    report_unused(entry, "body", entry.schema.arguments, used)
    return Composite(source)
