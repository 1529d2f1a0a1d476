"""Imports that wait until they are needed, and that a fork waits for.

The child of a fork that happens while another thread imports a module has that module's import lock, and nobody to
release it: its own first use of the module would wait for ever. So other libraries are imported under a lock that a
fork takes, and a process of several threads imports the rest of this package before it forks.
"""

from __future__ import annotations

import contextlib
import os
import threading
from importlib import import_module
from typing import Any

__all__ = ["load"]

_PROGRAMS = frozenset({"__main__", "_harness", "_torch_of_children", "_weave", "as_torch", "codegen", "demo", "weave"})
"""Modules that no call of an operator imports: commands and their parts."""

_importing = threading.RLock()
_imported_all = False


def load(name: str) -> Any:
    """The module of this name, which is of another library."""
    with _importing:
        return import_module(name)


def _import_all(package: Any) -> None:
    """Imports the modules of a package, and waits for those that other threads import."""
    import pkgutil  # which imports much more, and is rarely needed

    for module in pkgutil.iter_modules(package.__path__, package.__name__ + "."):
        if module.name.rpartition(".")[2] in _PROGRAMS:
            continue
        with contextlib.suppress(ImportError):  # a module for a library that is not installed
            imported = import_module(module.name)
            if module.ispkg:
                _import_all(imported)


def _before_fork() -> None:
    global _imported_all
    if not _imported_all and threading.active_count() > 1:
        _import_all(import_module(__name__.partition(".")[0]))
        _imported_all = True
    # Last: a thread that imports a module of this package may be about to load another library there.
    _importing.acquire()


os.register_at_fork(before=_before_fork, after_in_parent=_importing.release, after_in_child=_importing.release)
