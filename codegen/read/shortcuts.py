"""`shortcuts`: numbers in place of the last input, and the operators of the first one that compute the same.

`x ** 2` is `square(x)`: a multiplication takes a fiftieth of the time of a power.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ..model.operator import MAX_SHORTCUTS
from .fields import Entry


def read(entry: Entry) -> Mapping[float, str]:
    """The operator for each number."""
    node = entry.mapping(entry.node, "shortcuts", "number to operator")
    found: dict[float, str] = {}
    if node is None:
        return MappingProxyType(found)
    if len(entry.tensors) < 2:
        entry.report(node.span, "shortcuts are for a second input, and there is none")
    if len(node.keys) > MAX_SHORTCUTS:
        message = f"{len(node.keys)} shortcuts; the core takes up to {MAX_SHORTCUTS}"
        entry.report(node.span, message, "keep those that are used most")
    for key in node.keys:
        word = entry.text(node, key.value)
        try:
            number = float(key.value)
        except ValueError:
            entry.report(key.span, f"'{key.value}' is not a number")
            continue
        if word is not None:
            found[number] = word.value
    return MappingProxyType(found)
