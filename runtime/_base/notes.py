"""Notes of exceptions: what tracebacks print after the text of an error, which may be torch's and stays as it is."""

from __future__ import annotations

from typing import TypeVar

__all__ = ["explained", "noted"]

_Error = TypeVar("_Error", bound=BaseException)


def noted(error: _Error, note: str) -> _Error:
    """Return the error with a note; Python 3.10 has none."""
    if hasattr(error, "add_note"):
        error.add_note(note)
    return error


def explained(error: _Error, page: str) -> _Error:
    """Return the error with a note of the command that prints a page of the documentation, `docs/compile.md`, or a
    section of it, `docs/compile.md#graph-breaks`."""
    return noted(error, f"To read more: opweave docs {page.removeprefix('docs/')}")
