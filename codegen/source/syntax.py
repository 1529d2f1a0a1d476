"""Mistakes in the bytes, the characters and the syntax of a YAML file."""

from __future__ import annotations

import re

import yaml

from ..errors import Diagnostic, Diagnostics, normalise_line_breaks
from .nodes import SourceText

# Characters that YAML parsers refuse, and line separators, which they count as line ends though editors do not.
_UNUSABLE = re.compile("[^\t\n -~\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
_MOST_CHARACTERS = 10  # the number of characters that are reported one by one
_SYNTAX_HELP = (
    ("mapping values are not allowed", "a text with ': ' in it needs quotes, or a block scalar ('key: |')"),
    ("found character '\\t'", "indent with blanks"),
    ("cannot start any token", "quote the text"),
    ("found unknown escape character", "use single quotes, in which a backslash is a plain character"),
    ("could not find expected ':'", "every line of a mapping has the form 'key: value'"),
    ("found unexpected end of stream", "close the quotes"),
    ("expected <block end>", "compare the indentation with the lines above; quoted text ends at its quote"),
    ("expected ',' or", "close the bracket, or quote a text that holds brackets or commas"),
)


def not_utf8(file: str, error: UnicodeDecodeError) -> Diagnostic:
    """Return the diagnostic of a file that is not UTF-8, at the first byte that is wrong."""
    before = normalise_line_breaks(error.object[: error.start].decode("utf-8-sig"))
    line, column = SourceText(file, before).position(len(before))
    message = f"not UTF-8: byte 0x{error.object[error.start]:02x}"
    return Diagnostic(file, line, column, message, "save the file as UTF-8")


def report_unusable_characters(source: SourceText, diagnostics: Diagnostics) -> bool:
    """Report control characters and line separators; True when there are any."""
    matches = list(_UNUSABLE.finditer(source.text))
    for match in matches[:_MOST_CHARACTERS]:
        diagnostics.report(
            source.span(match.start(), match.end()),
            f"character U+{ord(match.group()):04X} cannot stand in YAML",
            "remove it, or write it as an escape in double quotes",
        )
    return bool(matches)


def report_syntax(error: yaml.YAMLError, source: SourceText, diagnostics: Diagnostics) -> None:
    """Turn a parser's error into a diagnostic at its position."""
    problem, index, help = str(error), 0, None
    if isinstance(error, yaml.MarkedYAMLError):
        problem = error.problem or problem
        mark = error.problem_mark or error.context_mark
        index = mark.index if mark else 0
        help = next((text for part, text in _SYNTAX_HELP if part in problem), None)
        if "mapping values are not allowed" in problem and _is_key(source, index):
            help = "the line is indented deeper than the keys above it: begin it where they begin"
    diagnostics.report(source.span(index, index + 1), f"malformed YAML: {problem}", help)


def _is_key(source: SourceText, colon: int) -> bool:
    """True if the colon follows the first word of its line, so that it was not meant as part of a text."""
    start = source.text.rfind("\n", 0, colon) + 1
    return re.fullmatch(r" +\w+", source.text[start:colon]) is not None
