"""`iterate` of an elementwise entry: a loop for each element, with variables that each round computes anew."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from functools import partial
from typing import Protocol

from ...expr import Literal, names
from ...expr.parse import truth
from ...model.operator import Expression, Iteration
from ...source import Mapping, Scalar
from ..fields import Entry, lacks
from .shared import expression

_KEYS = ("state", "let", "while", "times", "next")
_EXAMPLE = "iterate: {state: {z: 0}, times: limit, next: {z: z * z + self}}"


class Names(Protocol):
    """The names and the reader of the expressions of a loop."""

    @property
    def known(self) -> Collection[str]:
        """The names that there are."""

    def refused(self, name: str) -> str | None: ...
    def declare(self, state: Iterable[str]) -> None: ...
    def expression(self, text: Scalar) -> Expression | None: ...
    def nested(self, owner: Mapping) -> Names:
        """Return the names together with those of the `let` of the loop."""

    def report_unused(self) -> None: ...


def read(
    entry: Entry, local: Names, parts: Mapping, bound: Callable[[Scalar], Expression | None] | None = None
) -> Iteration | None:
    """The loop, whose largest number of rounds `bound` reads. Its variables are known to the expressions of the
    results, the names of its `let` are not."""
    node = parts.get("iterate")
    if node is None:
        return None
    if not isinstance(node, Mapping):
        entry.report(node.span, "'iterate' must be a mapping", _EXAMPLE)
        return None
    before = len(entry.diagnostics)
    entry.known_keys(node, _KEYS, where="iterate")
    if lacks(node, ("times",), _KEYS):
        message = "a loop without a bound: 'iterate' needs 'times'"
        entry.report(node.span, message, "the largest number of rounds, of numbers and parameters")
    state, following = (entry.mapping(node, key, "variable to expression") for key in ("state", "next"))
    if state is None or following is None:
        entry.report(node.span, "'iterate' needs 'state' and 'next'", _EXAMPLE)
        return None
    starts = {key.value: text for key in state.keys if (text := entry.text(state, key.value)) is not None}
    read_starts = {name: local.expression(text) for name, text in starts.items()}
    for key in state.keys:
        reason = local.refused(key.value) or ("is there already" if key.value in local.known else None)
        if reason is not None:
            entry.report(key.span, f"'{key.value}' {reason}", "rename it")
        if key.value not in following:
            entry.report(key.span, f"'next' has no '{key.value}'", f"next: {{{key.value}: {key.value}}} leaves it")
    entry.known_keys(following, [*state], "variable", "next")
    local.declare(state)
    within = local.nested(node)
    texts = {key: text for key in state if key in following and (text := entry.text(following, key)) is not None}
    rounds = {name: within.expression(text) for name, text in texts.items()}
    proceeds, times = entry.text(node, "while"), entry.text(node, "times")
    condition = None if proceeds is None else within.expression(proceeds)
    condition = None if condition is None else replace(condition, tree=truth(condition.tree))
    most = None if times is None else (bound or partial(_bound, entry))(times)
    if most is not None and isinstance(most.tree, Literal) and most.tree.value != int(most.tree.value):
        entry.report(most.source.span, f"{most.tree.value} rounds: 'times' is a whole number", "an integer")
    within.report_unused()
    if len(entry.diagnostics) > before or most is None:
        return None
    starting = tuple((name, start) for name, start in read_starts.items() if start is not None)
    return Iteration(starting, condition, most, tuple(each for each in rounds.values() if each is not None))


def _bound(entry: Entry, text: Scalar) -> Expression | None:
    found = expression(entry, text, [argument.name for argument in entry.schema.arguments])
    for argument in entry.tensors:
        if found is not None and argument.name in names(found.tree):
            message = f"the bound of a loop is one for all elements: '{argument.name}' is a tensor"
            entry.report(text.span, message, "a number or a parameter; 'while' may end the loop of an element before")
    return found
