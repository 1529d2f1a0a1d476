"""Shared by the readers of bodies: expressions, degrees of results, and unused arguments."""

from __future__ import annotations

import re
from collections import abc
from collections.abc import Callable, Iterable
from dataclasses import replace
from types import MappingProxyType

from ...dtypes import BOOL, DTYPES, DType
from ...expr import FUNCTIONS, Apply, Expr, Name, Rule, applications, names, parse, substitute
from ...model.operator import Expression
from ...schema import Argument
from ...source import Mapping, Scalar, Sequence
from ..fields import Entry, Fields
from ..reserved import argument_reason

_CHECKED = ("layout", "device", "pin_memory")
_WORD = re.compile(r"\w+")


def expression(entry: Fields, scalar: Scalar, known: Iterable[str]) -> Expression | None:
    """Parse an expression with these names; None: there is a mistake, which is reported."""
    tree = entry.located(scalar, lambda text: parse(text, known, entry.expressions, scalar))
    return None if tree is None else Expression(tree, scalar)


def expression_field(entry: Entry, owner: Mapping, key: str, known: Iterable[str]) -> Expression | None:
    """Parse the expression under a key; None: there is none, or a mistake, which is reported."""
    scalar = entry.text(owner, key)
    return None if scalar is None else expression(entry, scalar, known)


def words_of(text: Scalar) -> list[str]:
    """The names in a text, and what else is made of letters."""
    return _WORD.findall(text.value)


class Locals:
    """The names of `let`, each of which stands for an expression of those before it and of the names known besides.

    Expressions that are read by `expression` have them replaced: so equal parts are one, and everything that follows
    from the expression, such as its derivative, follows from theirs.
    """

    def __init__(
        self,
        fields: Fields,
        owner: Mapping | None,
        known: Iterable[str],
        refused: Callable[[str], str | None],
        outer: Locals | None = None,
    ) -> None:
        self.fields = fields
        self.refused = refused
        self.known = list(known)
        self.given: dict[str, Expression] = {} if outer is None else dict(outer.given)
        self.used: set[str] = set() if outer is None else outer.used
        self.keys: list[Scalar] = []
        node = None if owner is None else fields.mapping(owner, "let", "name to an expression")
        for key in () if node is None else node.keys:
            assert node is not None
            reason = refused(key.value) or (None if key.value.isidentifier() else "is not a name")
            if reason is not None or key.value in self.known:
                fields.report(key.span, f"'{key.value}' {reason or 'is there already'}", "rename it")
                continue
            text = fields.text(node, key.value)
            value = None if text is None else self.expression(text)
            if value is not None:
                self.given[key.value] = value
            self.known.append(key.value)
            self.keys.append(key)

    def expression(self, text: Scalar) -> Expression | None:
        found = self.parsed(text)
        return None if found is None else replace(found, tree=substitute(found.tree, self.trees))

    @property
    def trees(self) -> dict[str, Expr]:
        """The expressions that the names stand for."""
        return {name: each.tree for name, each in self.given.items()}

    def parsed(self, text: Scalar) -> Expression | None:
        """The expression as it is written."""
        found = self.read(text)
        self.used.update(words_of(text) if found is None else names(found.tree))
        return found

    def read(self, text: Scalar) -> Expression | None:
        """The expression in terms of the known names."""
        return expression(self.fields, text, self.known)

    def declare(self, names: Iterable[str]) -> None:
        """Names that are known from now on."""
        self.known += names

    def nested(self, owner: Mapping) -> Locals:
        """Return the names of a part of the entry, which knows these as well."""
        return Locals(self.fields, owner, self.known, self.refused, self)

    def report_unused(self) -> None:
        """Report names that are not used. Call it when everything that may use them has been read."""
        for key in self.keys:
            if key.value not in self.used:
                self.fields.report(key.span, f"'{key.value}' is never used", "leave it out")


def degrees(entry: Entry, owner: Mapping, key: str, count: int) -> tuple[int, ...]:
    """`degrees`: for each of `count` results its degree of homogeneity in the elements, or nothing at all."""
    node = owner.get(key)
    if node is None:
        return ()
    texts = [
        item.value if isinstance(item, Scalar) else "" for item in (node if isinstance(node, Sequence) else [node])
    ]
    numbers = tuple(int(text) for text in texts if text in ("1", "2"))
    if len(numbers) != len(texts) or len(numbers) != count:
        entry.report(node.span, f"'{key}' must be 1 or 2" + (f" for each of {count} results" if count > 1 else ""))
    return numbers


def report_unused(entry: Entry, what: str, arguments: Iterable[Argument], used: frozenset[str]) -> None:
    """Report arguments that a body never uses, and needless words of `unused`. Arguments of placement are checked
    before the body runs, which need not use them."""
    spared = {word.value for word in entry.words("unused")}
    for word in entry.words("unused"):
        if word.value in used or word.value in _CHECKED:
            why = "is used" if word.value in used else "need not be used"
            entry.report(word.span, f"argument '{word.value}' {why}", "leave it out")
    for argument in arguments:
        refused = (
            argument_reason(argument.name, entry.family) is not None
        )  # it is reported already, and one mistake is enough
        if argument.name not in (*used, *spared, *_CHECKED) and not refused:
            message = f"the {what} does not use argument '{argument.name}'"
            entry.report(entry.argument_name_span(argument), message, "or list it under 'unused'")


def own_dtypes(entry: Entry, parts: Mapping) -> tuple[DType | None, ...]:
    """`dtype`: that of the result, or of some by their names."""
    labels = [result.name or "" for result in entry.schema.returns] or [""]
    return tuple(declared_dtypes(entry, parts, labels, "result").get(name) for name in labels)


def declared_dtypes(entry: Entry, parts: Mapping, labels: list[str], what: str) -> dict[str, DType]:
    """`dtype`: that of everything that has a label, or of some by their names."""
    node = parts.get("dtype")
    if isinstance(node, Mapping):
        entry.known_keys(node, labels, what)
        given = {name: text for name in node if name in labels and (text := entry.text(node, name)) is not None}
    else:
        text = entry.text(parts, "dtype")
        given = {} if text is None else dict.fromkeys(labels, text)
    known = {dtype.name: dtype for dtype in DTYPES.values() if dtype.compute}
    for text in dict.fromkeys(given.values()):
        entry.known(f"dtype of a {what}", text, known)
    return {name: known[text.value] for name, text in given.items() if text.value in known}


def conditions(entry: Entry, trees: list[Expr]) -> abc.Mapping[str, DType]:
    """Inputs that are only conditions: they must be bool and do not take part in promotion."""
    return only_conditions((each.name for each in entry.tensors), trees)


def only_conditions(tensors: Iterable[str], trees: list[Expr]) -> abc.Mapping[str, DType]:
    """Return the tensors that the expressions use only as conditions, each with dtype bool."""
    used = {name: [tree for tree in trees if name in names(tree)] for name in tensors}
    return MappingProxyType(
        {name: BOOL for name, where in used.items() if where and all(name in _chosen_by(tree) for tree in where)}
    )


def _chosen_by(tree: Expr) -> frozenset[str]:
    """The names that an expression uses only as conditions."""
    choosing: set[str] = set()
    others: set[str] = set()
    for each in applications(tree):
        assert isinstance(each, Apply)
        first = FUNCTIONS[each.function].rule is Rule.SELECT
        for index, arg in enumerate(each.args):
            if isinstance(arg, Name):
                (choosing if first and not index else others).add(arg.name)
    return frozenset(choosing - others)
