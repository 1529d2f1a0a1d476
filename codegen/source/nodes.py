"""The typed nodes of a YAML file, with their positions in the file.

`Scalar.locate` maps an offset in a value to the position in the file for every style (plain, quoted, block), so that a
mistake in the middle of an expression is reported at its column.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import abc
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal, Union

from ..errors import Span, split_lines

Style = Literal["plain", "single", "double", "literal", "folded"]
Node = Union["Scalar", "Sequence", "Mapping"]

_BLANK = " \t\n"
_ESCAPE_LENGTH = {"x": 4, "u": 6, "U": 10}


@dataclass(frozen=True)
class SourceText:
    """The text of a file, with line breaks normalised to newlines."""

    file: str
    text: str

    @cached_property
    def lines(self) -> tuple[str, ...]:
        return tuple(split_lines(self.text))

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0] + [index + 1 for index, character in enumerate(self.text) if character == "\n"]

    def position(self, index: int) -> tuple[int, int]:
        """1-based line and column of a character index."""
        line = bisect_right(self._line_starts, index)
        return line, index - self._line_starts[line - 1] + 1

    def span(self, start: int, stop: int) -> Span:
        """The range from `start` to `stop`, cut at the end of its first line."""
        end_of_line = self.text.find("\n", start)
        if end_of_line < 0:
            end_of_line = len(self.text)
        line, column = self.position(start)
        return Span(self.file, line, column, max(1, min(stop, end_of_line) - start))


@dataclass(frozen=True)
class Scalar:
    """A text. `value` is not interpreted: `1`, `true` and `2020-01-01` are kept as written."""

    value: str
    style: Style
    span: Span
    source: SourceText = field(repr=False, compare=False)
    start: int = field(repr=False, compare=False)
    stop: int = field(repr=False, compare=False)
    origin: tuple[int, ...] | None = field(default=None, repr=False, compare=False)
    """The positions in the file of the characters and the end of a scalar that is part of another one."""

    @property
    def is_null(self) -> bool:
        """True for an absent value (`key:`) and for YAML's spellings of null."""
        return self.style == "plain" and self.value in ("", "~", "null", "Null", "NULL")

    @property
    def boolean(self) -> bool | None:
        """The truth value of a plain `true` or `false`, None for anything else."""
        return {"true": True, "false": False}.get(self.value) if self.style == "plain" else None

    def locate(self, offset: int) -> tuple[int, int]:
        """Line and column in the file of the character at `offset`; `len(value)` is the end."""
        return self.source.position(self._positions[self._clamped(offset)])

    def span_at(self, offset: int, length: int = 1) -> Span:
        """The range in the file of `value[offset:offset + length]`."""
        first = self._clamped(offset)
        end = self._clamped(offset + length)
        start = self._positions[first]
        stop = max(self._positions[end], start + 1)
        return self.source.span(start, stop)

    def part(self, start: int, stop: int) -> Scalar:
        """`value[start:stop]` as a scalar with its own positions in the file."""
        return replace(
            self,
            value=self.value[start:stop],
            span=self.span_at(start, stop - start),
            origin=tuple(self._positions[start : stop + 1]),
        )

    def _clamped(self, offset: int) -> int:
        return max(0, min(offset, len(self.value)))

    @cached_property
    def _positions(self) -> abc.Sequence[int]:
        """The index in the file of every character of `value`, and of its end."""
        if self.origin is not None:
            return self.origin
        text = self.source.text
        if self.style == "literal":
            positions = _literal_positions(text, self.start, self.value)
        elif self.style == "folded":
            positions = _folded_positions(text, self.start, self.stop, self.value)
        elif self.style == "plain":
            positions = _flow_positions(text, self.start, self.stop, self.style)
        else:
            positions = _flow_positions(text, self.start + 1, self.stop - 1, self.style)
        return positions


@dataclass(frozen=True)
class Sequence:
    """A sequence of YAML."""

    span: Span
    items: tuple[Node, ...]

    def __iter__(self) -> abc.Iterator[Node]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, index: int) -> Node:
        return self.items[index]


@dataclass(frozen=True)
class Mapping:
    """Key-value pairs in the order of the file; iteration yields the names of the keys, which are unique."""

    span: Span
    items: tuple[tuple[Scalar, Node], ...]

    @cached_property
    def _by_name(self) -> dict[str, tuple[Scalar, Node]]:
        return {key.value: (key, value) for key, value in self.items}

    @property
    def keys(self) -> tuple[Scalar, ...]:
        return tuple(key for key, _ in self.items)

    def get(self, name: str) -> Node | None:
        pair = self._by_name.get(name)
        return pair[1] if pair else None

    def key(self, name: str) -> Scalar | None:
        pair = self._by_name.get(name)
        return pair[0] if pair else None

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def __iter__(self) -> abc.Iterator[str]:
        return iter(self._by_name)

    def __len__(self) -> int:
        return len(self.items)


@dataclass(frozen=True)
class Document:
    """The content of one file, with its `lines`, from which `errors.render` quotes."""

    file: str
    lines: tuple[str, ...]
    root: Sequence


def content_start(text: str, header: int) -> int:
    """The index of the first character of a block scalar's first line; `header` points at its `|` or `>`."""
    end_of_header = text.find("\n", header)
    return len(text) if end_of_header < 0 else end_of_header + 1


def _literal_positions(text: str, header: int, value: str) -> list[int]:
    """Positions of a literal scalar, whose lines are those of the file without indentation."""
    positions: list[int] = []
    line_start = content_start(text, header)
    for content in value.split("\n"):
        line_end = text.find("\n", line_start)
        if line_end < 0:
            line_end = len(text)
        # The last piece, after the final newline, is empty and belongs to no line of the scalar.
        first = line_end - len(content) if content or line_start < line_end else line_start
        positions.extend(range(first, line_end + 1))
        line_start = min(line_end + 1, len(text))
    return positions[: len(value) + 1]


def _folded_positions(text: str, header: int, stop: int, value: str) -> list[int]:
    """Positions of a folded scalar, exact except for blanks, which folding rewrites; no mistake is reported at a
    blank."""
    positions: list[int] = []
    position = content_start(text, header)
    for character in value:
        if character not in _BLANK:
            while position < stop and text[position] in _BLANK:
                position += 1
        positions.append(min(position, stop))
        if position < stop and (character not in _BLANK or text[position] in _BLANK):
            position += 1
    return [*positions, min(position, stop)]


def _flow_positions(text: str, start: int, stop: int, style: Style) -> list[int]:
    """Positions of plain and quoted scalars: line breaks fold, `''` and backslash escapes are one character."""
    positions: list[int] = []
    position = start
    while position < stop:
        character = text[position]
        escape = style == "double" and character == "\\"
        if character in _BLANK or (escape and text[position + 1] == "\n"):
            end = position + 2 if escape else position
            while end < stop and text[end] in _BLANK:
                end += 1
            breaks = [index for index in range(position, end) if text[index] == "\n"]
            if escape:
                positions.extend(breaks[1:])
            elif not breaks:
                positions.extend(range(position, end))
            else:
                # One break reads as a blank; of several, the first is dropped.
                positions.extend(breaks[1:] or [position])
            position = end
        else:
            positions.append(position)
            if escape:
                position += _ESCAPE_LENGTH.get(text[position + 1], 2)
            else:
                position += 2 if style == "single" and character == "'" else 1
    return [*positions, stop]
