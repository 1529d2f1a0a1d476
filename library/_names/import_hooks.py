"""Hooks that run after the import of a module.

Public modules of this package get a `__getattr__`, whose AttributeErrors say what to use. After a module of another
library a module of this package is imported, which makes the library take tensors.

Neither library imports the other for that, and the order of imports does not matter. An import that no hook waits for
takes a third of a microsecond longer.
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

__all__ = ["install"]

_PACKAGE = __name__.partition(".")[0]
_ADAPTERS = {"einops._backends": f"{_PACKAGE}.utils.einops_backend"}
"""The module to import after a module of another library, by the latter's name."""


def _hook_of(fullname: str) -> Callable[[ModuleType], None] | None:
    """Return what is called with a module of this name after its import; None for most."""
    if fullname.startswith(f"{_PACKAGE}.") and "._" not in fullname:
        return _add_advice
    adapter = _ADAPTERS.get(fullname)
    return None if adapter is None else lambda module: _import(adapter)


def _import(adapter: str) -> None:
    with contextlib.suppress(ImportError, AttributeError):  # another version of the library, which works without
        import_module(adapter)


def _add_advice(module: ModuleType) -> None:
    """Have the AttributeErrors of a module say what to use, as a `__getattr__` of its own does by itself."""
    from .module_names import submodule

    vars(module).setdefault("__getattr__", partial(submodule, module.__name__))


class _Finder:
    """A finder that asks the others, and has the loader that they find call the hook of the module."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        hook = _hook_of(fullname)
        if hook is None:
            return None
        others = [each for each in sys.meta_path if each is not self]
        found = next((spec for each in others if (spec := each.find_spec(fullname, path))), None)
        loader: Any = found and found.loader
        if hasattr(loader, "exec_module"):
            execute = loader.exec_module

            def execute_with_hook(module: ModuleType) -> None:
                execute(module)
                hook(module)

            loader.exec_module = execute_with_hook
        return found


_finder = _Finder()


def install() -> None:
    """Run the hooks of modules that have been imported, and those of others when they will be."""
    for name, module in [*sys.modules.items()]:
        hook = _hook_of(name)
        if hook is not None:
            hook(module)
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)
