"""Pages of what is no operator, a page for each module: classes and functions with their docstrings, as `opweave docs`
prints them."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType

import opweave
from opweave._weave.reference import documentation

MODULES = (
    "", "nn", "nn.init", "nn.utils", "optim", "optim.lr_scheduler", "autograd", "func", "distributions", "utils.data",
    "compiler", "export", "fx", "library", "sparse", "distributed", "multiprocessing", "testing", "safetensors",
)  # fmt: skip
"""Modules with pages, the package itself first."""

Entry = tuple[str, str]
"""A name and the text about it."""


def modules() -> Iterator[tuple[str, str, list[Entry]]]:
    """Yield name, summary and entries of each module."""
    for name in MODULES:
        module = import_module(f"opweave.{name}") if name else opweave
        entries = [(each, documentation(".".join(filter(None, (name, each))))) for each in _names(module)]
        summary = (inspect.getdoc(module) or "").partition("\n\n")[0].replace("\n", " ")
        yield name, summary, entries


def _names(module: ModuleType) -> list[str]:
    """Public classes and functions with docstrings, classes first; functions of operators have pages of their own."""
    operator = type(opweave.add)
    found = {name: getattr(module, name) for name in module.__all__}
    documented = [
        name
        for name, each in found.items()
        if callable(each)
        and not isinstance(each, (operator, ModuleType))
        and not name.startswith("_")
        and not (name.endswith("_") and hasattr(opweave.Tensor, name))
        and str(getattr(each, "__module__", "")).startswith("opweave")
        and inspect.getdoc(each)
    ]
    return sorted(documented, key=lambda name: (not inspect.isclass(found[name]), name.lower()))
