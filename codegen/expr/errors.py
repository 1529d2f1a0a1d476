"""The exception of the expression language: a mistake with its position in the text of the expression."""

from __future__ import annotations

from collections.abc import Sequence


class ExpressionError(Exception):
    """A mistake at `offset` (characters from the start of the text), `length` characters long.

    Callers that know the position of the text in a file turn it into a diagnostic. If there are several mistakes, the
    first is raised and its `all` lists every one, itself included.
    """

    def __init__(self, message: str, offset: int, length: int, help: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset
        self.length = length
        self.help = help
        self.all: tuple[ExpressionError, ...] = (self,)


def raise_all(errors: Sequence[ExpressionError]) -> None:
    """Raise the first of the errors by position, with all of them in `all`; do nothing if there are none."""
    if errors:
        ordered = tuple(sorted(errors, key=lambda error: (error.offset, error.length, error.message)))
        ordered[0].all = ordered
        raise ordered[0]
