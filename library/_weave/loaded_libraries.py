"""Operator libraries: the woven packages whose operators this process has loaded.

A woven package calls `load` for its shared object, which gives its operators their indices in the core, and `install`
for its methods. Neither ever takes the place of something that is already there.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .._base.errors import raise_pending
from .._C import lib
from .._dispatch.define import attribute
from .._handle import Function
from .._operators import INTERFACE
from . import levels


@dataclass
class Library:
    """A woven package."""

    package: str
    folder: str
    first: int
    """Index of its first operator in the core; -1 when all of them are Python."""
    methods: dict[str, Any] = field(default_factory=dict)
    """The methods that it added to class Tensor."""


_loaded: dict[str, Library] = {}
texts: set[str] = set()
"""The packages that were woven from texts: their methods make way for those of each other."""


def load(package: str, module: str, stem: str | None, interface: str) -> Library:
    """Loads the operators of a package from a shared object beside the file `module`, whose name begins with `stem`.

    `interface` stands for what it expects of the runtime. Raises ImportError when this opweave offers something else,
    or the file is missing or unfit.
    """
    folder = os.path.dirname(module)
    if interface != INTERFACE:
        declarations = os.path.join(folder, levels.DECLARATIONS)
        raise ImportError(
            f"{package} was woven by another version of opweave; weave it again: "
            f"opweave weave {declarations} --name {package} --out {os.path.dirname(folder)}",
            name=package,
        )
    first = -1
    if stem is not None:
        with levels.loadable(package, folder, stem) as path:
            first = lib.load_library(os.fsencode(path))
            if first < 0:
                try:
                    raise_pending()
                except RuntimeError as error:
                    raise ImportError(f"{package}: {error}", name=package, path=path) from None
    library = Library(package, folder, first)
    before = _loaded.get(package)
    if before is not None:
        # Loaded again, perhaps with other operators: what the earlier one added makes way.
        _remove_methods(before)
    _loaded[package] = library
    return library


def forget_modules(package: str, namespace: dict[str, Any]) -> None:
    """Called when a woven package begins to run. If it runs again, being reloaded or imported anew, its modules are of
    the time before, and so are the operators in its namespace: the ones woven meanwhile take their place."""
    for module in [name for name in sys.modules if name.startswith(f"{package}.")]:
        del sys.modules[module]
    for name in namespace.get("__all__", ()):
        namespace.pop(name, None)


def loaded() -> tuple[Library, ...]:
    """The libraries of this process, in the order they were loaded."""
    return tuple(_loaded.values())


def names_taken(package: str) -> frozenset[str]:
    """Names of class Tensor that the operators of `package` must not have."""
    replaced = (each.methods for each in loaded() if _makes_way(each, package))
    return attributes().difference(*replaced)


def _makes_way(library: Library, package: str) -> bool:
    """Return True if the methods of a library may be replaced by those of a package."""
    return library.package == package or (library.package in texts and package in texts)


def functions() -> frozenset[str]:
    """The names that the module of a woven package has before its own operators, for its composites to call."""
    from .. import _operators

    # The module's own functions are only had by others where they are public.
    written = (
        name for name, each in vars(_operators).items() if not name.startswith("_") and not isinstance(each, Function)
    )
    return frozenset(written) | _operators.FUNCTIONS.keys()


def attributes() -> frozenset[str]:
    """The names of Tensor's attributes, those of loaded packages included."""
    from .._tensor.tensor import Tensor

    return frozenset(name for name in dir(Tensor) if hasattr(Tensor, name))


def install(library: Library, methods: Mapping[str, Callable[..., Any]]) -> None:
    """Adds methods to class Tensor, all or none. Raises ImportError when one of the names is taken."""
    from .._tensor.tensor import Tensor

    owners = {name: next((other for other in loaded() if name in other.methods), None) for name in methods}
    for name, owner in owners.items():
        if hasattr(Tensor, name) and (owner is None or not _makes_way(owner, library.package)):
            raise ImportError(
                f"{library.package} cannot add method '{name}' to Tensor: {owner.package if owner else 'opweave'} "
                "already has it; rename the operator and weave it again",
                name=library.package,
            )
    for name, method in methods.items():
        owner, added = owners[name], attribute(method)
        if owner is not None:
            del owner.methods[name]
        setattr(Tensor, name, added)
        library.methods[name] = added


def install_again(package: str) -> None:
    """Gives a package the methods that others have replaced since it was imported."""
    install(_loaded[package], sys.modules[f"{package}._operators"].METHODS)


def _remove_methods(library: Library) -> None:
    from .._tensor.tensor import Tensor

    for name, method in library.methods.items():
        if Tensor.__dict__.get(name) is method:
            delattr(Tensor, name)
