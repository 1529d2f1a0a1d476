"""`require`: conditions on arguments, each with the error and the message when it does not hold.

Input: a list of {check, error, message}; for elementwise operators `dtypes` limits the condition to some dtypes. Braces
in a message contain an expression, or `name` for the name of the operator, and doubled braces stand for themselves. The
caller reads the expressions; it also says whether a condition may be a call that raises the error itself and has no
message.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TypeVar

from ...model.operator import ERROR_KINDS, Requirement
from ...source import Mapping, Node, Scalar
from ..fields import Entry, lacks

T = TypeVar("T")
V = TypeVar("V")

_KEYS = ("check", "error", "message")
_CALL = re.compile(r"\w+\([^()]*(\([^()]*\)[^()]*)*\)")
_PLACEHOLDER = re.compile(r"(?P<brace>\{\{|\}\})|\{(?P<value>[^{}]*)\}")


def read(
    entry: Entry,
    node: Node | Iterable[Node] | None,
    example: str,
    condition: Callable[[Scalar], T | None],
    value: Callable[[Scalar], V | None],
    by_dtype: bool = False,
    may_raise: bool = False,
) -> tuple[Requirement[T, V], ...]:
    """The requirements that could be read; `example` is one check, for the help."""
    known = (*_KEYS, "dtypes") if by_dtype else _KEYS
    if node is None:
        return ()
    requirements: list[Requirement[T, V]] = []
    for item in (node,) if isinstance(node, (Scalar, Mapping)) else node:
        if not isinstance(item, Mapping):
            entry.report(item.span, "'require' must be a list of {check: ..., message: ...}")
            continue
        entry.known_keys(item, known, where="require")
        error, message, text = entry.text(item, "error"), entry.text(item, "message"), entry.text(item, "check")
        raises = may_raise and text is not None and _CALL.fullmatch(text.value.strip()) is not None
        for key in ("check",) if raises else ("check", "message"):
            if lacks(item, (key,), known):
                entry.report(item.span, f"a requirement needs '{key}'", f"- {{check: {example}, message: ...}}")
        if error is not None:
            entry.known("error", error, ERROR_KINDS)
        check = None if text is None else condition(text)
        parts = () if message is None else _message(entry, message, value)
        word = entry.text(item, "dtypes") if by_dtype else None
        dtypes = None if word is None else entry.dtypes(word)
        if check is not None:
            requirements.append(Requirement(check, error.value if error else "RuntimeError", parts, dtypes))
    return tuple(requirements)


def _message(entry: Entry, scalar: Scalar, value: Callable[[Scalar], V | None]) -> tuple[str | V, ...]:
    """Texts and expressions in braces, alternating."""
    parts: list[str | V] = []
    text, end = scalar.value.rstrip(), 0
    for match in _PLACEHOLDER.finditer(text):
        parts.append(_literal(entry, scalar, text, end, match.start()))
        if match["brace"]:
            parts.append(match["brace"][0])
        elif match["value"] == "name" and entry.schema.argument("name") is None:
            parts.append(entry.own_name)
        elif (tree := value(scalar.part(*match.span("value")))) is not None:
            parts.append(tree)
        end = match.end()
    return (*parts, _literal(entry, scalar, text, end, len(text)))


def _literal(entry: Entry, scalar: Scalar, text: str, start: int, stop: int) -> str:
    """The text between two expressions; a brace in it is unmatched."""
    for index in range(start, stop):
        if text[index] in "{}":
            entry.report(scalar.span_at(index), f"unmatched '{text[index]}'", "braces hold an expression")
    return text[start:stop]
