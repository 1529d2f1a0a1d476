"""`Library`, `define` and `impl`: operators from schemas, whose functions are registered by torch's names of keys."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from .definition import Definition, definitions, find, read

_KINDS = ("DEF", "IMPL", "FRAGMENT")
_DEVICES = {
    "CPU": "cpu",
    "CUDA": "cuda",
    "Meta": "meta",
    "CompositeExplicitAutograd": None,
    "CompositeImplicitAutograd": None,
}
"""The devices of a kernel, by torch's keys."""


class Library:
    """Operators of a namespace that are defined by schemas, and functions that are registered for them.

    They are there for as long as the library is: keep it in a variable of the module.

    Args:
        ns (str): the namespace.
        kind (str): `"DEF"` or `"FRAGMENT"` defines operators; `"IMPL"` registers functions for those that there are.
        dispatch_key (str): the key of `impl` where none is given there.
    """

    def __init__(self, ns: str, kind: str, dispatch_key: str = "") -> None:
        if kind not in _KINDS:
            raise ValueError(f"Unsupported kind: {kind}")
        self.ns = ns
        self.kind = kind
        self.dispatch_key = dispatch_key
        self._undo: list[Callable[[], None]] = []
        self._destroy = weakref.finalize(self, _undo_all, self._undo)
        """Takes back what was defined and registered; called when the library is deleted."""
        self._destroy.atexit = False

    def define(self, schema: str, alias_analysis: str = "", *, tags: Sequence[Any] = ()) -> str:
        """Define an operator, such as `"add_twice(Tensor x, Tensor y) -> Tensor"`, and return its name.

        Raises RuntimeError where there is one of that name and overload, and for what is no schema.
        """
        parsed = read(schema)
        name = str(parsed.name)
        if f"{self.ns}::{name}" in definitions:
            raise RuntimeError(
                f"Tried to register an operator ({self.ns}::{parsed}) with the same name and overload name multiple "
                "times."
            )
        self._undo.append(Definition(self.ns, parsed).forget)
        return name

    def impl(self, op_name: str, fn: Callable[..., Any], dispatch_key: str = "") -> None:
        """Register the function that answers calls of an operator of this namespace.

        Args:
            op_name (str): the name, with the overload where it has one.
            fn (Callable): is called with the operator's arguments.
            dispatch_key (str): `"CPU"`, `"CUDA"`, `"Meta"`, `"CompositeExplicitAutograd"` for all devices, or
                `"CompositeImplicitAutograd"`, whose gradients are those of the operators that `fn` calls.
        """
        definition = find(f"{self.ns}::{op_name.removeprefix(f'{self.ns}::')}")
        key = dispatch_key or self.dispatch_key or "CompositeImplicitAutograd"
        if key not in _DEVICES:
            raise ValueError(f"unknown dispatch key {key!r}; there are {', '.join(_DEVICES)}")
        definition.add_kernel(_DEVICES[key], fn)
        self._undo.append(lambda: definition.remove_kernel(_DEVICES[key], fn))
        if key == "CompositeImplicitAutograd":
            definition.decomposes = definition.op.decomposes = True

    def __repr__(self) -> str:
        return f"Library(kind={self.kind}, ns={self.ns}, dispatch_key={self.dispatch_key})>"


def _undo_all(actions: list[Callable[[], None]]) -> None:
    while actions:
        actions.pop()()


@contextmanager
def _scoped_library(ns: str, kind: str, dispatch_key: str = "") -> Iterator[Library]:
    """A library that is there within a `with` block."""
    library = Library(ns, kind, dispatch_key)
    try:
        yield library
    finally:
        library._destroy()


_unnamed: list[Library] = []
"""The libraries of operators that were defined without one, which stay."""


def define(qualname: str, schema: str, *, lib: Library | None = None, tags: Sequence[Any] = ()) -> None:
    """Define the operator `"ns::name"` with a schema such as `"(Tensor x) -> Tensor"`."""
    namespace, _, name = qualname.partition("::")
    if not name:
        raise ValueError(f"expected a name of the form 'namespace::name', but got {qualname!r}")
    if lib is None:
        lib = Library(namespace, "FRAGMENT")
        _unnamed.append(lib)
    lib.define(f"{name}{schema}")


def impl(qualname: str, types: str | Sequence[str], func: Callable[..., Any] | None = None) -> Any:
    """Register the function that computes the results of the operator `"ns::name"` for tensors of some devices. A
    decorator where `func` is left out.

    Args:
        types (str or sequence of str): such as `"cpu"`; `"default"`: all that have no function of their own.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for kind in [types] if isinstance(types, str) else types:
            find(qualname).add_kernel(None if kind == "default" else kind, function)
        return function

    return decorate if func is None else decorate(func)
