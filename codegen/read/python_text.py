"""Checks the Python that entries contain: bodies of composites, shapes of factories, formulas of derivatives.

It is copied into generated functions verbatim, so it must be valid Python and use only names that are known there.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Callable, Iterable
from typing import Literal

from ..errors import Span, suggest
from ..source import Scalar
from .fields import Entry

# Names of the generated module besides its functions; names that are called are checked in check/calls.py.
_GLOBALS = frozenset((*dir(builtins), "Tensor", "contiguous_format", "dtypes", "preserve_format"))
_BODY = "__body__"
_LINE_OF_MESSAGE = re.compile(r" on line \d+")


Mode = Literal["eval", "exec"]


def python_names(entry: Entry, scalar: Scalar, mode: Mode, known: Iterable[str]) -> frozenset[str]:
    """The names in a text that must be Python: an expression, or the body of a function with the arguments `known`."""
    text = _Text(scalar, mode)
    try:
        tree = text.parse()
    except SyntaxError as error:
        message = _LINE_OF_MESSAGE.sub("", error.msg)
        entry.report(scalar.span_at(text.end_of(error)), f"not Python: {message}", *_help(message))
        return frozenset()
    except (ValueError, RecursionError, MemoryError):
        entry.report(scalar.span, "not Python: nested too deeply")
        return frozenset()
    nodes = list(ast.walk(tree))
    accepted = tuple(dict.fromkeys((*known, *sorted(assigned(nodes)))))
    called = {node.func for node in nodes if isinstance(node, ast.Call)}
    used = [node for node in nodes if isinstance(node, ast.Name)]
    for node in used:
        if node.id not in accepted and node.id not in _GLOBALS and node not in called:
            entry.report(text.span(node, len(node.id)), f"unknown name '{node.id}'", suggest(node.id, accepted))
    return frozenset(node.id for node in used)


def parsed(scalar: Scalar, mode: Mode) -> tuple[list[ast.AST], Callable[[ast.expr], Span]]:
    """The nodes of a text, breadth first, and a function that returns the position of a node. There are no nodes if the
    text is not Python, which `python_names` reports."""
    text = _Text(scalar, mode)
    try:
        nodes = list(ast.walk(text.parse()))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        nodes = []
    return nodes, lambda node: text.span(node, len(ast.unparse(node)))


def is_builtin(name: str) -> bool:
    """Return True if the name is one of Python's that bodies may use."""
    return name in _GLOBALS


class _Text:
    """A text that Python parses; the body of a function gets a `def` line and indentation."""

    def __init__(self, scalar: Scalar, mode: Mode) -> None:
        self.mode = mode
        text = scalar.value.rstrip()
        # An expression may not be indented.
        self.first = len(text) - len(text.lstrip()) if mode == "eval" else 0
        self.scalar, self.text = scalar, text[self.first :]
        self.indentation = " " if mode == "exec" else ""
        self.lines = self.text.split("\n")
        body = (self.indentation + line for line in self.lines)
        self.source = "\n".join((f"def {_BODY}():", *body)) if self.indentation else self.text

    def parse(self) -> ast.Module | ast.Expression:
        tree = ast.parse(self.source, mode=self.mode)
        assert isinstance(tree, (ast.Module, ast.Expression))
        return tree

    def span(self, node: ast.expr, length: int) -> Span:
        column = len(self.source.split("\n")[node.lineno - 1].encode()[: node.col_offset].decode())
        return self.scalar.span_at(self._offset(node.lineno, column), length)

    def end_of(self, error: SyntaxError) -> int:
        """The offset of a mistake. Without a column something is missing at the end."""
        column = (error.offset or len(self.lines[-1]) + len(self.indentation) + 1) - 1
        return min(self._offset(error.lineno or 1, column), self.first + max(len(self.text) - 1, 0))

    def _offset(self, line: int, column: int) -> int:
        """The offset in the text; `line` counts from 1, `column` from 0 in characters."""
        above = max(line - 1 - bool(self.indentation), 0)
        before = sum(len(each) + 1 for each in self.lines[:above])
        return self.first + before + max(column - len(self.indentation), 0)


def _help(message: str) -> tuple[str, ...]:
    return ("compare the indentation with the lines above",) if "indent" in message else ()


def assigned(nodes: Iterable[ast.AST]) -> set[str]:
    """Names that the text binds."""
    assigned_names: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            assigned_names.add(node.id)
        elif isinstance(node, ast.arg):
            assigned_names.add(node.arg)
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.ExceptHandler)) and node.name:
            assigned_names.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            assigned_names |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
    return assigned_names - {_BODY}
