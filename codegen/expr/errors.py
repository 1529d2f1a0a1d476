"""The one exception of the expression languages: a mistake at a place of the expression's own text."""

from __future__ import annotations

from collections.abc import Sequence


class ExpressionError(Exception):
    """A mistake at `offset` (characters from the start of the text), `length` characters long.

    Whoever knows where the text stands in a file turns it into a located diagnostic. Where several mistakes
    were found at once, the first is raised and `all` lists every one, itself included.
    """

    def __init__(self, message: str, offset: int, length: int, help: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset
        self.length = length
        self.help = help
        self.all: tuple[ExpressionError, ...] = (self,)


def raise_all(errors: Sequence[ExpressionError]) -> None:
    """Raises the first of the errors by position, carrying all of them; nothing when there are none."""
    if errors:
        ordered = tuple(sorted(errors, key=lambda error: (error.offset, error.length, error.message)))
        ordered[0].all = ordered
        raise ordered[0]
