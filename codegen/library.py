"""Reads a file of operators: YAML → entries → operators, checked. This is the front end of codegen in one call."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from . import cache as caches
from .check import calls, check
from .check.calls import Provided
from .errors import Diagnostics, Span, normalise_line_breaks
from .expr.parse import ELEMENTS
from .expr.parse import Family as Expressions
from .model.operator import Declaration, Operator
from .read import copies, entry, following, functions, like, version
from .source import load, parse_text
from .source.nodes import Document, Node
from .source.text import to_yaml

__all__ = ["Provided", "read"]


def read(
    path: str | os.PathLike[str],
    name: str | None = None,
    taken: Iterable[str] = (),
    provided: Provided | None = None,
    cache: caches.Cache = caches.NONE,
    sound: bool = False,
    hints: Diagnostics | None = None,
) -> tuple[Operator, ...]:
    """The operators of one file, in its order.

    `name` is what messages and generated files call it; `taken` are names it must not define, `provided` the functions
    that its bodies and its formulas may call besides its own (None: they are not known). `cache` knows which operators
    need not be checked again; of a `sound` file, which was built before, none need. `hints` collects what could be left
    out; without it that is a mistake, as it is in opweave's own file. Raises CodegenError with every mistake found.
    """
    diagnostics = Diagnostics()
    document = load(path, diagnostics, name)
    entries_and_functions = version.read(document.root, diagnostics)
    nodes, language = functions.read(entries_and_functions, diagnostics)
    declared = {id(node) for node in nodes}
    cache.begin(to_yaml(node) for node in entries_and_functions if id(node) not in declared)
    entries = [
        None if node is None else _entry(node, document, diagnostics, language)
        for node in like.resolve(nodes, diagnostics)
    ]
    declarations = [declaration for declaration in entries if declaration is not None]
    complete = len(declarations) == len(entries)
    declarations += copies.derived(declarations)
    declarations = [each for declaration in declarations for each in _with_gradients(declaration, diagnostics)]
    if not sound:
        check(declarations, diagnostics, taken, complete=complete, is_sound=cache.is_sound)
        calls.check(declarations, diagnostics, provided)
    diagnostics.raise_if_any(hints=hints is None and not sound)
    if hints is not None:
        hints.extend(diagnostics)
    return tuple(operator for operator in declarations if isinstance(operator, Operator))


def _entry(node: Node, document: Document, diagnostics: Diagnostics, language: Expressions) -> Declaration | None:
    try:
        return entry.read(node, document.file, document.lines, diagnostics, language)
    except RecursionError:
        _report_size(node.span, "the expressions", diagnostics)
        return None


def _with_gradients(declaration: Declaration, diagnostics: Diagnostics) -> Iterable[Declaration]:
    """The declaration, the operators of its stages, and those of the gradients that are `auto`."""
    if isinstance(declaration, Operator):
        try:
            parts = following.first(following.PARTS, declaration, diagnostics)
            if parts:
                return [each for part in parts for each in _with_gradients(part, diagnostics)]
            found = following.first(following.GRADIENTS, declaration, diagnostics)
            return (declaration,) if found is None else found
        except RecursionError:
            _report_size(declaration.span, "the automatic gradients", diagnostics)
    return (declaration,)


def _report_size(span: Span, what: str, diagnostics: Diagnostics) -> None:
    diagnostics.report(span, f"{what} are nested too deep, as names of 'let' are written out", "split the operator")


class Entries:
    """The entries of a file that was found to be right, each read when it is asked for, as most never are."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._file = os.fspath(path)
        self._diagnostics = Diagnostics()
        self._texts: dict[str, str] = {}
        """The lines of entries by name, behind as many empty ones as stand before them in the file."""
        others = self._divide(normalise_line_breaks(Path(path).read_text("utf-8-sig")))
        self._language, self._parsed = ELEMENTS, dict[str | None, tuple[Node, Document]]()
        if _ENTRY.search(others) or not self._texts:
            document = parse_text(others, self._file, self._diagnostics)
            nodes, self._language = functions.read(version.read(document.root, self._diagnostics), self._diagnostics)
            self._parsed.update((like.name_of(node), (node, document)) for node in nodes)

    def _divide(self, text: str) -> str:
        """Note the texts of entries, and return that of all else in the file."""
        others, line = "", 0
        for part in _ENTRY.split(text):
            name, count = _NAME.match(part), part.count("\n")
            if name is not None:
                self._texts[name[1]] = "\n" * line + part
            others += "\n" * count if name else part
            line += count
        return others

    def operator(self, name: str) -> Operator:
        """The operator as its entry says, with `auto` among its derivatives."""
        node, document = self._entry(name)
        nodes = [node]
        while (base := like.base_of(nodes[-1])) is not None:
            nodes.append(self._entry(base)[0])
        merged = like.resolve(nodes, self._diagnostics)[0]
        assert merged is not None
        found = entry.read(merged, document.file, document.lines, self._diagnostics, self._language)
        self._diagnostics.raise_if_any()
        assert isinstance(found, Operator)
        return found

    def _entry(self, name: str) -> tuple[Node, Document]:
        if name not in self._parsed:
            document = parse_text(self._texts[name], self._file, self._diagnostics)
            self._parsed[name] = document.root.items[0], document
        return self._parsed[name]


_ENTRY = re.compile(r"^(?=- )", re.MULTILINE)
_NAME = re.compile(r"- func:\s*(\w+)")
