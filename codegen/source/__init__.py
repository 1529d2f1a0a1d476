"""Reads a YAML file into nodes (nodes.py) with positions, without interpreting values.

PyYAML's parser supplies the positions; its constructors are not used, because they keep the last of two equal
keys and read a plain `no` as False. Both are refused here, and so are features that an operator list does not need:
anchors, aliases, merge keys, tags, several documents.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any

import yaml

from ..errors import CodegenError, Diagnostic, Diagnostics, Span, normalise_line_breaks
from .nodes import (
    Document,
    Mapping,
    Node,
    Scalar,
    Sequence,
    SourceText,
    Style,
    content_start,
)
from .syntax import not_utf8, report_syntax, report_unusable_characters

__all__ = [
    "Document",
    "Mapping",
    "Node",
    "Scalar",
    "Sequence",
    "SourceText",
    "Span",
    "load",
    "parse_text",
]

_STYLES: dict[str | None, Style] = {
    None: "plain",
    "": "plain",
    "'": "single",
    '"': "double",
    "|": "literal",
    ">": "folded",
}
_BOOLEAN_WORDS = re.compile(r"(yes|Yes|YES|no|No|NO|on|On|ON|off|Off|OFF)\Z")
_DEEPEST = 64
_TOO_DEEP = f"nested more than {_DEEPEST} levels deep"
_EXPECTED_LIST = "write a list of entries, each starting with '- func: …'"

# libyaml's parser is about ten times faster, but not every PyYAML has it.
_FAST_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def load(path: str | os.PathLike[str], diagnostics: Diagnostics | None = None, name: str | None = None) -> Document:
    """Read one file. Mistakes go to `diagnostics`; without it they are raised together as CodegenError.

    Wrong parts are left out of the result, so that the rest can be checked. `name` is the name of the file in
    diagnostics.
    """
    file = os.fspath(path) if name is None else name
    own = Diagnostics()
    document = Document(file, (), _empty(file))
    try:
        with open(path, "rb") as stream:
            raw = stream.read()
        document = parse_text(raw.decode("utf-8-sig"), file, own)
    except OSError as error:
        own.add(Diagnostic(file, 0, 0, f"cannot read the file: {error.strerror or error}"))
    except UnicodeDecodeError as error:
        own.add(not_utf8(file, error))
    return _deliver(document, own, diagnostics)


def parse_text(text: str, file: str, diagnostics: Diagnostics | None = None) -> Document:
    """Read a text that is already in memory, like `load`."""
    source = SourceText(file, normalise_line_breaks(text))
    own = Diagnostics()
    root = None
    if not report_unusable_characters(source, own):
        root = _parse(source, own)
    return _deliver(Document(file, source.lines, root or _empty(file)), own, diagnostics)


def _deliver(document: Document, own: Diagnostics, diagnostics: Diagnostics | None) -> Document:
    if diagnostics is not None:
        diagnostics.extend(own)
    elif own:
        raise CodegenError(own)
    return document


def _empty(file: str) -> Sequence:
    return Sequence(Span(file, 1, 1), ())


def _parse(source: SourceText, diagnostics: Diagnostics) -> Sequence | None:
    try:
        return _Builder(source, diagnostics, _FAST_LOADER).document()
    except _TooDeepError:
        pass  # it is reported already
    except yaml.YAMLError as fast_error:
        # The two parsers have different messages: report those of the one that is always installed.
        error = _error_of_pure_parser(source) or fast_error
        report_syntax(error, source, diagnostics)
    return None


def _error_of_pure_parser(source: SourceText) -> yaml.YAMLError | None:
    depth = 0
    try:
        for event in yaml.parse(source.text, Loader=yaml.SafeLoader):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > _DEEPEST:
                return yaml.MarkedYAMLError(problem=_TOO_DEEP, problem_mark=event.start_mark)  # type: ignore[arg-type]
    except yaml.YAMLError as error:
        return error
    return None


class _TooDeepError(Exception):
    """Raised at too deep nesting; parsing ends, as its time grows with the square of the depth."""


class _Builder:
    """Turns the parser's events into nodes. Every method consumes exactly its node's events."""

    def __init__(self, source: SourceText, diagnostics: Diagnostics, loader: Any) -> None:
        self._source = source
        self._diagnostics = diagnostics
        self._events: Iterator[Any] = yaml.parse(source.text, Loader=loader)
        self._depth = 0

    def document(self) -> Sequence | None:
        next(self._events)  # the start of the stream
        root: Node | None = None
        event = next(self._events)
        if isinstance(event, yaml.StreamEndEvent):
            self._diagnostics.report(Span(self._source.file, 1, 1), "the file is empty", _EXPECTED_LIST)
            return None
        first = next(self._events)
        before = len(self._diagnostics)
        root = self._node(first)
        next(self._events)  # the end of the document
        event = next(self._events)
        if isinstance(event, yaml.DocumentStartEvent):
            self._report(event, "a second document starts here", "one file holds one list: remove the '---'")
            for _ in self._events:  # also report syntax errors further down
                pass
        if isinstance(root, Sequence):
            return root
        if len(self._diagnostics) == before:
            got = "a mapping" if isinstance(root, Mapping) else "nothing" if _is_null(root) else "a text"
            self._report(first, f"expected a list of entries, got {got}", _EXPECTED_LIST)
        return None

    def _report(self, event: Any, message: str, help: str | None = None) -> None:
        span = self._source.span(event.start_mark.index, event.end_mark.index)
        self._diagnostics.report(span, message, help)

    def _node(self, event: Any) -> Node | None:
        """The node that starts with `event`; None when it is refused."""
        if isinstance(event, yaml.AliasEvent):
            self._report(event, f"alias '*{event.anchor}'", "aliases are not supported: write the value again")
            return None
        accepted = True
        if event.anchor is not None:
            accepted = False
            self._report(event, f"anchor '&{event.anchor}'", "anchors are not supported: remove it")
        if event.tag is not None:
            accepted = False
            self._report(event, f"tag '{event.tag}'", "tags are not supported: every value is a text, remove it")
        node: Node
        if isinstance(event, yaml.ScalarEvent):
            node = self._scalar(event)
            if accepted and _is_boolean_word(node):
                self._refuse_boolean_word(node)
        elif self._depth >= _DEEPEST:
            self._report(event, _TOO_DEEP, "the file is not read further")
            raise _TooDeepError
        else:
            self._depth += 1
            node = self._sequence(event) if isinstance(event, yaml.SequenceStartEvent) else self._mapping(event)
            self._depth -= 1
        return node if accepted else None

    def _scalar(self, event: Any) -> Scalar:
        source = self._source
        start, stop = event.start_mark.index, event.end_mark.index
        style = _STYLES[event.style]
        if style in ("literal", "folded") and event.value.strip():
            first = content_start(source.text, start)
            while source.text[first] in " \t\n":
                first += 1
            span = source.span(first, stop)
        else:
            span = source.span(start, stop)
        return Scalar(event.value, style, span, source, start, stop)

    def _sequence(self, start: Any) -> Sequence:
        items = []
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            node = self._node(event)
            if node is not None:
                items.append(node)
        return Sequence(self._span_of(start, event), tuple(items))

    def _mapping(self, start: Any) -> Mapping:
        items: dict[str, tuple[Scalar, Node]] = {}
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            key = self._key(event)
            value = self._node(next(self._events))
            if key is None:
                continue
            if key.value in items:
                line = items[key.value][0].span.line
                self._diagnostics.report(
                    key.span, f"duplicate key '{key.value}'", f"it is already given on line {line}"
                )
            elif value is not None:
                items[key.value] = (key, value)
        return Mapping(self._span_of(start, event), tuple(items.values()))

    def _key(self, event: Any) -> Scalar | None:
        before = len(self._diagnostics)
        node = self._node(event)
        if node is None or len(self._diagnostics) > before:
            return None
        if not isinstance(node, Scalar):
            self._report(event, "a key must be a text")
            return None
        if node.value == "<<" and node.style == "plain":
            self._diagnostics.report(node.span, "merge key '<<'", "merge keys are not supported: write the keys out")
            return None
        if _is_null(node):
            self._diagnostics.report(node.span, "empty key")
            return None
        return node

    def _span_of(self, start: Any, end: Any) -> Span:
        return self._source.span(start.start_mark.index, end.end_mark.index)

    def _refuse_boolean_word(self, scalar: Scalar) -> None:
        self._diagnostics.report(
            scalar.span,
            f"plain '{scalar.value}' is a boolean in YAML",
            f"quote it ('{scalar.value}'), or write true or false",
        )


def _is_null(node: Node | None) -> bool:
    return isinstance(node, Scalar) and node.is_null


def _is_boolean_word(node: Node) -> bool:
    return isinstance(node, Scalar) and node.style == "plain" and bool(_BOOLEAN_WORDS.match(node.value))
