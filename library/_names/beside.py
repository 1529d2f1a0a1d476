"""Modules of this package that are imported when another library is, which finds in them how to use tensors.

Neither library imports the other for that: whichever comes second, the module is imported.
"""

from __future__ import annotations

import contextlib
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType

__all__ = ["import_beside"]

_PACKAGE = __name__.partition(".")[0]
_BESIDE = {"einops._backends": f"{_PACKAGE}.utils.einops_backend"}
"""The module to import beside a module of another library, by the latter's name."""


class _Finder:
    """Finds nothing by itself, and has what others find import the module afterwards."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        own = _BESIDE.get(fullname)
        if own is None:
            return None
        others = [each for each in sys.meta_path if each is not self]
        found = next((spec for each in others if (spec := each.find_spec(fullname, path))), None)
        loader: Any = found and found.loader
        if hasattr(loader, "exec_module"):
            execute = loader.exec_module

            def execute_both(module: ModuleType) -> None:
                execute(module)
                _import(own)

            loader.exec_module = execute_both
        return found


def _import(own: str) -> None:
    with contextlib.suppress(ImportError, AttributeError):  # another version of the library, which works without
        import_module(own)


_finder = _Finder()


def import_beside() -> None:
    """Import the modules of libraries that have been imported, and those of others when they will be."""
    for name, own in _BESIDE.items():
        if name in sys.modules:
            _import(own)
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)
