"""Reads the keys of one entry of ops.yaml: texts, words, mappings and expressions, with mistakes at their positions.

Input: a mapping node of source/. `Fields` has the node alone; `Entry` also has the schema and the family, and is
used by the readers of bodies and derivatives.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import TypeVar

from ..dtypes import DTYPE_CLASSES, DTYPES, DType, lookup_class
from ..errors import Diagnostics, Span, closest, suggest
from ..expr import ExpressionError
from ..expr.parse import ELEMENTS
from ..expr.parse import Family as Expressions
from ..model.operator import Family, parameters
from ..schema import Argument, FunctionSchema
from ..source import Mapping, Scalar, Sequence

T = TypeVar("T")


ROUTINE = "routine"


class Fields:
    """One entry and the diagnostics that collect its mistakes."""

    def __init__(self, node: Mapping, diagnostics: Diagnostics, expressions: Expressions = ELEMENTS) -> None:
        self.node = node
        self.diagnostics = diagnostics
        self.expressions = expressions
        """The language of its expressions, with the functions of the file."""

    def report(self, span: Span, message: str, help: str | None = None) -> None:
        self.diagnostics.report(span, message, help)

    def hint(self, span: Span, message: str, help: str | None = None) -> None:
        self.diagnostics.hint(span, message, help)

    def text(self, owner: Mapping, key: str) -> Scalar | None:
        """The scalar under `key`, or None. Another kind of node and an empty value are reported."""
        node = owner.get(key)
        if node is None:
            return None
        if not isinstance(node, Scalar):
            self.report(node.span, f"'{key}' must be text", "quote it when it starts with a bracket or a brace")
            return None
        if node.is_null or not node.value.strip():
            # An absent value has no position of its own.
            mark = owner.key(key)
            self.report(mark.span if mark and not node.value else node.span, f"'{key}' is empty")
            return None
        return node

    def flag(self, owner: Mapping, key: str) -> bool:
        """Return True if the value under `key` is true. A missing key is false."""
        scalar = self.text(owner, key)
        if scalar is not None and scalar.value not in ("true", "false"):
            self.report(scalar.span, f"'{key}' is true or false, not '{scalar.value}'")
        return scalar is not None and scalar.value == "true"

    def known(self, what: str, word: Scalar, names: Collection[str]) -> bool:
        """True if the word is one of `names`; otherwise it is reported as an unknown `what`."""
        if word.value in names:
            return True
        self.report(word.span, f"unknown {what} '{word.value}'", suggest(word.value, names))
        return False

    def dtypes(self, word: Scalar) -> frozenset[DType]:
        """The dtypes that the word means. An unknown word is reported and means none."""
        dtypes = lookup_class(word.value)
        if dtypes is None:
            self.report(word.span, f"unknown dtype '{word.value}'", suggest(word.value, (*DTYPE_CLASSES, *DTYPES)))
        return dtypes or frozenset()

    def located(self, scalar: Scalar, parser: Callable[[str], T]) -> T | None:
        """Run a parser of expressions over a scalar and report its mistakes at their positions in the file."""
        try:
            return parser(scalar.value.rstrip("\n"))
        except ExpressionError as error:
            for each in error.all:
                self.report(each.place(scalar), each.message, each.help)
            return None

    def known_keys(self, owner: Mapping, known: Iterable[str], what: str = "key", where: str | None = None) -> None:
        """Report keys that are not `known`. Messages call them `what`; `where` is the key whose mapping this is."""
        names = tuple(known)
        for key in owner.keys:
            if key.value not in names:
                message = f"unknown {what} '{key.value}'" + (f" of '{where}'" if where else "")
                is_rest = any(key.value.count(end) > key.value.count(begin) for begin, end in ("()", "[]"))
                help = "a comma in braces ends a text: quote all of it" if is_rest else suggest(key.value, names)
                self.report(key.span, message, help)

    def words(self, key: str, owner: Mapping | None = None) -> tuple[Scalar, ...]:
        """A word or a list of words."""
        node = (owner or self.node).get(key)
        if node is None:
            return ()
        items = tuple(node) if isinstance(node, Sequence) else (node,)
        words = tuple(item for item in items if isinstance(item, Scalar) and item.value)
        if not items:
            self.report(node.span, f"'{key}' is empty", "leave the key out")
        for item in items:
            if not (isinstance(item, Scalar) and item.value):
                self.report(item.span, f"'{key}' must be a word or a list of words")
        return words

    def mapping(self, owner: Mapping, key: str, of: str) -> Mapping | None:
        node = owner.get(key)
        if node is None or isinstance(node, Mapping):
            return node
        self.report(node.span, f"'{key}' must be a mapping from {of}")
        return None


def lacks(owner: Mapping, wanted: Iterable[str], known: Iterable[str] = ()) -> bool:
    """True if none of the `wanted` keys is there. A misspelt key, which is reported as unknown, counts as present."""
    names, accepted = tuple(wanted), tuple(known)
    return not any(
        key.value in names or (key.value not in accepted and closest(key.value, names)) for key in owner.keys
    )


class Entry(Fields):
    """An entry whose schema could be read."""

    def __init__(self, fields: Fields, func: Scalar, schema: FunctionSchema, family: Family) -> None:
        super().__init__(fields.node, fields.diagnostics, fields.expressions)
        self.func = func
        self.schema = schema
        self.family = family

    @property
    def tensors(self) -> tuple[Argument, ...]:
        return tuple(argument for argument in self.schema.arguments if argument.is_tensor)

    @property
    def scalars(self) -> tuple[Argument, ...]:
        return parameters(self.schema, self.family)

    @property
    def own_name(self) -> str:
        """The name of the operator that replaces `{name}` in messages."""
        return self.schema.name.base

    @property
    def routine(self) -> Mapping:
        """The mapping of a body that is a routine."""
        node = self.node.get(ROUTINE)
        assert isinstance(node, Mapping)
        return node

    @property
    def name_span(self) -> Span:
        """The operator's name in the schema, overload included."""
        name = self.schema.name
        return self.func.span_at(name.offset, len(str(name)))

    def argument_span(self, argument: Argument) -> Span:
        return self.func.span_at(argument.offset, argument.length)

    def argument_name_span(self, argument: Argument) -> Span:
        return self.func.span_at(argument.name_offset, argument.name_length)
