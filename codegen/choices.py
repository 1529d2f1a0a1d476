"""`choices`: texts that an argument of type str may be, and the operators that compute what they stand for.

`div(x, y, rounding_mode='floor')` is `floor_divide(x, y)`; the default of the argument stands for the operator itself.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from .errors import Diagnostics, suggest
from .fields import Entry
from .model import Composite, Declaration, Family, Operator
from .schema import base_name
from .source import Mapping as MappingNode

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


def check(declarations: Sequence[Declaration], diagnostics: Diagnostics) -> None:
    """Every operator that is chosen exists and takes the same tensors; every internal one is chosen, or called by a
    composite or a derivative."""
    by_name = {declaration.name: declaration for declaration in declarations}
    chosen: set[str] = set()
    for operator in declarations:
        if not isinstance(operator, Operator):
            continue
        for name in (name for options in operator.choices.values() for name in options.values()):
            chosen.add(name)
            if name not in by_name:
                diagnostics.report(operator.span, f"there is no operator '{name}' to choose", suggest(name, by_name))
            elif [each.name for each in by_name[name].inputs] != [each.name for each in operator.inputs]:
                diagnostics.report(operator.span, f"'{name}' does not take the arguments of '{operator.name}'")
        chosen.update(operator.shortcuts.values())
        texts = [derivative.formula or "" for derivative in operator.derivatives.values()]
        texts += [operator.body.source.value] if isinstance(operator.body, Composite) else []
        chosen.update(word for text in texts for word in re.findall(r"\w+", text))
    for declaration in declarations:
        # Random fills that are internal are what composites are made of.
        in_vain = declaration.internal and declaration.family is not Family.RANDOM
        if in_vain and declaration.name not in chosen:
            diagnostics.report(declaration.span, f"no operator chooses or calls '{declaration.name}'")
