"""Checks the Python that entries contain: bodies of composites, shapes of factories, formulas of derivatives.

It is copied into generated functions as it stands, so it must be Python, and use no name that those do not know.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterable
from typing import Literal

from .errors import suggest
from .fields import Entry
from .source import Scalar

# What the generated module knows besides its functions; called names are the module's own affair.
_GLOBALS = frozenset((*dir(builtins), "Tensor"))
_LINE_OF_MESSAGE = re.compile(r" on line \d+")


def python_names(entry: Entry, scalar: Scalar, mode: Literal["eval", "exec"], known: Iterable[str]) -> frozenset[str]:
    """The names in a text that must be Python: an expression, or the body of a function with arguments `known`."""
    text = scalar.value.rstrip()
    indentation = " " if mode == "exec" else ""
    if mode == "eval":
        first = len(text) - len(text.lstrip())
        scalar, text = scalar.part(first, len(text)), text[first:]
    lines = text.split("\n")
    source = "\n".join(("def __body__():", *(indentation + line for line in lines))) if indentation else text
    place = _Places(lines, indentation)
    try:
        tree = ast.parse(source, mode=mode)
    except SyntaxError as error:
        # Without a column it is the end that is missing something.
        column = (error.offset or len(lines[-1]) + len(indentation) + 1) - 1
        offset = min(place.offset(error.lineno or 1, column), max(len(text) - 1, 0))
        message = _LINE_OF_MESSAGE.sub("", error.msg)
        entry.report(scalar.span_at(offset), f"not Python: {message}")
        return frozenset()
    except (ValueError, RecursionError, MemoryError):
        entry.report(scalar.span, "not Python: nested too deeply")
        return frozenset()
    nodes = list(ast.walk(tree))
    accepted = tuple(dict.fromkeys((*known, *sorted(_assigned(nodes) - {"__body__"}))))
    called = {node.func for node in nodes if isinstance(node, ast.Call)}
    found = [node for node in nodes if isinstance(node, ast.Name)]
    for node in found:
        if node.id not in accepted and node.id not in _GLOBALS and node not in called:
            column = len(source.split("\n")[node.lineno - 1].encode()[: node.col_offset].decode())
            span = scalar.span_at(place.offset(node.lineno, column), len(node.id))
            entry.report(span, f"unknown name '{node.id}'", suggest(node.id, accepted))
    return frozenset(node.id for node in found)


class _Places:
    """Turns Python's lines and columns into offsets of the text; a `def` line and indentation may stand before it."""

    def __init__(self, lines: list[str], indentation: str) -> None:
        self.lines = lines
        self.indentation = indentation

    def offset(self, line: int, column: int) -> int:
        """`line` counts from 1, `column` from 0 and in characters."""
        above = max(line - 1 - bool(self.indentation), 0)
        return sum(len(each) + 1 for each in self.lines[:above]) + max(column - len(self.indentation), 0)


def _assigned(nodes: Iterable[ast.AST]) -> set[str]:
    """Names that the text itself binds."""
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found.add(node.id)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.ExceptHandler)) and node.name:
            found.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            found |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
    return found
