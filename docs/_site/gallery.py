"""The gallery: a tile and a page for each file of examples/, with what examples/README.md says of it and a picture."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import jinja2
from sphinx.errors import ExtensionError

from . import pictures

FOLDER = "gallery"
_ROW = re.compile(
    r"^\| \[(?P<file>[^]]+)\]\(\1\) \| (?P<title>[^:|]+): (?P<about>[^|]+) \| (?P<run>[^|]+) \|$", re.MULTILINE
)


@dataclass(frozen=True)
class Example:
    """A file, and the cells of its row."""

    file: str
    title: str
    about: str
    run: str

    @property
    def name(self) -> str:
        return self.file.partition(".")[0]

    @property
    def sentence(self) -> str:
        return f"{self.about[0].upper()}{self.about[1:]}."

    @property
    def language(self) -> str:
        return "python" if self.file.endswith(".py") else "yaml"


def pages(folder: Path, target: Path, environment: jinja2.Environment) -> Iterator[tuple[str, str]]:
    """Yield names of files and their text, for the examples of a folder; pictures are drawn into the target."""
    found = examples(folder)
    pictures.draw(folder, target)
    for example in found:
        yield f"{example.name}.md", environment.get_template("example.md.j2").render(example=example)
    yield "index.md", environment.get_template("gallery.md.j2").render(examples=found)


def examples(folder: Path) -> list[Example]:
    """Return the examples in the order of README.md; raises ExtensionError for those without a row or a picture."""
    rows = [Example(**each.groupdict()) for each in _ROW.finditer((folder / "README.md").read_text("utf-8"))]
    files = {path.name for path in folder.iterdir() if path.suffix in (".py", ".yaml")}
    _same(
        files,
        {each.file for each in rows},
        "a row `| [file](file) | title: what | how to run it |` of examples/README.md",
    )
    _same(files, set(pictures.PICTURES), "a function of docs/_site/pictures.py that draws it")
    return rows


def _same(files: set[str], others: set[str], what: str) -> None:
    if lacking := sorted(files - others):
        raise ExtensionError(f"examples/{lacking[0]} needs {what}")
    if absent := sorted(others - files):
        raise ExtensionError(f"examples/ has no {absent[0]}, for which there is {what}")
