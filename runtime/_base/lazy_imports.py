"""Imports of other libraries that wait until they are needed, and that a fork waits for.

The child of a fork that happens while another thread imports a library has that library's import lock, and nobody to
release it: its own first use of the library would wait for ever.
"""

from __future__ import annotations

import os
import threading
from importlib import import_module
from typing import Any

__all__ = ["load"]

_importing = threading.RLock()


def load(name: str) -> Any:
    """The module of this name."""
    with _importing:
        return import_module(name)


os.register_at_fork(before=_importing.acquire, after_in_parent=_importing.release, after_in_child=_importing.release)
