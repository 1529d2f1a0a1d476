"""`- version: 1`, the first entry of a file: the version of the language of declarations that it is written in.

A file without it is of the version that reads it. Versions count changes after which an entry means something else or
is refused; what is only added changes none.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..errors import Diagnostics
from ..expr.parse import ELEMENTS
from ..source import Mapping, Node
from .fields import Fields

KEY = "version"
CURRENT = 1


def read(nodes: Iterable[Node], diagnostics: Diagnostics) -> tuple[Node, ...]:
    """The other entries of a file."""
    others = []
    for number, node in enumerate(nodes):
        if isinstance(node, Mapping) and KEY in node:
            _check(Fields(node, diagnostics, ELEMENTS), is_first=number == 0)
        else:
            others.append(node)
    return tuple(others)


def _check(fields: Fields, is_first: bool) -> None:
    fields.known_keys(fields.node, (KEY,), where=KEY)
    if not is_first:
        fields.report(fields.node.span, f"'{KEY}' stands behind other entries", "it is of the file: write it first")
    text = fields.text(fields.node, KEY)
    if text is None:
        return
    if not text.value.isdecimal() or int(text.value) == 0:
        fields.report(text.span, f"version '{text.value}' is no number from 1 on", f"this is version {CURRENT}")
    elif int(text.value) > CURRENT:
        message = f"the file is written in version {text.value} of the language, and this opweave reads {CURRENT}"
        fields.report(text.span, message, "install a newer opweave")
