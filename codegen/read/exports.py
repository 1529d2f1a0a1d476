"""Reads the names that the package exports beside the operators, from the text of its `__init__.py`.

Nothing is imported: the package is not built yet when its stub is written. Read are the imports at the top, what
`import *` takes from modules with an `__all__`, and the names that are loaded when first asked for (`_LAZY_NAMES`,
`_LAZY_MODULES`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["NONE", "Exports", "read"]

_GENERATED = "_operators"
"""The module whose names are not written by hand."""


@dataclass(frozen=True)
class Exports:
    """The names that a package exports."""

    names: dict[str, list[str]] = field(default_factory=dict)
    """The exported names by module, which is relative to the package if it begins with a dot."""
    constants: tuple[str, ...] = ()
    """Names that `__init__.py` itself sets to None."""
    submodules: tuple[str, ...] = ()


NONE = Exports()


def read(folder: Path) -> Exports:
    """Return the exports of the package in this folder; no exports where there is no package."""
    if not (folder / "__init__.py").is_file():
        return NONE
    body = _body(folder / "__init__.py")
    names: dict[str, list[str]] = {}
    for module, name in (*_imported(body, folder), *_lazy(body)):
        if not name.startswith("_"):
            names.setdefault(module, []).append(name)
    constants = [name for name, value in _assigned(body) if isinstance(value, ast.Constant) and value.value is None]
    return Exports(names, tuple(constants), tuple(ast.literal_eval(_value(body, "_LAZY_MODULES"))))


def _body(path: Path) -> list[ast.stmt]:
    return ast.parse(path.read_text(encoding="utf-8"), str(path)).body


def _imported(body: list[ast.stmt], folder: Path) -> Iterator[tuple[str, str]]:
    for node in body:
        if not isinstance(node, ast.ImportFrom) or node.module in (None, _GENERATED, "__future__"):
            continue
        assert node.module is not None
        module = "." * node.level + node.module
        for alias in node.names:
            if alias.name == "*":
                path = folder / (node.module.replace(".", "/") + ".py")
                yield from ((module, name) for name in ast.literal_eval(_value(_body(path), "__all__")))
            elif alias.asname is None:
                yield module, alias.name


def _lazy(body: list[ast.stmt]) -> Iterator[tuple[str, str]]:
    """Names and modules that are written out; what a comprehension adds follows from the dtypes."""
    table = _value(body, "_LAZY_NAMES")
    assert isinstance(table, ast.Dict)
    for key, value in zip(table.keys, table.values, strict=True):
        if key is not None:
            yield f".{ast.literal_eval(value)}", ast.literal_eval(key)


def _assigned(body: list[ast.stmt]) -> Iterator[tuple[str, ast.expr]]:
    for node in body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            yield node.targets[0].id, node.value


def _value(body: list[ast.stmt], name: str) -> ast.expr:
    return next(value for target, value in _assigned(body) if target == name)
