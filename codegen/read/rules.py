"""`rule` and `names`: which dimensions of the results come from which of the tensors, where it does not follow from the
body, and which names these have, where that does not follow from the rule."""

from __future__ import annotations

import re

from ..model.rules import NAMING, WORDS
from ..source import Mapping, Scalar
from .bodies.extern import check_signature
from .fields import Entry

_DIMENSIONS = r"\((?:\.\.\.|[A-Za-z]\w*)?(?:,[A-Za-z]\w*)*\)"
_SIGNATURE = re.compile(rf"{_DIMENSIONS}(?:,{_DIMENSIONS})*->{_DIMENSIONS}(?:,{_DIMENSIONS})*\Z")
_EXAMPLE = "(...,N,N),(...,N,K)->(...,N,K)"


def read(entry: Entry) -> tuple[str | None, str | None]:
    """The rule, and why there is none: of these at most one."""
    node = entry.node.get("rule")
    if isinstance(node, Mapping):
        entry.known_keys(node, ("none",), where="rule")
        reason = entry.text(node, "none")
        return None, None if reason is None else reason.value
    word = entry.text(entry.node, "rule")
    if word is None:
        return None, None
    if "(" in word.value:
        _check(entry, word)
    elif entry.known("rule", word, WORDS):
        _hint(entry, word, "rule")
    return word.value, None


def read_names(entry: Entry) -> str | None:
    """A word, or the signature of a product."""
    word = entry.text(entry.node, "names")
    if word is None:
        return None
    if "(" in word.value:
        check_signature(entry, word, optional=True)
    elif entry.known("rule of names", word, NAMING):
        _hint(entry, word, "names")
    return word.value


def check_has_rule(entry: Entry, rule: str | None, reason: str | None) -> None:
    """A kernel has a rule, or there is a reason why it has none."""
    if rule is None and reason is None:
        help = f"one of {', '.join(WORDS)}, a signature {_EXAMPLE}, or {{none: why there is none}}"
        entry.report(entry.func.span, "no rule follows from the body, so the entry needs 'rule'", help)


def _hint(entry: Entry, word: Scalar, key: str) -> None:
    if entry.family.rule == word.value:
        entry.hint(word.span, f"'{key}' follows from {entry.family.title}", "leave it out")


def _check(entry: Entry, signature: Scalar) -> None:
    """The dimensions of each tensor, `->`, and those of each result."""
    text = signature.value
    if not _SIGNATURE.match(text):
        entry.report(signature.span, "malformed signature", f"dimensions of each tensor and result: {_EXAMPLE}")
        return
    inputs, results = (each.count("(") for each in text.split("->"))
    wanted = len(entry.tensors), len(entry.schema.returns)
    if (inputs, results) != wanted:
        message = f"the signature has {inputs} tensors and {results} results, the schema {wanted[0]} and {wanted[1]}"
        entry.report(signature.span, message)
