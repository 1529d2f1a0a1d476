"""C of an entry: what must hold so that it stays within the function that is made of it."""

from __future__ import annotations

import re
from collections.abc import Iterator

_PARTS = re.compile(
    r"""//(?:\\\n|[^\n])*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|/\*|"|'|[()\[\]{}]""", re.DOTALL
)
"""Comments, strings and characters, of which some have no end, and brackets."""
_CLOSING = {")": "(", "]": "[", "}": "{"}
_ENDLESS = {"/*": "a comment", '"': "a string", "'": "a character"}
_KEYWORDS = frozenset({
    "NULL", "asm", "auto", "bool", "break", "case", "char", "const", "continue", "default", "do", "double", "else",
    "enum", "extern", "false", "float", "for", "goto", "if", "inline", "int", "long", "register", "restrict", "return",
    "short", "signed", "sizeof", "static", "struct", "switch", "true", "typedef", "typeof", "union", "unsigned", "void",
    "volatile", "while",
})  # fmt: skip


def mistake(text: str) -> tuple[int, str] | None:
    """The first place at which brackets do not match, or something does not end, and what is wrong there."""
    opened: list[tuple[int, str]] = []
    for place, part in _brackets(text):
        if part in _ENDLESS:
            return place, f"{_ENDLESS[part]} that does not end"
        if part not in _CLOSING:
            opened.append((place, part))
        elif not opened or opened.pop()[1] != _CLOSING[part]:
            return place, f"unmatched '{part}'"
    return (opened[-1][0], f"'{opened[-1][1]}' is never closed") if opened else None


def _brackets(text: str) -> Iterator[tuple[int, str]]:
    for match in _PARTS.finditer(text):
        if len(match[0]) == 1 or match[0] == "/*":
            yield match.start(), match[0]


def name_reason(name: str) -> str | None:
    """Return why nothing that C of an entry uses can have this name, or None if it can. Macros can be replaced, and
    functions hidden, but not what the text around the C is made of."""
    if name in _KEYWORDS or re.fullmatch(r"_[A-Z_].*", name):
        return "means something else in C"
    if name.endswith("_t") or name.startswith(("ow_", "OW_")):
        return "is a type of C or a name of opweave's headers"
    return None
