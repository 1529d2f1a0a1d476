"""Warnings that point to the line of the user's code that they are about."""

from __future__ import annotations

import sys
import warnings

_PACKAGE = __name__.partition(".")[0]


def warn(message: str, category: type[Warning] = UserWarning, further: int = 0) -> None:
    """Warns of the nearest caller outside of the package, or of one that is so many frames `further` out: how many
    frames of the package lie in between depends on how an operator came to be called."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == _PACKAGE:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level + further)
