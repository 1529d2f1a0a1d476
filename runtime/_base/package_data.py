"""Files that are installed with the package: the declarations of its operators, headers, templates, examples.

Reads through importlib.resources, since in an editable install the files lie in several folders of the source and
build trees and only the import system knows where.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.abc import Traversable


def path(*names: str) -> Path:
    """The path of one installed file, `path("codegen", "build_config.json")`. Raises FileNotFoundError."""
    result = files("opweave").joinpath(*names)
    if not isinstance(result, Path) or not result.is_file():
        raise FileNotFoundError(f"the installed opweave has no file {'/'.join(names)}; install it again")
    return result


def folder(*names: str) -> dict[str, Path]:
    """The files of an installed folder and the folders in it, by path, sorted; empty when there is no such folder."""
    result = files("opweave").joinpath(*names)
    return dict(sorted(_walk(result, ""))) if result.is_dir() else {}


def _walk(folder: Traversable, prefix: str) -> Iterator[tuple[str, Path]]:
    for each in folder.iterdir():
        if each.is_dir():
            yield from _walk(each, f"{prefix}{each.name}/")
        elif isinstance(each, Path):
            yield prefix + each.name, each
