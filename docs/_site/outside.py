"""Pages that stand outside of docs/, such as the changelog, with links that lead from the folder of this site."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

FOLDER = "repository"
PAGES: Mapping[str, str] = {
    "README.md": "readme.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "examples/README.md": "examples.md",
}
"""Files of the repository, and the pages that they become."""
_LINK = re.compile(r"(\]\()(?!https?:|#)([^)#\s]+)")


def pages(root: Path) -> Iterator[tuple[str, str]]:
    """Yield names of files and their text."""
    for path, name in PAGES.items():
        yield name, _LINK.sub(partial(_moved, posixpath.dirname(path)), (root / path).read_text("utf-8"))


def lead_here(app: Any, name: str, source: list[str]) -> None:
    """Changes links of the pages of docs/ that lead to files outside, which have pages as well; Sphinx calls it."""
    up = "../" * name.count("/")
    for path, page in PAGES.items():
        source[0] = source[0].replace(f"]({up}../{path}", f"]({up}{FOLDER}/{page}")


def _moved(folder: str, link: re.Match[str]) -> str:
    """A link of a file in a folder of the repository, as the pages have to have it."""
    target = posixpath.normpath(posixpath.join(folder, link[2]))
    return link[1] + (PAGES.get(target) or posixpath.relpath(target, f"docs/{FOLDER}"))
