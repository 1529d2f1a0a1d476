"""The pages of the documentation that are installed with the package: `opweave docs compile.md#graph-breaks`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .._base import package_data
from ..codegen.errors import suggest

__all__ = ["is_page", "names", "page", "titles"]

_FOLDER = "_docs"


def names() -> list[str]:
    """Return the names of all pages, without `.md`. Indexes, which only the site can show, are left out."""
    files = package_data.folder(_FOLDER).items()
    return [name.removesuffix(".md") for name, path in files if "```{" not in path.read_text("utf-8")]


def is_page(name: str) -> bool:
    """Tell whether a name is that of a file of pages, be there such a page or not."""
    return name.partition("#")[0].endswith(".md")


def titles() -> list[tuple[str, str]]:
    """Return the name of each page and its title."""
    return [(f"{name}.md", next(_headings(_text(name)))[2]) for name in names()]


def page(name: str) -> str:
    """Return the text of a page, or of one section with those below it: `compile`, `docs/compile.md#graph-breaks`.

    Raises:
        KeyError: there is no such page or section; the message has the nearest one.
    """
    path, _, anchor = name.partition("#")
    known = path.removeprefix("docs/").removesuffix(".md")
    if known not in names():
        raise KeyError(f"there is no page '{path}'; {suggest(known, names())}")
    text = _text(known)
    return _section(text, path, anchor) if anchor else text


def _text(name: str) -> str:
    return package_data.path(_FOLDER, f"{name}.md").read_text("utf-8")


def _section(text: str, path: str, anchor: str) -> str:
    headings = [(line, depth, _anchor(title)) for line, depth, title in _headings(text)]
    for place, (first, depth, name) in enumerate(headings):
        if name == anchor:
            last = next((line for line, other, _ in headings[place + 1 :] if other <= depth), None)
            return "\n".join(text.splitlines()[first:last]).rstrip() + "\n"
    raise KeyError(f"{path} has no section '{anchor}'; {suggest(anchor, [name for _, _, name in headings])}")


def _headings(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the line, the depth and the text of each heading. Lines of code may begin with `#` as well."""
    is_code = False
    for number, line in enumerate(text.splitlines()):
        if line.lstrip().startswith("```"):
            is_code = not is_code
        elif not is_code and (found := re.match(r"(#+) (.+)", line)):
            yield number, len(found[1]), found[2]


def _anchor(title: str) -> str:
    """The name of a heading in links, as GitHub and the site make it."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
