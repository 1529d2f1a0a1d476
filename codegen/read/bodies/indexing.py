"""`routine: {indexing: …}`: a routine of the core that works at computed indices; `accumulate` names its reductions."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ...errors import suggest
from ...model.operator import MAX_REDUCTIONS, Indexing
from ...model.routines import INDEXINGS
from ...schema import Argument, base_name
from ...source import Mapping as MappingNode
from ...source import Scalar
from ..fields import Entry
from ..reserved import argument_reason


def read(entry: Entry) -> Indexing | None:
    """Read a routine that indexes; None: there is a mistake, which is reported."""
    routine = entry.text(entry.routine, "indexing")
    if routine is None:
        return None
    entry.known("routine", routine, INDEXINGS)
    choices = _reductions(entry)
    word = word_argument(entry.schema.arguments)
    if word is not None and not all(choices):
        entry.report(entry.argument_span(word), f"'{word.name}' needs a mapping of its words", "accumulate: {sum: sum}")
    words = tuple(choices) if word is not None else ()
    return Indexing(routine.value, tuple(choices.values()), words, _numbers(entry), routine)


def word_argument(arguments: tuple[Argument, ...]) -> Argument | None:
    """The argument that chooses a reduction."""
    return next((argument for argument in arguments if base_name(argument.type) == "str"), None)


def _reductions(entry: Entry) -> Mapping[str, str]:
    """Reductions by word; a single one has the word ''."""
    node = entry.routine.get("accumulate")
    if node is None:
        return {}
    if isinstance(node, Scalar):
        name = entry.text(entry.routine, "accumulate")
        return {} if name is None else {"": name.value}
    if not isinstance(node, MappingNode):
        entry.report(node.span, "'accumulate' must be a reduction or a mapping from word to reduction")
        return {}
    reductions = {}
    for key in node.keys:
        name = entry.text(node, key.value)
        if name is not None:
            reductions[key.value] = name.value
    if len(reductions) > MAX_REDUCTIONS:
        message = f"{len(reductions)} reductions; the core takes up to {MAX_REDUCTIONS}"
        entry.report(node.span, message, "write two operators")
    return reductions


def _numbers(entry: Entry) -> Mapping[str, str]:
    """Return by tensor argument the name of the parameter that is a number instead."""
    node = entry.routine.get("numbers")
    tensors = [argument.name for argument in entry.tensors[1:]]
    names = {}
    for word in node.keys if isinstance(node, MappingNode) else entry.words("numbers", entry.routine):
        if word.value not in tensors:
            entry.report(word.span, f"'{word.value}' is not a second tensor argument", suggest(word.value, tensors))
        name = entry.text(node, word.value) if isinstance(node, MappingNode) else word
        if name is None:
            continue
        names[word.value] = name.value
        reason = argument_reason(name.value, entry.family) if name.value.isidentifier() else "is not a name"
        if reason is not None and name is not word:
            entry.report(name.span, f"'{name.value}' {reason}", "rename it")
    return MappingProxyType(names)
