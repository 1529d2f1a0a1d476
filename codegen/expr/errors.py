"""The exception of the expression language: a mistake with its position in the text of the expression."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import Span as Place
from ..source import Scalar
from .tree import Span


class ExpressionError(Exception):
    """A mistake at `offset` (characters from the start of the text), `length` characters long.

    Callers that know the position of the text in a file turn it into a diagnostic. If there are several mistakes, the
    first is raised and its `all` lists every one, itself included. `origin` is the text, where it is not the one that
    the caller knows of.
    """

    origin: Scalar | None = None

    def __init__(self, message: str, offset: int, length: int, help: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset
        self.length = length
        self.help = help
        self.all: tuple[ExpressionError, ...] = (self,)

    @classmethod
    def at(cls, span: Span, message: str, help: str | None = None) -> ExpressionError:
        """A mistake in a node of a tree."""
        error = cls(message, span.offset, span.length, help)
        error.origin = span.origin
        return error

    def place(self, source: Scalar) -> Place:
        """Return the place of the mistake in the file; `source` is the text of the expression."""
        return (self.origin or source).span_at(self.offset, self.length)


def raise_all(errors: Sequence[ExpressionError]) -> None:
    """Raise the first of the errors by position, with all of them in `all`; do nothing if there are none."""
    if errors:
        ordered = tuple(sorted(errors, key=lambda error: (error.offset, error.length, error.message)))
        ordered[0].all = ordered
        raise ordered[0]
