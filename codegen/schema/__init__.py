"""Parses the `func:` grammar of native_functions.yaml: `parse(text) -> FunctionSchema`, and `str` undoes it.

    [namespace::]name[.overload](type name[=default], ..., *, type name[=default], ...) -> results

One word is ours: `*placement` stands for the keyword-only arguments dtype, layout, device and pin_memory, and is
printed as these. Blanks are significant, as in torch's file, so that printing restores the text. Mistakes raise
SchemaError with their positions in the text.

All of torch's grammar is read, also class types and alias sets, which no entry of ops.yaml has: an entry of torch's
file can be copied as it is, and a test compares the parser with torch's on every operator that torch has.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from ..errors import suggest
from . import rules as schema_rules
from .defaults import DefaultError, value_of
from .reader import DEEPEST_LIST, IDENTIFIER, WORD, Reader, SchemaError
from .types import (
    AUGMENTED_OPERATORS,
    BASE_TYPES,
    CLASS_PREFIX,
    Alias,
    Argument,
    BaseType,
    ClassType,
    Constant,
    Default,
    FunctionSchema,
    ListType,
    OperatorName,
    OptionalType,
    Return,
    SchemaKind,
    Type,
    Value,
    base_name,
    without_optional,
)

__all__ = [
    "BASE_TYPES",
    "GROUPS",
    "Alias",
    "Argument",
    "BaseType",
    "ClassType",
    "Constant",
    "Default",
    "FunctionSchema",
    "ListType",
    "OperatorName",
    "OptionalType",
    "Return",
    "SchemaError",
    "SchemaKind",
    "Type",
    "Value",
    "base_name",
    "parse",
    "without_optional",
]

GROUPS: Mapping[str, str] = {
    "*placement": "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None",
}
"""Words that stand for several keyword-only arguments."""
_GROUP = re.compile(r"\*[A-Za-z_]\w*")
_DUNDER = re.compile(r"__([^_]+)__\Z")
_SIZE = re.compile(r"[1-9][0-9]*")
_ALIAS_LETTER = re.compile(r"[a-z][0-9]*(?![A-Za-z0-9_])")
# Words of C, Python and NumPy, and the word of the grammar.
_FOREIGN_TYPES = {
    "boolean": "bool",
    "double": "float",
    "dtype": "ScalarType",
    "integer": "int",
    "long": "int",
    "number": "Scalar",
    "string": "str",
}


def parse(text: str, conventions: bool = True) -> FunctionSchema:
    """Parse one schema; raises SchemaError for the first mistake, whose `all` has every mistake. With `conventions`
    those of torch's file about names and aliases are rules too."""
    parser = _Parser(text)
    try:
        schema = parser.schema()
    except SchemaError as mistake:
        if mistake not in parser.mistakes:
            parser.note(mistake)
        parser.raise_mistakes()
        raise
    schema_rules.check(schema, parser.note, conventions)
    parser.raise_mistakes()
    return schema


class _Parser(Reader):
    """Recursive descent, one method per rule of the grammar."""

    def schema(self) -> FunctionSchema:
        name = self._operator_name()
        positional, keyword_only, out = self._arguments()
        returns: tuple[Return, ...] = ()
        try:
            if not self.accept(" -> "):
                self.expected("' -> ' and the result types", help="an operator without results ends in ' -> ()'")
            returns = self._returns()
            if self.at < len(self.text):
                self.fail("unexpected text behind the schema", length=len(self.text) - self.at)
        except SchemaError as mistake:
            self.note(mistake)
        self.raise_mistakes()
        return FunctionSchema(name, positional, keyword_only, out, returns)

    # -- names

    def _operator_name(self) -> OperatorName:
        offset = self.at
        word = self.identifier("the operator's name")
        namespace = ""
        if self.accept("::"):
            namespace, offset = word, self.at
            word = self.identifier("the operator's name")
        overload, overload_offset = "", self.at
        if self.accept("."):
            overload_offset = self.at
            overload = self.identifier("the overload's name")
        if not self.accept("("):
            self.expected("'(' behind the operator's name")
        base, inplace, dunder = word, False, False
        if match := _DUNDER.match(word):
            base, dunder = match.group(1), True
            if base[0] == "i" and base[1:] in AUGMENTED_OPERATORS:
                base, inplace = base[1:], True
        elif word.endswith("_"):
            base, inplace = word[:-1], True
            if not base:
                self.fail("an operator's name is more than '_'", offset)
        return OperatorName(base, overload, inplace, dunder, namespace, offset, overload_offset)

    # -- arguments

    def _arguments(self) -> tuple[tuple[Argument, ...], tuple[Argument, ...], tuple[Argument, ...]]:
        positional: list[Argument] = []
        keyword_only: list[Argument] = []
        out: list[Argument] = []
        star: int | None = None
        if self.accept(")"):
            return (), (), ()
        while True:
            began = self.at
            try:
                if group := _GROUP.match(self.text, self.at):
                    if star is not None and not keyword_only:
                        self.fail(f"no argument between '*' and '{group.group()}'", star, help="leave '*' out")
                    star = self.at
                    for argument in self._group(group.group()):
                        self._place(argument, keyword_only, out, True)
                elif self.peek() == "*":
                    if star is not None:
                        self.fail("second '*'", help="one '*' makes all arguments behind it keyword-only")
                    star = self.at
                    self.at += 1
                else:
                    self._place(self._argument(), positional if star is None else keyword_only, out, star is not None)
                if self.accept(")"):
                    break
                self.comma("',' or ')'")
            except SchemaError as mistake:
                self.note(mistake)
                self.skip_argument(began)
                if self.accept(")"):
                    break
                if self.at == len(self.text):
                    self.raise_mistakes()
                self.comma("',' or ')'")
        if star is not None and not keyword_only and not out and not self.mistakes:
            self.fail("no argument follows '*'", star)
        return tuple(positional), tuple(keyword_only), tuple(out)

    def _place(self, argument: Argument, others: list[Argument], out: list[Argument], behind_star: bool) -> None:
        """Add an argument to those of its kind."""
        if behind_star and argument.is_write:
            out.append(argument)
        elif out:
            help = "arguments written to come last"
            self.fail(f"'{argument.name}' follows an out argument", argument.offset, argument.length, help)
        else:
            others.append(argument)

    def _group(self, word: str) -> tuple[Argument, ...]:
        """The arguments that a word stands for, all at its position."""
        offset = self.at
        if word not in GROUPS:
            self.fail(f"unknown group of arguments '{word}'", length=len(word), help=suggest(word, GROUPS))
        self.at += len(word)
        written = _Parser(f"{GROUPS[word]})")
        arguments, _, _ = written._arguments()
        return tuple(replace(each, offset=offset, name_offset=offset, group=word) for each in arguments)

    def _argument(self) -> Argument:
        offset = self.at
        type, alias = self._type("an argument")
        if self.peek() in (",", ")", "=", ""):
            self.fail(f"type '{type}' without an argument name", offset, self.at - offset)
        self.blank("behind the type")
        name_offset = self.at
        name = self.identifier("the argument's name")
        default = self._default(type) if self.accept("=") else None
        return Argument(name, type, default, alias, offset, name_offset)

    def _returns(self) -> tuple[Return, ...]:
        opening = self.at
        if not self.accept("("):
            return (self._return(),)
        if self.accept(")"):
            return ()
        returns = [self._return()]
        while not self.accept(")"):
            self.comma("',' or ')'")
            returns.append(self._return())
        if len(returns) == 1:
            self.fail("a single result stands without parentheses", opening, self.at - opening)
        return tuple(returns)

    def _return(self) -> Return:
        offset = self.at
        type, alias = self._type("a result type")
        name = None
        if self.accept(" "):
            name = self.identifier("the result's name")
        return Return(type, name, alias, offset)

    # -- types

    def _type(self, what: str) -> tuple[Type, Alias | None]:
        offset = self.at
        type = self._base_type(what)
        alias = self._alias(type, offset) if self.peek() == "(" else None
        while True:
            if self.accept("?"):
                if isinstance(type, OptionalType):
                    self.fail(f"'{type}' is optional already", self.at - 1)
                type = OptionalType(type)
            elif self.accept("["):
                if str(type).count("[") >= DEEPEST_LIST:
                    self.fail(f"lists in more than {DEEPEST_LIST} others", self.at - 1)
                match = _SIZE.match(self.text, self.at)
                if match:
                    self.at = match.end()
                if not self.accept("]"):
                    self.expected("']'" if match else "']' or the size of the list, from 1")
                type = ListType(type, int(match.group()) if match else None)
            elif self.peek() == "(":
                self.fail("an alias annotation stands directly behind 'Tensor'", help="as in 'Tensor(a)[]'")
            else:
                return type, alias

    def _base_type(self, what: str) -> Type:
        offset = self.at
        match = WORD.match(self.text, offset)
        if match is None:
            self.expected(what)
        word = match.group()
        self.at = match.end()
        if word in BASE_TYPES:
            return BaseType(word)
        if word.startswith(CLASS_PREFIX):
            return ClassType(word[len(CLASS_PREFIX) :])
        if what == "an argument" and self.peek() in (",", ")", "=") and IDENTIFIER.fullmatch(word):
            self.fail(f"argument '{word}' has no type", offset, len(word), f"write its type first: 'Tensor {word}'")
        if word.lower() in _FOREIGN_TYPES:
            help = f"did you mean '{_FOREIGN_TYPES[word.lower()]}'?"
        else:
            help = suggest(word, BASE_TYPES)
        self.fail(f"unknown type '{word}'", offset, len(word), help)

    def _alias(self, type: Type, type_offset: int) -> Alias:
        if type != BaseType("Tensor"):
            self.fail(f"alias annotation on type {type}", help="only a Tensor shares memory")
        self.at += 1
        before = self._alias_letters()
        is_write = self.accept("!")
        if is_write and len(before) > 1:
            self.fail("an argument that is written to is in one alias set", type_offset, self.at - type_offset)
        after: tuple[str, ...] = ()
        if self.accept(" -> "):
            after = ("*",) if self.accept("*") else self._alias_letters()
        if not self.accept(")"):
            self.expected("')'" if after else "'!', ' -> ' or ')' in the alias annotation")
        return Alias(before, is_write, after)

    def _alias_letters(self) -> tuple[str, ...]:
        letters: list[str] = []
        while not letters or self.accept("|"):
            match = _ALIAS_LETTER.match(self.text, self.at)
            if match is None:
                self.expected("an alias set, one lower-case letter")
            letters.append(match.group())
            self.at = match.end()
        return tuple(letters)

    # -- defaults

    def _default(self, type: Type) -> Default:
        offset = self.at
        literal = self.literal()
        try:
            value = value_of(literal, type)
        except DefaultError as error:
            wrong = error.literal
            self.fail(error.message, wrong.offset, wrong.length, error.help)
        return Default(self.text[offset : self.at], value, offset)
