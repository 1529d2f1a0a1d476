"""`like: div`: the entry takes every key of another entry that it does not have itself.

Mappings are joined key by key, so that `reduce: {identity: highest}` changes the identity alone, and a key without a
value (`overloads: ~`) takes nothing. Names are an operator's own: `func`, `aliases` and `operator` are not taken.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from ..errors import Diagnostic, Diagnostics, suggest
from ..source import Mapping as MappingNode
from ..source import Node, Scalar, Sequence

KEY = "like"
_OWN = ("func", "aliases", "operator", KEY)
_NAME = re.compile(r"\s*(\w+)")


def resolve(nodes: Iterable[Node], diagnostics: Diagnostics) -> tuple[Node | None, ...]:
    """The entries merged with those that they are like; None for entries that could not be merged."""
    entries = tuple(nodes)
    resolver = _Resolver({name: node for node in entries if (name := name_of(node)) is not None}, diagnostics)
    return tuple(resolver.resolved(node) for node in entries)


def name_of(node: Node) -> str | None:
    """The name of an entry's operator, if it can be read."""
    func = node.get("func") if isinstance(node, MappingNode) else None
    match = _NAME.match(func.value) if isinstance(func, Scalar) else None
    return match[1] if match else None


def base_of(node: Node) -> str | None:
    """The name of the entry that one is like."""
    word = node.get(KEY) if isinstance(node, MappingNode) else None
    return word.value if isinstance(word, Scalar) else None


def located(own: Diagnostics, node: MappingNode, last: int) -> Iterable[Diagnostic]:
    """The mistakes of an entry that ends at the line `last`; mistakes in the keys that it takes are reported at
    `like`."""
    word = node.get(KEY)
    for each in own:
        if not isinstance(word, Scalar) or node.span.line <= each.line <= last:
            yield each
        else:
            message = f"what it takes of '{word.value}' does not suit it: {each.message}"
            yield replace(each, line=word.span.line, column=word.span.column, length=word.span.length, message=message)


class _Resolver:
    def __init__(self, by_name: Mapping[str, Node], diagnostics: Diagnostics) -> None:
        self.by_name = by_name
        self.diagnostics = diagnostics

    def resolved(self, node: Node, before: tuple[Node, ...] = ()) -> Node | None:
        """The merged entry. `before` are the entries that are like this one, starting with the outermost."""
        word = node.get(KEY) if isinstance(node, MappingNode) else None
        if word is None or not isinstance(node, MappingNode):
            return node
        base = self.by_name.get(word.value) if isinstance(word, Scalar) else None
        if base is None:
            if not before:
                shown = f"operator '{word.value}'" if isinstance(word, Scalar) else "list or mapping"
                help = suggest(word.value, self.by_name) if isinstance(word, Scalar) else "the name of one operator"
                self.diagnostics.report(word.span, f"no entry to be like: {shown}", help)
            return None
        if any(base is each for each in (*before, node)):
            if base is (*before, node)[0]:
                path = " → ".join(filter(None, map(name_of, (*before, node, base))))
                self.diagnostics.report(word.span, f"an entry cannot be like itself: {path}")
            return None
        merged = self.resolved(base, (*before, node))
        if not isinstance(merged, MappingNode):
            return None
        taken = replace(merged, items=tuple(pair for pair in merged.items if pair[0].value not in _OWN))
        own = replace(node, items=tuple(pair for pair in node.items if pair[0].value not in _OWN))
        joined = self._joined(own, taken, word.value if isinstance(word, Scalar) else "")
        return replace(node, items=(*(pair for pair in node.items if pair[0].value in _OWN), *joined.items))

    def _joined(self, own: MappingNode, taken: MappingNode, base: str) -> MappingNode:
        """The keys of `taken` in its order, followed by the other keys of `own`."""
        for key, value in own.items:
            other = taken.get(key.value)
            if other is None and _is_null(value):
                self.diagnostics.report(key.span, f"'{base}' has no '{key.value}' to drop", "leave it out")
            elif other is not None and _plain(value) == _plain(other):
                self.diagnostics.report(value.span, f"'{key.value}' is that of '{base}'", "leave it out")
        items: list[tuple[Scalar, Node]] = []
        given = {key.value: (key, value) for key, value in own.items}
        for pair in taken.items:
            key, value = given.get(pair[0].value, pair)
            if isinstance(value, MappingNode) and isinstance(pair[1], MappingNode) and value is not pair[1]:
                value = self._joined(value, pair[1], base)
            items += [] if _is_null(value) else [(key, value)]
        items += [(key, value) for key, value in own.items if key.value not in taken and not _is_null(value)]
        return replace(own, items=tuple(items))


def _is_null(node: Node) -> bool:
    return isinstance(node, Scalar) and node.is_null


def _plain(node: Node) -> object:
    """The content of a node without its position."""
    if isinstance(node, Scalar):
        return node.value
    if isinstance(node, Sequence):
        return tuple(map(_plain, node))
    return {key.value: _plain(value) for key, value in node.items}
