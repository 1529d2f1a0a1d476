"""The pages of the documentation as tests see them: their blocks of code, by language, and the text between."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from harness.paths import ROOT

GENERATED = [
    ROOT / line.strip("/")
    for line in (ROOT / ".gitignore").read_text("utf-8").splitlines()
    if line.startswith("/docs/")
]
"""The folders of pages that the site is built with."""
PAGES = sorted(
    page
    for pattern in ("*.md", "docs/**/*.md", "examples/*.md")
    for page in ROOT.glob(pattern)
    if not any(folder in page.parents for folder in GENERATED)
)
LANGUAGES = {
    "python": "test_documentation.py: a program or a session for each page",
    "{code-cell} ipython3": "test_tutorials.py: a program for each tutorial",
    "yaml": "tests/weave/test_entries_of_pages.py: entries are woven",
    "sh": "test_commands_of_pages.py: programs, files and options exist",
    "text": "test_documentation.py: excerpts stand in the sources",
    "bibtex": "",
    "{toctree}": "the site",
    "{image}": "the site",
    "{include}": "the site",
}
"""What tests the blocks of a language; a block of another one would be tested by nothing."""


@dataclass(frozen=True)
class Block:
    """A block of code between fences, without the spaces that all of it has as part of a list."""

    page: Path
    line: int
    """That of the fence which opens it."""
    language: str
    text: str


def blocks(page: Path, *languages: str) -> list[Block]:
    """Return the blocks of a page, of these languages where there are any."""
    return [each for each in _blocks(page) if not languages or each.language in languages]


@cache
def _blocks(page: Path) -> tuple[Block, ...]:
    return tuple(_parsed(page))


def _parsed(page: Path) -> Iterator[Block]:
    opened: tuple[int, str, str] | None = None
    lines: list[str] = []
    for number, line in enumerate(page.read_text("utf-8").splitlines(), 1):
        fence = re.match(r"( *)```(.*)", line)
        if opened is None and fence:
            opened, lines = (number, fence[1], fence[2]), []
        elif opened is not None and fence:
            start, _, title = opened
            directive = re.match(r"\{(?!code-cell)\w+\}", title)
            yield Block(page, start, directive[0] if directive else title, "\n".join([*lines, ""]))
            opened = None
        elif opened is not None:
            lines.append(line.removeprefix(opened[1]))
    assert opened is None, f"{page}:{opened and opened[0]}: a block without an end"


def prose(page: Path) -> str:
    """Return the text of a page between its blocks."""
    return re.sub(r"^( *)```.*?^\1```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
