"""The recorder of a thread's calls while a program is traced."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from .._base.warn import warn
from .._dispatch.modes import innermost
from ..overrides import TorchFunctionMode

if TYPE_CHECKING:
    from ._recorder import Recorder

__all__ = ["Recording", "TracerWarning", "recorder", "warn_of_value"]

_PACKAGE = __name__.partition(".")[0]


class TracerWarning(Warning):
    """Calls of a trace may differ from those of the program that was traced."""


class Recording(TorchFunctionMode):
    """The mode in which a program is traced."""


def recorder() -> Recorder | None:
    """Return the recorder of the call that is made now, or None."""
    mode: Any = innermost("function_mode")
    return mode if isinstance(mode, Recording) else None  # type: ignore[return-value]  # which has no other class


def warn_of_value(text: str, depth: int = 2) -> None:
    """Warn that a trace does not follow what the program does, unless it is the package itself that does it.

    Args:
        text (str): the warning.
        depth (int): how many frames out the program is.
    """
    if sys._getframe(depth).f_globals.get("__name__", "").partition(".")[0] != _PACKAGE:
        warn(text, TracerWarning)
