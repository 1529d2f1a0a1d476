"""Located mistakes: how codegen collects them, sorts them and prints them like a compiler.

Reads nothing but the lines a diagnostic points at; writes text for a terminal. Lines and columns are
1-based and count Unicode code points; line 0 means the file as a whole (it does not exist, say).
"""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import total_ordering
from typing import Literal

SourceLines = Mapping[str, Sequence[str]]
Severity = Literal["error", "hint", "note"]
"""A hint says what could be simpler, a note what an author may not expect; the file is right."""

# Longer lines and messages are shortened, so that the marked part can be seen.
_WIDEST = 160
_LONGEST_MESSAGE = 400
# Longer lists of candidates are cut: they would hide the answer.
_MOST_CANDIDATES = 12


@dataclass(frozen=True)
class Span:
    """A range of `length` characters on one line of a file."""

    file: str
    line: int
    column: int
    length: int = 1


@total_ordering
@dataclass(frozen=True)
class Diagnostic:
    """One mistake, hint or note, and its position. Diagnostics are ordered by file, position and text."""

    file: str
    line: int
    column: int
    message: str
    help: str | None = None
    length: int = 1
    severity: Severity = "error"

    @property
    def sort_key(self) -> tuple[str, int, int, str, str, int, str]:
        return (self.file, self.line, self.column, self.message, self.help or "", self.length, self.severity)

    def __lt__(self, other: Diagnostic) -> bool:
        return self.sort_key < other.sort_key

    def __str__(self) -> str:
        location = f"{self.file}:{self.line}:{self.column}" if self.line else self.file
        return f"{location}: {self.severity}: {self.message}"


class CodegenError(Exception):
    """Raised when mistakes prevent the next step; `diagnostics` has all of them, sorted."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics: list[Diagnostic] = sorted(set(diagnostics))
        super().__init__("\n".join(map(str, self.diagnostics)))


class Diagnostics:
    """Collects mistakes, hints and notes so that all are reported at once. It is true if there are any mistakes.

    Iteration yields them sorted and without duplicates: two rules may see the same mistake.
    """

    def __init__(self, diagnostics: Iterable[Diagnostic] = ()) -> None:
        self._found: set[Diagnostic] = set(diagnostics)

    def report(self, span: Span, message: str, help: str | None = None) -> None:
        """Add an error at a place of a file."""
        self.add(Diagnostic(span.file, span.line, span.column, message, help, span.length))

    def hint(self, span: Span, message: str, help: str | None = None) -> None:
        """Add a hint at a place of a file."""
        self.add(Diagnostic(span.file, span.line, span.column, message, help, span.length, "hint"))

    def note(self, span: Span, message: str, help: str | None = None) -> None:
        """Add a note at a place of a file."""
        self.add(Diagnostic(span.file, span.line, span.column, message, help, span.length, "note"))

    def add(self, diagnostic: Diagnostic) -> None:
        """Add a diagnostic, unless there is an equal one."""
        self._found.add(diagnostic)

    def extend(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Add several diagnostics."""
        self._found.update(diagnostics)

    def sorted(self) -> list[Diagnostic]:
        """Return the diagnostics in the order of files and lines."""
        return sorted(self._found)

    def raise_if_any(self, hints: bool = False) -> None:
        """Raises all if there is a mistake or, with `hints`, a hint."""
        if self or (hints and any(each.severity == "hint" for each in self._found)):
            raise CodegenError(self._found)

    def __iter__(self) -> Iterator[Diagnostic]:
        return iter(self.sorted())

    def __len__(self) -> int:
        return len(self._found)

    def __bool__(self) -> bool:
        return self.mistakes > 0

    @property
    def mistakes(self) -> int:
        """The number of diagnostics that are neither hints nor notes."""
        return sum(each.severity == "error" for each in self._found)


def suggest(name: str, candidates: Iterable[str]) -> str:
    """The help line for an unknown name: the likely spelling, then the candidates in the order given."""
    known = list(dict.fromkeys(candidates))
    if not known:
        return "no names are known here"
    if len(known) <= _MOST_CANDIDATES:
        shown = ", ".join(known)
    else:
        shown = ", ".join(known[:_MOST_CANDIDATES]) + f", … {len(known)} in all"
    likely = closest(name, known)
    if likely is None:
        return f"known names: {shown}"
    return f"did you mean '{likely}'?" + (f" ({shown})" if len(known) <= _MOST_CANDIDATES else "")


def closest(name: str, known: Sequence[str]) -> str | None:
    """The name among `known` that was probably meant."""
    # Case is the most frequent mistake, so it is ignored.
    spellings = {candidate.lower(): candidate for candidate in reversed(known)}
    matches = difflib.get_close_matches(name.lower(), spellings, n=1)
    return spellings[matches[0]] if matches else None


def render(diagnostics: Iterable[Diagnostic], source_lines: SourceLines | None = None) -> str:
    """The diagnostics as a compiler prints them, sorted, each with its source line and carets.

    `source_lines` maps a file name to its lines; a file it does not hold is read from the disk, and a
    diagnostic whose line cannot be found is printed without it.
    """
    lines: dict[str, Sequence[str]] = dict(source_lines or {})
    blocks = []
    for diagnostic in sorted(set(diagnostics)):
        if diagnostic.file not in lines:
            lines[diagnostic.file] = _read_lines(diagnostic.file)
        blocks.append(_render_one(diagnostic, lines[diagnostic.file]))
    return "\n".join(blocks)


def normalise_line_breaks(text: str) -> str:
    """Return the text with line feeds alone as line breaks."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def split_lines(text: str) -> list[str]:
    """Lines as editors and compilers count them; `str.splitlines` also splits at form feeds and the like."""
    lines = normalise_line_breaks(text).split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def _read_lines(file: str) -> list[str]:
    try:
        with open(file, "rb") as stream:
            return split_lines(stream.read().decode("utf-8-sig", errors="replace"))
    except OSError:
        return []


def _render_one(diagnostic: Diagnostic, lines: Sequence[str]) -> str:
    number = str(diagnostic.line)
    margin = " " * max(5, len(number))
    text = [_shortened(str(diagnostic))]
    if 1 <= diagnostic.line <= len(lines):
        line, start = _excerpt(lines[diagnostic.line - 1], diagnostic.column - 1)
        marked = line[start : start + diagnostic.length]
        carets = "^" * max(1, sum(map(_width, marked)))
        text.append(f"{number.rjust(len(margin))} | {line}".rstrip())
        text.append(f"{margin} | {_padding(line[:start])}{carets}")
    if diagnostic.help is not None:
        first, *rest = _shortened(diagnostic.help).splitlines() or [""]
        text.append(f"{margin} = help: {first}")
        text.extend(f"{margin}         {more}" for more in rest)
    return "\n".join(text)


def _shortened(text: str) -> str:
    """A message without its middle if it quotes something very long."""
    half = _LONGEST_MESSAGE // 2
    return text if len(text) <= _LONGEST_MESSAGE else f"{text[:half]} … {text[-half:]}"


def _excerpt(line: str, start: int) -> tuple[str, int]:
    """The part of a line that is shown, and the index of `start` in it: all of the line, or a window around `start`."""
    if len(line) <= _WIDEST:
        return line, start
    first = max(0, min(start - _WIDEST // 4, len(line) - _WIDEST))
    before, after = "… " if first else "", " …" if first + _WIDEST < len(line) else ""
    return f"{before}{line[first : first + _WIDEST]}{after}", start - first + len(before)


def _padding(before: str) -> str:
    # Tabs are kept, so that the carets are aligned for any tab width of the terminal.
    return "".join("\t" if character == "\t" else " " * _width(character) for character in before)


def _width(character: str) -> int:
    """The number of terminal cells of a character."""
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
