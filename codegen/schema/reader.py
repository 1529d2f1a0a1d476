"""Reads a schema's text character by character: words, literals, and the positions of mistakes."""

from __future__ import annotations

import re
from typing import NoReturn

from .defaults import Literal

LONGEST_NAME = 100
"""The greatest length of a name: files have these names, which are limited to 255 characters."""
_LONGEST_NUMBER = 100
DEEPEST_LIST = 4
IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
WORD = re.compile(r"[^\s,()=\[\]?]+")
_BLANKS = re.compile(r"\s+")
_NUMBER = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_NAME = re.compile(r"-?[A-Za-z_][A-Za-z0-9_]*")  # the sign of -inf
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "0": "\0", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
_ESCAPES.update({character: character for character in "\\'\""})


class SchemaError(Exception):
    """A mistake in a schema, `length` characters from `offset` in its text; `all` has this one and later ones."""

    def __init__(self, message: str, offset: int, length: int = 1, help: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset
        self.length = length
        self.help = help
        self.all: tuple[SchemaError, ...] = (self,)


class Reader:
    """A cursor in a text; `at` is the offset of the next character."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.mistakes: list[SchemaError] = []

    def note(self, mistake: SchemaError) -> None:
        """Note a mistake, so that reading can go on."""
        self.mistakes.append(mistake)

    def raise_mistakes(self) -> None:
        """Raise the first mistake, with all of them in `all`."""
        if self.mistakes:
            self.mistakes[0].all = tuple(self.mistakes)
            raise self.mistakes[0]

    def skip_argument(self, began: int) -> None:
        """Move on to the comma or the parenthesis after an argument with a mistake."""
        depth = 0
        for position in range(began, len(self.text)):
            character = self.text[position]
            if not depth and character in ",)":
                self.at = position
                return
            depth += (character in "([") - (character in ")]")
        self.at = len(self.text)

    def peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def accept(self, expected: str) -> bool:
        if not self.text.startswith(expected, self.at):
            return False
        self.at += len(expected)
        return True

    def comma(self, what: str) -> None:
        if not self.accept(","):
            self.expected(what)
        try:
            self.blank("behind ','")
        except SchemaError as mistake:
            self.note(mistake)
            if blanks := _BLANKS.match(self.text, self.at):
                self.at = blanks.end()

    def blank(self, where: str) -> None:
        if not self.accept(" "):
            self.expected(f"a blank {where}")
        if blanks := _BLANKS.match(self.text, self.at):
            self.fail(f"one blank {where} is enough", length=len(blanks.group()))

    def expected(self, what: str, help: str | None = None) -> NoReturn:
        match = WORD.match(self.text, self.at)
        got = match.group() if match else self.peek()
        seen = "a line break" if got == "\n" else f"'{got}'" if got else "the end of the schema"
        self.fail(f"expected {what}, found {seen}", length=max(1, len(got)), help=help)

    def fail(self, message: str, offset: int | None = None, length: int = 1, help: str | None = None) -> NoReturn:
        raise SchemaError(message, self.at if offset is None else offset, length, help)

    def identifier(self, what: str) -> str:
        match = IDENTIFIER.match(self.text, self.at)
        if match is None:
            self.expected(what)
        name = match.group()
        if len(name) > LONGEST_NAME:
            self.fail(f"a name of {len(name)} characters", length=len(name), help=f"names have up to {LONGEST_NAME}")
        self.at = match.end()
        return name

    def literal(self, depth: int = 0) -> Literal:
        offset = self.at
        first = self.peek()
        if first == "[":
            if depth == DEEPEST_LIST:
                self.fail(f"lists in more than {DEEPEST_LIST} others")
            return self._list(depth + 1)
        if first in ("'", '"'):
            value = self._string()
            return Literal("string", value, offset, self.at - offset)
        if match := _NAME.match(self.text, offset):
            self.at = match.end()
            word = match.group()
            if word in ("None", "True", "False"):
                constant = {"None": None, "True": True, "False": False}[word]
                return Literal("none" if word == "None" else "boolean", constant, offset, len(word))
            return Literal("name", word, offset, len(word))
        if match := _NUMBER.match(self.text, offset):
            self.at = match.end()
            digits = match.group()
            if len(digits) > _LONGEST_NUMBER:
                self.fail(f"a number of {len(digits)} characters", offset, len(digits), "write it as 1e30, say")
            if (trailing := WORD.match(self.text, self.at)) is not None:
                whole = trailing.end() - offset
                self.fail(f"malformed number '{digits}{trailing.group()}'", offset, whole)
            if digits.lstrip("+-").isdigit():
                return Literal("integer", int(digits), offset, len(digits))
            return Literal("float", float(digits), offset, len(digits))
        self.expected("a default behind '='")

    def _list(self, depth: int) -> Literal:
        offset = self.at
        self.at += 1
        elements: list[Literal] = []
        while not self.accept("]"):
            if elements:
                if not self.accept(","):
                    self.expected("',' or ']'")
                self.accept(" ")
            elements.append(self.literal(depth))
        return Literal("list", tuple(elements), offset, self.at - offset)

    def _string(self) -> str:
        opening = self.at
        quote = self.text[opening]
        self.at += 1
        characters: list[str] = []
        while (character := self.peek()) != quote:
            if character in ("", "\n"):
                self.fail("string without a closing quote", opening, self.at - opening)
            if character == "\\":
                escaped = self.text[self.at + 1 : self.at + 2]
                if escaped not in _ESCAPES:
                    self.fail(f"unknown escape '\\{escaped}'", length=2, help="a backslash is written '\\\\'")
                character = _ESCAPES[escaped]
                self.at += 1
            characters.append(character)
            self.at += 1
        self.at += 1
        return "".join(characters)
