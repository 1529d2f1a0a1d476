"""`shortcuts`: numbers in place of the last input, and the operators of the first one that compute the same.

`x ** 2` is `square(x)`: a multiplication takes a fiftieth of the time of a power.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from .errors import Diagnostics, suggest
from .fields import Entry
from .model import MAX_SHORTCUTS, Declaration, Elementwise, Operator


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


def check(declarations: Sequence[Declaration], diagnostics: Diagnostics) -> None:
    """Every operator that is named exists and takes the first input alone."""
    by_name = {declaration.name: declaration for declaration in declarations}
    for operator in declarations:
        for name in operator.shortcuts.values() if isinstance(operator, Operator) else ():
            other = by_name.get(name)
            if other is None:
                diagnostics.report(operator.span, f"there is no operator '{name}' to take", suggest(name, by_name))
            elif not isinstance(other, Operator) or not isinstance(other.body, Elementwise) or _takes_more(other):
                diagnostics.report(operator.span, f"'{name}' is no elementwise operator of one input")


def _takes_more(operator: Operator) -> bool:
    return len(operator.inputs) != 1 or bool(operator.params)
