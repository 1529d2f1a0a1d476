"""The names of torch's module `_tensor_str` that programs reach for."""

from __future__ import annotations

from typing import Any

from . import printing
from .printing import get_printoptions, printoptions, set_printoptions

__all__ = ["PRINT_OPTS", "get_printoptions", "printoptions", "set_printoptions"]


class _CurrentOptions:
    """The options as they are when one is read."""

    def __getattr__(self, name: str) -> Any:
        return getattr(printing._options, name)

    def __repr__(self) -> str:
        return repr(printing._options)


PRINT_OPTS = _CurrentOptions()


def _tensor_str(self: Any, indent: int) -> str:
    """Return the elements as they are printed, later lines indented."""
    return printing.values_text(self, indent, printing._options)
