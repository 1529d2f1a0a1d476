"""Functions that are called when modules have been imported. Those of this package learn to give advice; with modules
of other libraries a module of this package is imported, in which they find how to use tensors.

Neither library imports the other for that: whichever comes second, the module is imported.
"""

from __future__ import annotations

import contextlib
import sys
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType

__all__ = ["import_beside"]

_PACKAGE = __name__.partition(".")[0]
_BESIDE = {"einops._backends": f"{_PACKAGE}.utils.einops_backend"}
"""The module to import beside a module of another library, by the latter's name."""


def _afterwards(fullname: str) -> Callable[[ModuleType], None] | None:
    """Return what to call with a module when it has been imported; mostly there is nothing to do."""
    if fullname.startswith(f"{_PACKAGE}.") and "._" not in fullname:
        return _add_advice
    own = _BESIDE.get(fullname)
    return None if own is None else lambda module: _import(own)


def _import(own: str) -> None:
    with contextlib.suppress(ImportError, AttributeError):  # another version of the library, which works without
        import_module(own)


def _add_advice(module: ModuleType) -> None:
    """Have the AttributeErrors of a module say what to use, as a `__getattr__` of its own does by itself."""
    from .module_names import submodule

    vars(module).setdefault("__getattr__", partial(submodule, module.__name__))


class _Finder:
    """Finds nothing by itself, and has what follows done when what others find has been imported."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        follow = _afterwards(fullname)
        if follow is None:
            return None
        others = [each for each in sys.meta_path if each is not self]
        found = next((spec for each in others if (spec := each.find_spec(fullname, path))), None)
        loader: Any = found and found.loader
        if hasattr(loader, "exec_module"):
            execute = loader.exec_module

            def execute_and_follow(module: ModuleType) -> None:
                execute(module)
                follow(module)

            loader.exec_module = execute_and_follow
        return found


_finder = _Finder()


def import_beside() -> None:
    """Do what follows for all modules that have been imported, and for others when they will be."""
    for name, module in [*sys.modules.items()]:
        follow = _afterwards(name)
        if follow is not None:
            follow(module)
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)
