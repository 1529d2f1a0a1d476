"""The namespace `opweave._dynamo`: marks for torch's compiler, most of which do nothing here."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from ._names.module_names import submodule
from ._names.refusals import refused_class
from .compiler import allow_in_graph, assume_constant_result, disable, is_compiling, list_backends, reset

__all__ = [
    "allow_in_graph", "assume_constant_result", "config", "disable", "disallow_in_graph", "forbid_in_graph",
    "graph_break", "is_compile_supported", "is_compiling", "list_backends", "mark_dynamic", "mark_static",
    "mark_static_address", "maybe_mark_dynamic", "optimize", "reset",
]  # fmt: skip

__path__: list[str] = []  # so that it has the submodules that module_names.py knows
OptimizedModule = refused_class(__name__, "OptimizedModule", "compile() returns the module that it is given")
config = SimpleNamespace()
"""Settings of the compiler: whatever is set stays, and nothing asks for it."""

if not TYPE_CHECKING:  # type checkers would take every name for one of these

    def __getattr__(name: str) -> Any:
        return submodule(__name__, name)


def disallow_in_graph(fn: Any) -> Any:
    """Return the function."""
    return fn


forbid_in_graph = disallow_in_graph


def is_compile_supported(device_type: str) -> bool:
    """Return whether functions are compiled for a kind of device: for the CPU."""
    return device_type == "cpu"


def is_dynamo_supported() -> bool:
    """Return whether functions are compiled: True."""
    return True


def graph_break(msg: str = "") -> None:
    """Do nothing: a function is recorded as a whole, or not."""


def mark_dynamic(t: Any, index: Any, **kwargs: Any) -> None:
    """Do nothing: sizes are always those of the call."""


maybe_mark_dynamic = mark_dynamic


def mark_static(t: Any, index: Any = None) -> None:
    """Do nothing: sizes are always those of the call."""


def mark_static_address(t: Any, guard: bool = True) -> None:
    """Do nothing: memory is that of the call."""


def optimize(*args: Any, **kwargs: Any) -> Any:
    """Return a decorator that returns the function."""
    return lambda fn: fn
