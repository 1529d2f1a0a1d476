"""Writes the pages that are not written by hand into folders that git ignores, when Sphinx starts.

A page is written only where its text differs, so that Sphinx builds those alone that have changed. If nothing that
pages are made of has changed since, nothing is done.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from pathlib import Path

import jinja2
import opweave
from opweave._base import package_data
from opweave._weave import inspect_op
from opweave.codegen.docs import docstrings

from . import absent, classes, operators, outside, speed

_HERE = Path(__file__).parent
_SPECIAL = re.compile(r"[\\*_<>\[\]$#|~]")


def write(source: str | Path) -> None:
    """Write all pages within the sources of the site."""
    root = Path(source)
    entries, examples = package_data.path("ops.yaml"), root / "examples.txt"
    measured, outer = root / "performance.json", [root.parent / path for path in outside.PAGES]
    stamp, key = root / "operators" / ".stamp", _key([entries, examples, measured, *outer])
    if stamp.exists() and stamp.read_text("utf-8") == key:
        return
    stamp.unlink(missing_ok=True)
    environment = _environment()
    _write(root / "operators", operators.pages(entries, examples, root / "operators", environment))
    _write(root / "modules", _modules(environment))
    speed.draw(measured, root / "figures")
    _write(root / outside.FOLDER, outside.pages(root.parent))
    stamp.write_text(key, "utf-8")


def _key(files: Iterable[Path]) -> str:
    """A digest of all that pages are made of: these files, the package and this folder."""
    # In an editable installation the package lies in several folders.
    modules = (opweave.__file__, inspect_op.__file__, docstrings.__file__)
    folders = {_HERE, Path(modules[0]).parent, *(Path(module).parents[1] for module in modules[1:])}
    sources = {path for folder in folders for path in folder.rglob("*") if path.suffix in (".py", ".j2")}
    digest = blake2b()
    for path in (*files, *sorted(sources)):
        digest.update(path.read_bytes())
    return digest.hexdigest()


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
