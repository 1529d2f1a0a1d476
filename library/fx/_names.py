"""Names of functions and classes in code that graphs print, and names that are free in it."""

from __future__ import annotations

import builtins
import keyword
import re
import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from types import FunctionType
from typing import Any

from .._base.tensor_class import Tensor
from .._handle import Function

__all__ = ["Names", "function_name", "public_functions", "qualified_name", "resolved", "root_name", "snake_case"]

_PACKAGE = __name__.partition(".")[0]
# Namespaces of functions: the later ones have the word where a function is in several.
_NAMESPACES = ("signal.windows", "special", "fft", "linalg", "nn.functional", "")
# Where the functions in Python are that the package itself has and that are recorded.
_IN_PYTHON = "_checks"
_PRIVATE = ("_assert",)
# What generated code calls by these names is not to be hidden by the names of nodes.
RESERVED = frozenset({"inf", "nan", "NoneType", "torch", "device", _PACKAGE})

_BUILTINS = frozenset(dir(builtins))


def root_name() -> str:
    """The package's name: that of torch where the package has taken it."""
    return str(Tensor.__module__).partition(".")[0]


@cache
def public_functions() -> dict[str, dict[str, Callable[..., Any]]]:
    """Return the functions that compute, by the module where users call them: operators, and functions in Python over
    them."""
    return {name: _functions_of(f"{_PACKAGE}.{name}".rstrip(".")) for name in _NAMESPACES}


def _functions_of(name_of_module: str) -> dict[str, Callable[..., Any]]:
    module = import_module(name_of_module)
    has_all = name_of_module != _PACKAGE
    found: dict[str, Callable[..., Any]] = {}
    if not has_all:
        for name, path in module._LAZY_NAMES.items():
            if path == _IN_PYTHON:
                getattr(module, name)  # imports what has not been asked for yet
    for name, value in vars(module).items():
        if name.startswith("_") and name not in _PRIVATE:
            continue
        is_python = isinstance(value, FunctionType) and (has_all or value.__module__ == f"{_PACKAGE}.{_IN_PYTHON}")
        if is_python or isinstance(value, Function):
            found[name] = value
    return found


@cache
def _public_names() -> dict[int, str]:
    """Return the name of each public function behind that of the package, by the function's identity."""
    names: dict[int, str] = {}
    for module, functions in public_functions().items():
        prefix = f"{module}." if module else ""
        for name, function in functions.items():
            # Operators of other namespaces may be in the package as well, by names of its own such as `fft_fft`.
            if prefix or id(function) not in names or names[id(function)].rpartition(".")[2] == name:
                names[id(function)] = prefix + name
    return names


def qualified_name(function: Any) -> str:
    """The name of a function or class with its module, from the package's name on if it is the package's."""
    public = _public_names().get(id(function))
    if public is not None:
        return f"{root_name()}.{public}"
    name = getattr(function, "__qualname__", None) or getattr(function, "__name__", None) or type(function).__name__
    module = getattr(function, "__module__", None) or "builtins"
    if module == "_operator":
        return f"operator.{name}"
    first, _, rest = module.partition(".")
    if first in (_PACKAGE, "torch"):
        shortest = name if getattr(sys.modules[_PACKAGE], name, None) is function else f"{rest}.{name}".lstrip(".")
        return f"{root_name()}.{shortest}"
    return f"{module}.{name}"


def function_name(function: Any) -> str | None:
    """The name by which users call a function of the package; None: it is a method alone, or another's."""
    public = _public_names().get(id(function))
    return None if public is None else public.rpartition(".")[2]


def resolved(path: str) -> Any:
    """Return the object that a dotted name leads to, such as a function of the package, or None."""
    first, *rest = path.split(".")
    value: Any = sys.modules.get(_PACKAGE if first == "torch" else first)
    for each in rest:
        value = getattr(value, each, None)
    return value


class Names:
    """Names that are Python's identifiers, each given once."""

    def __init__(self) -> None:
        self._used: set[str] = set()
        self._counts: dict[str, int] = {}

    def create_name(self, candidate: str, obj: Any = None) -> str:
        """Return a name like `candidate`, with a number behind it if that is taken.

        Args:
            candidate (str): what the name is to be like.
            obj: a builtin of this name may have it.
        """
        candidate = re.sub(r"\W+", "_", candidate, flags=re.ASCII) or "_unnamed"
        if candidate[0].isdigit():
            candidate = f"_{candidate}"
        match = re.fullmatch(r"(.*)_(\d+)", candidate)
        base, number = (match[1], int(match[2])) if match else (candidate, 0)
        if candidate in self._used:
            number = max(number, self._counts.get(base, 0))
        elif not self._is_free(candidate, obj):
            number += 1
            candidate = f"{base}_{number}"
        while candidate in self._used:
            number += 1
            candidate = f"{base}_{number}"
        self._used.add(candidate)
        self._counts[base] = max(number, self._counts.get(base, 0))
        return candidate

    def _is_free(self, name: str, obj: Any) -> bool:
        if keyword.iskeyword(name) or name in RESERVED:
            return False
        return name not in _BUILTINS or (obj is not None and getattr(builtins, name) is obj)


def snake_case(name: str) -> str:
    """The name of a class or function as one of a value: `MaxPool2d` is `max_pool2d`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
