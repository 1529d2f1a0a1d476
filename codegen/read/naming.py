"""`names`: the rule by which results get names of dimensions, where it does not follow from the family."""

from __future__ import annotations

from ..model.naming import FAMILIES, WORDS
from .bodies.extern import check_signature
from .fields import Entry


def read(entry: Entry) -> str | None:
    """A word, or the signature of a product."""
    word = entry.text(entry.node, "names")
    if word is None:
        return None
    if "(" in word.value:
        check_signature(entry, word, optional=True)
    elif entry.known("rule of names", word, WORDS) and FAMILIES.get(entry.family) == word.value:
        entry.hint(word.span, f"'names' follows from {entry.family.body}", "leave it out")
    return word.value
