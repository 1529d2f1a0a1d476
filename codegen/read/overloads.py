"""`overloads`: calls that are calls of other operators, by the argument that decides.

A text argument has an operator for each text: `div(x, y, rounding_mode='floor')` is `floor_divide(x, y)`; the default
means the operator itself. The last input has operators for numbers: `x ** 2` is `square(x)`, a multiplication, which
takes a fiftieth of the time of a power. The first argument has the Python of a call with no other argument. An argument
of a composite that is no tensor has the operator that a tensor in its place means: `lstm(data, batch_sizes, ...)`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from ..model.operator import MAX_SHORTCUTS, Family
from ..schema import Argument, base_name
from ..source import Mapping as MappingNode
from ..source import Node
from .fields import Entry
from .python_text import python_names

_TENSOR = "Tensor"
_EXAMPLE = "overloads: {sizes: {Tensor: operator}}"


@dataclass(frozen=True)
class Overloads:
    """The operators that an entry names for values of its arguments."""

    choices: Mapping[str, Mapping[str, str]]
    """The operators by text argument and by text."""
    shortcuts: Mapping[float, str]
    """Operators by the number that is passed for the last input."""
    alone: str | None
    """The Python of a call with the first argument only."""
    by_tensor: tuple[str, str] | None = None
    """An argument that is no tensor, and the operator that a tensor in its place means."""


def read(entry: Entry) -> Overloads:
    """Read the overloads of an entry; only elementwise ones and composites have such."""
    if entry.family is not Family.ELEMENTWISE:
        return Overloads(MappingProxyType({}), MappingProxyType({}), None, _by_tensor(entry))
    texts = [argument for argument in entry.schema.arguments if base_name(argument.type) == "str"]
    node = entry.mapping(entry.node, "overloads", "argument to what it chooses")
    last = entry.tensors[-1].name if len(entry.tensors) > 1 else ""
    first = entry.schema.arguments[0].name if entry.schema.arguments else ""
    if node is not None:
        known = (first, *([last] if last else []), *(argument.name for argument in texts))
        entry.known_keys(node, known, "argument to choose by")
    return Overloads(
        MappingProxyType({each.name: _choices(entry, node, each) for each in texts}),
        MappingProxyType(_shortcuts(entry, node and node.get(last))),
        _alone(entry, node, first),
    )


def _by_tensor(entry: Entry) -> tuple[str, str] | None:
    node = entry.mapping(entry.node, "overloads", "argument to what it chooses")
    if node is None or not node.keys:
        return None
    known = [each.name for each in entry.schema.arguments if str(each.type) != "Tensor"]
    entry.known_keys(node, known, "argument to choose by")
    options = node.get(node.keys[0].value)
    word = entry.text(options, _TENSOR) if isinstance(options, MappingNode) else None
    if word is None:
        entry.report(node.span, "an argument of a composite needs the operator that a tensor means", _EXAMPLE)
        return None
    return node.keys[0].value, word.value


def _choices(entry: Entry, node: MappingNode | None, argument: Argument) -> Mapping[str, str]:
    options = None if node is None else node.get(argument.name)
    if not isinstance(options, MappingNode):
        message = f"argument '{argument.name}' needs operators to choose from"
        entry.report(entry.argument_span(argument), message, f"overloads: {{{argument.name}: {{text: operator}}}}")
        return MappingProxyType({})
    if argument.default is None:
        entry.report(entry.argument_span(argument), f"argument '{argument.name}' needs a default")
    words = {key.value: entry.text(options, key.value) for key in options.keys}
    return MappingProxyType({text: word.value for text, word in words.items() if word is not None})


def _shortcuts(entry: Entry, node: Node | None) -> dict[float, str]:
    shortcuts: dict[float, str] = {}
    if node is None:
        return shortcuts
    if not isinstance(node, MappingNode):
        entry.report(node.span, "numbers in place of an input need operators", "{2: square}")
        return shortcuts
    if len(node.keys) > MAX_SHORTCUTS:
        message = f"{len(node.keys)} overloads by number; the core takes up to {MAX_SHORTCUTS}"
        entry.report(node.span, message, "keep those that are used most")
    for key in node.keys:
        word = entry.text(node, key.value)
        try:
            number = float(key.value)
        except ValueError:
            entry.report(key.span, f"'{key.value}' is not a number")
            continue
        if word is not None:
            shortcuts[number] = word.value
    return shortcuts


def _alone(entry: Entry, node: MappingNode | None, first: str) -> str | None:
    scalar = None if node is None else entry.text(node, first)
    if scalar is None:
        return None
    python_names(entry, scalar, "eval", ("input" if first == "self" else first,))
    return scalar.value.strip()
