"""The text of an expression, parsed by Python, with positions as offsets in characters of the text.

parse.py makes the expression tree from it.
"""

from __future__ import annotations

import ast
import re

from ..source import Scalar
from .errors import ExpressionError
from .tree import Span

# Deeper nesting would exhaust Python's stack in one of the recursive passes.
MAX_DEPTH = 80

_HABITS = {
    "&&": "'and' or '&'",
    "||": "'or' or '|'",
    "!": "'not'",
    "?": "'a if condition else b'",
    "->": "nothing: there is no indirection here",
    ";": "one expression only",
}
_CLOSING = {")": "(", "]": "[", "}": "{"}
# Brackets in comments and strings are skipped.
_BRACKET = re.compile(r"""#[^\n]*|'[^'\n]*'|"[^"\n]*"|[()\[\]{}]""")
_STATEMENT = re.compile(
    r"\s*((?P<word>while|for|return|def|if|import|from|let|with|try|raise|assert|pass)\b|[A-Za-z_]\w*\s*(?:[-+*/]|\*\*|//)?=(?!=))"
)
_STATEMENTS = {
    "an assignment": "names of parts are given by 'let': {let: {square: self * self}, value: 1 + square}",
    "return": "an expression is the result: leave the word out",
    "if": "a choice is written 'a if condition else b'",
    "while": "an expression has no loops; 'scan' and 'reduce' go over elements, Python is for 'composite'",
    "for": "an expression has no loops; 'scan' and 'reduce' go over elements, Python is for 'composite'",
}
_NOT_PYTHON = re.compile(r"&&|\|\||!(?!=)|\?|->|;")


class Source:
    """One expression's text. It is parsed within parentheses, so that it may run over several lines."""

    def __init__(self, text: str, origin: Scalar | None = None) -> None:
        self.text = text
        self.origin = origin
        # Python ends lines at these and at nothing else.
        self._lines = re.split(r"(?<=\n)|(?<=\r)(?!\n)", text)
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line))

    def parse(self) -> ast.expr:
        """Python's tree; raises ExpressionError if the text is not one expression."""
        if not self.text.strip():
            raise ExpressionError("an expression is missing", 0, max(1, len(self.text)))
        self._check_brackets()
        try:
            body = ast.parse(f"({self.text}\n)", mode="eval").body
        except SyntaxError as error:
            raise self._syntax_error(error) from None
        except (ValueError, RecursionError, MemoryError) as error:
            message = "nested too deeply" if not isinstance(error, ValueError) else "not an expression"
            raise ExpressionError(message, 0, len(self.text)) from None
        self._check_depth(body)
        return body

    def span(self, node: ast.expr | ast.keyword) -> Span:
        """The position of a node. A tuple without parentheses includes the added ones, so its ends are clipped."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        start = max(0, self._offset(node.lineno, node.col_offset))
        stop = min(len(self.text), self._offset(node.end_lineno, node.end_col_offset))
        return Span(start, stop - start, self.origin)

    def _offset(self, line: int, column: int) -> int:
        """The offset in the text. Python counts bytes of UTF-8, and includes the parenthesis that was added in
        front."""
        if line > len(self._lines):
            return len(self.text) + 1
        column -= line == 1
        if column < 0:
            return -1
        prefix = self._lines[line - 1].encode()[:column]
        return self._starts[line - 1] + len(prefix.decode(errors="replace"))

    def _check_brackets(self) -> None:
        """Report unbalanced brackets before the added pair can balance them."""
        opened: list[int] = []
        for match in _BRACKET.finditer(self.text):
            bracket = match[0]
            if bracket in _CLOSING.values():
                opened.append(match.start())
            elif bracket in _CLOSING and (not opened or self.text[opened.pop()] != _CLOSING[bracket]):
                raise ExpressionError(f"unmatched '{bracket}'", match.start(), 1)
        if opened:
            raise ExpressionError(f"'{self.text[opened[-1]]}' is never closed", opened[-1], 1)

    def _check_depth(self, body: ast.expr) -> None:
        waiting = [(body, 1)]
        for node, depth in waiting:
            if depth > MAX_DEPTH:
                break
            depth += _depth_of_chain(node)
            waiting += [(child, depth) for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]
        else:
            return
        span = self.span(node)
        help = "split the operator, or bind repeated parts to functions"
        raise ExpressionError(f"nested more than {MAX_DEPTH} levels deep", span.offset, span.length, help)

    def _syntax_error(self, error: SyntaxError) -> ExpressionError:
        habit = _NOT_PYTHON.search(self.text)
        statement = _STATEMENT.match(self.text)
        if statement:
            word = statement["word"] or "an assignment"
            what = word if word == "an assignment" else f"'{word}'"
            help = _STATEMENTS.get(word, "write the value of one element, as an expression")
            start = statement.start(1)
            return ExpressionError(f"{what} is not part of an expression", start, statement.end(1) - start, help)
        if habit:
            message = f"'{habit[0]}' is not part of an expression"
            return ExpressionError(message, habit.start(), len(habit[0]), f"use {_HABITS[habit[0]]}")
        line, column = error.lineno or 1, (error.offset or 1) - 1
        # These columns count characters, unlike the columns of nodes.
        if line <= len(self._lines):
            offset = self._starts[line - 1] + column - (line == 1)
        else:
            offset = len(self.text) - 1
        offset = min(max(offset, 0), max(0, len(self.text) - 1))
        message = re.split(r"\. (?:Perhaps|Maybe)", error.msg or "invalid syntax")[0]
        return ExpressionError(f"not an expression: {message}", offset, 1)


def _depth_of_chain(node: ast.expr) -> int:
    """The depth of the operands below the node: `a and b and c` is `(a and b) and c`."""
    if isinstance(node, ast.BoolOp):
        return len(node.values) - 1
    return len(node.ops) if isinstance(node, ast.Compare) else 1
