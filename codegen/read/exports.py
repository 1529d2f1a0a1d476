"""Reads the names that the package exports beside the operators, from the text of its modules.

Nothing is imported: the package is not built yet. Read are the imports at the top of `__init__.py`, the lists
`_PACKAGE_NAMES` by which modules say which of their names are the package's as well, and the names of files.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["NONE", "Exports", "read"]

_GENERATED = "_operators"
"""The module whose names are not written by hand."""
_LIST = "_PACKAGE_NAMES"


@dataclass(frozen=True)
class Exports:
    """The names that a package exports."""

    imported: dict[str, list[str]] = field(default_factory=dict)
    """The names that `__init__.py` imports, by module, which is relative to the package if it begins with a dot."""
    named: dict[str, str] = field(default_factory=dict)
    """The module of each name that is imported when first asked for."""
    constants: tuple[str, ...] = ()
    """Names that `__init__.py` itself sets to None."""
    submodules: tuple[str, ...] = ()
    """Modules that are imported when first asked for."""

    def by_module(self) -> dict[str, list[str]]:
        """Return the names, those with an underscore left out, by module."""
        names = {module: list(found) for module, found in self.imported.items()}
        for name, module in self.named.items():
            if not name.startswith("_"):
                names.setdefault(f".{module}", []).append(name)
        return names


NONE = Exports()


def read(folders: Sequence[Path]) -> Exports:
    """Return the exports of the package whose modules are in these folders, the first of which has its `__init__.py`.

    There are none where there is no package.
    """
    if not (folders[0] / "__init__.py").is_file():
        return NONE
    body = _body(folders[0] / "__init__.py")
    imported: dict[str, list[str]] = {}
    for module, name in _imported(body):
        if not name.startswith("_"):
            imported.setdefault(module, []).append(name)
    named = dict(sorted(pair for folder in folders for pair in _named(folder)))
    constants = [name for name, value in _assigned(body) if isinstance(value, ast.Constant) and value.value is None]
    submodules = {module for folder in folders for module in _modules(folder)} - named.keys()
    return Exports(imported, named, tuple(constants), tuple(sorted(submodules)))


def _body(path: Path) -> list[ast.stmt]:
    return ast.parse(path.read_text(encoding="utf-8"), str(path)).body


def _imported(body: list[ast.stmt]) -> Iterator[tuple[str, str]]:
    for node in body:
        if isinstance(node, ast.ImportFrom) and node.module not in (None, _GENERATED, "__future__"):
            yield from (("." * node.level + str(node.module), each.name) for each in node.names if not each.asname)


def _named(folder: Path) -> Iterator[tuple[str, str]]:
    """Names of the package and their modules, as the lists of modules have them."""
    for path in folder.rglob("*.py"):
        if _LIST not in path.read_text(encoding="utf-8"):
            continue
        values = dict(_assigned(_body(path)))
        names = values[_LIST]
        module = ".".join(path.relative_to(folder).with_suffix("").parts).removesuffix(".__init__")
        yield from ((name, module) for name in ast.literal_eval(values.get(getattr(names, "id", ""), names)))


def _modules(folder: Path) -> Iterator[str]:
    """Modules that are attributes of the package: the public ones, and those that torch has with an underscore."""
    for path in folder.iterdir():
        is_module = path.suffix == ".py" or (path / "__init__.py").is_file()
        is_command = (path / "__main__.py").is_file()
        is_public = not path.stem.startswith("_") or path.stem in ("__config__", "_dynamo")
        if is_module and is_public and not is_command:
            yield path.stem


def _assigned(body: list[ast.stmt]) -> Iterator[tuple[str, ast.expr]]:
    for node in body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            yield node.targets[0].id, node.value
