"""What the readers of bodies share: expressions, Python, and arguments that nothing uses."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Literal

from ..expr import parse
from ..fields import Entry
from ..model import Expression
from ..schema import Argument
from ..source import Mapping, Scalar


def expression(entry: Entry, scalar: Scalar, known: Iterable[str]) -> Expression | None:
    tree = entry.located(scalar, lambda text: parse(text, known))
    return None if tree is None else Expression(tree, scalar)


def expression_field(entry: Entry, owner: Mapping, key: str, known: Iterable[str]) -> Expression | None:
    scalar = entry.text(owner, key)
    return None if scalar is None else expression(entry, scalar, known)


def report_unused(entry: Entry, what: str, arguments: Iterable[Argument], used: frozenset[str]) -> None:
    """Reports arguments that a body never mentions, at the argument."""
    spared = {word.value for word in entry.words("unused")}
    for argument in arguments:
        if argument.name not in used and argument.name not in spared:
            message = f"the {what} does not use argument '{argument.name}'"
            entry.report(entry.argument_name_span(argument), message, "or list it under 'unused'")


def python_names(entry: Entry, scalar: Scalar, mode: Literal["eval", "exec"]) -> frozenset[str] | None:
    """Checks that a text is Python, an expression or the body of a function; gives the names in it."""
    text = scalar.value
    if mode == "exec":
        lines = text.splitlines(keepends=True)
        # One more blank in front of each line: syntax errors are counted back by it, and by the line of the `def`.
        wrapped, shift = "def body():\n" + "".join(f" {line}" for line in lines), 1
    else:
        first = len(text) - len(text.lstrip())
        text = text.strip()
        scalar = scalar.part(first, first + len(text))
        lines, wrapped, shift = text.splitlines(keepends=True), text, 0
    try:
        tree = ast.parse(wrapped, mode=mode)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        offset, message = 0, "nested too deeply"
        if isinstance(error, SyntaxError):
            line = max((error.lineno or 1) - 1 - shift, 0)
            offset = sum(map(len, lines[:line])) + max((error.offset or 1) - 1 - shift, 0)
            message = error.msg
        last = max(len(text.rstrip()) - 1, 0)
        entry.report(scalar.span_at(min(offset, last)), f"not Python: {message}")
        return None
    return frozenset(node.id for node in ast.walk(tree) if isinstance(node, ast.Name))
