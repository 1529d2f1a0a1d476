"""Writes the pages that are not written by hand into folders that git ignores, when Sphinx starts.

A page is written only where its text differs, so that Sphinx builds those alone that have changed. If nothing that
the pages of a folder are made of has changed since, nothing is done there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b
from pathlib import Path

import jinja2
import opweave
from opweave._base import package_data
from opweave._weave import inspect_op
from opweave.codegen.docs import docstrings

from . import absent, classes, gallery, operators, outside, speed

_HERE = Path(__file__).parent
_SPECIAL = re.compile(r"[\\*_<>\[\]$#|~]")


def write(source: str | Path) -> None:
    """Write all pages within the sources of the site."""
    root = Path(source)
    entries, recorded, measured = package_data.path("ops.yaml"), root / "examples.txt", root / "performance.json"
    examples, environment, package = root.parent / "examples", _environment(), _sources()
    _make(
        root / "operators",
        [entries, recorded, *package],
        lambda folder: _write(folder, operators.pages(entries, recorded, folder, environment)),
    )
    _make(root / "modules", package, lambda folder: _write(folder, _modules(environment)))
    _make(root / "figures", [measured, *_own()], lambda folder: speed.draw(measured, folder))
    _make(
        root / gallery.FOLDER,
        [*filter(Path.is_file, examples.iterdir()), *_own()],
        lambda folder: _write(folder, gallery.pages(examples, folder, environment)),
    )
    _write(root / outside.FOLDER, outside.pages(root.parent))


def _make(folder: Path, made_of: Iterable[Path], make: Callable[[Path], None]) -> None:
    """Call what fills a folder, unless the files that it is made of are the same as before."""
    digest = blake2b()
    for path in sorted(made_of):
        digest.update(path.read_bytes())
    stamp, key = folder / ".stamp", digest.hexdigest()
    if not stamp.exists() or stamp.read_text("utf-8") != key:
        folder.mkdir(exist_ok=True)
        stamp.unlink(missing_ok=True)
        make(folder)
        stamp.write_text(key, "utf-8")


def _own() -> set[Path]:
    """The files of this folder."""
    return {path for path in _HERE.rglob("*") if path.suffix in (".py", ".j2")}


def _sources() -> set[Path]:
    """The files of this folder and of the package."""
    # In an editable installation the package lies in several folders.
    modules = (opweave.__file__, inspect_op.__file__, docstrings.__file__)
    folders = {Path(modules[0]).parent, *(Path(module).parents[1] for module in modules[1:])}
    return _own() | {path for folder in folders for path in folder.rglob("*.py")}


def _write(folder: Path, pages: Iterable[tuple[str, str]]) -> None:
    """Write pages by the names of their files, and remove those that are no longer made."""
    texts = dict(pages)
    for old in {*folder.rglob("*.md")} - {folder / name for name in texts}:
        old.unlink()
    for name, text in texts.items():
        path = folder / name
        if not path.exists() or path.read_text("utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")


def _modules(environment: jinja2.Environment) -> Iterator[tuple[str, str]]:
    found = list(classes.modules())
    for module, summary, entries in found:
        text = environment.get_template("module.md.j2").render(module=module, summary=summary, entries=entries)
        yield f"{module or 'opweave'}.md", text
    listed = [(module, summary) for module, summary, _ in found]
    yield "index.md", environment.get_template("modules.md.j2").render(modules=listed)
    text = environment.get_template("absent.md.j2").render(missing=absent.missing(), refused=absent.refused())
    yield "absent.md", text


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_HERE / "templates"),
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["text"] = markdown
    return environment


def markdown(text: str) -> str:
    """The text of an entry or a docstring as Markdown: what is between backticks stays as it is."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(
        part if part.startswith("`") else _SPECIAL.sub(lambda found: "\\" + found[0], part) for part in parts
    )
