"""`choices`: texts that an argument of type str may be, and the operators that compute what they stand for.

`div(x, y, rounding_mode='floor')` is `floor_divide(x, y)`; the default of the argument stands for the operator itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ..model.operator import Family
from ..schema import base_name
from ..source import Mapping as MappingNode
from .fields import Entry

Choices = Mapping[str, Mapping[str, str]]


def read(entry: Entry) -> Choices:
    """By argument: the operator that each text stands for."""
    if entry.family is not Family.ELEMENTWISE:
        return MappingProxyType({})
    texts = [argument for argument in entry.schema.arguments if base_name(argument.type) == "str"]
    node = entry.mapping(entry.node, "choices", "argument to texts and operators")
    if node is not None:
        entry.known_keys(node, [argument.name for argument in texts], "argument of type str")
    found: dict[str, Mapping[str, str]] = {}
    for argument in texts:
        options = None if node is None else node.get(argument.name)
        if not isinstance(options, MappingNode):
            message = f"argument '{argument.name}' needs operators to choose from"
            entry.report(entry.argument_span(argument), message, f"choices: {{{argument.name}: {{text: operator}}}}")
            continue
        if argument.default is None:
            entry.report(entry.argument_span(argument), f"argument '{argument.name}' needs a default")
        words = {key.value: entry.text(options, key.value) for key in options.keys}
        found[argument.name] = MappingProxyType({text: word.value for text, word in words.items() if word is not None})
    return MappingProxyType(found)
