"""Names and expressions of the body `compute`: what the call and `let` define, and the trees of texts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from ...dtypes import INT64, INT_LIST, DType
from ...expr import Apply, Expr, ExpressionError, Name, names
from ...expr import geometry as geometries
from ...expr.atoms import Atoms, Carrier, Fold, Named, WritingOut
from ...expr.geometry import Geometry
from ...expr.indexed import SHAPE, Indexed, Scope, free_names
from ...expr.indexed import read as read_expression
from ...expr.lower import lower_integers
from ...expr.tables import Table
from ...expr.typed import names as typed_names
from ...model.compute import Result, uniform_name
from ...source import Mapping as MappingNode
from ...source import Node, Scalar, Sequence
from ...source.text import to_yaml
from ..fields import Entry
from ..reserved import argument_reason
from . import tables

_MAX_PARTS = 200_000
"""The largest number of parts of an expression with names of `let` written out; a random number has 12,000."""
WORD = re.compile(r"\w+")
_RANGE = re.compile(r"\bfor\s+(\w+)\s+in\b")
INDEXED = re.compile(r"(\w+)\[\s*(.*?)\s*\]")
"""A name with what stands in brackets behind it."""


class Names:
    """The names that expressions may use, and the reader of expressions."""

    def __init__(self, entry: Entry, node: MappingNode) -> None:
        self.entry = entry
        self.node = node
        self.atoms = Atoms()
        inputs = tuple(each.name for each in entry.tensors)
        self.scope: dict[str, DType] = {f"{name}{SHAPE}": INT_LIST for name in inputs}
        """The integers and lists of integers that are the same in the whole call."""
        for argument in entry.schema.arguments:
            if not argument.is_tensor and argument not in entry.scalars:
                self.scope[argument.name] = INT_LIST if argument.is_list else INT64
        self.arguments = frozenset(self.scope)
        returns = entry.schema.returns
        self.labels = tuple(each.name or "value" for each in returns) if len(returns) > 1 else ("value",)
        let = node.get("let")
        defined = (
            {WORD.findall(key.value)[0] for key in let.keys if key.value} if isinstance(let, MappingNode) else set()
        )
        self.own = frozenset(self.labels) - {each.name for each in entry.schema.arguments} - defined
        """Results of which elements may be read."""
        self.tensors = (*inputs, *(name for name in self.labels if name in self.own))
        self.variables: tuple[str, ...] = ()
        self.batched = False
        self.places: tuple[int, ...] | None = None
        """The sizes of the dimensions at the end whose positions are numbers."""
        self.computed: tuple[str, ...] = ()
        """The indices of results that are computed, as they are written: `size` has their sizes."""
        self.placed: tuple[str, ...] = ()
        """The results whose places are computed."""
        self.uniform_lets: list[tuple[str, Geometry]] = []
        self.local_lets: dict[str, Expr] = {}
        self.indexed_lets: dict[str, Indexed] = {}
        self.uniforms: dict[str, Geometry] = {}
        self.tables: dict[str, Table] = {}
        self.later: Mapping[str, str] = {}
        """The names of `let` that are not known yet, and why."""
        self.dtypes: Mapping[str, DType] = {}
        """The dtypes that the entry states of inputs and results."""
        self.broken: set[str] = set()
        self.used: set[str] = set()
        """Arguments that the body uses."""

    def expression(self, text: Scalar, own: tuple[str, ...] = ()) -> Expr | None:
        """The tree of an expression, which may have variables of its own."""
        if self.broken.intersection(WORD.findall(text.value)):
            return None  # the definition of such a name has to be corrected first
        known = (*self.scope, *self.local_lets, *(each.name for each in self.entry.scalars))
        scope = Scope(self.tensors, (*self.variables, *own), known, self.indexed_lets, self.tables, self.later)
        tree = self.entry.located(
            text, lambda value: read_expression(value, scope, self.atoms, self.entry.expressions.own, text)
        )
        if tree is None:
            return None
        tree = self.atoms.substituted(tree, self.local_lets)
        parts = self.atoms.parts(tree)
        if parts > _MAX_PARTS:
            problem = f"{parts} parts with the names of 'let' that are used, which are written out"
            self.entry.report(text.span, problem, f"at most {_MAX_PARTS}: split the operator")
            return None
        return tree

    def geometry(self, text: Scalar, expected: DType | None = None) -> Geometry | None:
        scope = Scope(self.tensors, (), tuple(self.scope))

        def parsed(value: str) -> Geometry:
            return lower_integers(
                read_expression(value, scope, self.atoms), self.scope, expected, geometries.TARGET.native
            )

        tree = self.entry.located(text, parsed)
        if tree is not None:
            self._note(tree)
        return tree

    def _note(self, tree: Geometry) -> None:
        self.used |= {name.removesuffix(SHAPE) for name in typed_names(tree)}

    def _same(self, tree: Expr) -> Expr:
        """The expression with what is the same in the whole call replaced by names, and values in the place of names of
        `let`."""
        return self._written_out(self._hoisting(tree))

    def _hoisting(self, tree: Expr) -> Expr:
        return Carrier(self.atoms.named, self.atoms, finish=self._hoisted)(tree, {})

    def _written_out(self, tree: Expr) -> Expr:
        return WritingOut(self.atoms.named, self.atoms)(tree, {})

    def _lets(self, owner: MappingNode) -> None:
        """Reads the names of the `let` of the body, or of a part of it."""
        node = self.entry.mapping(owner, "let", "name to expression")
        ranges = frozenset(_RANGE.findall(to_yaml(self.node)))
        for key in () if node is None else node.keys:
            assert node is not None
            self.later = self._not_yet(node, key)
            name, own = self._let_name(key)
            value = node.get(key.value)
            if isinstance(value, (MappingNode, Sequence)):
                self._table(key, name, own, value)
                continue
            text = self.entry.text(node, key.value)
            if name is None:
                continue
            around = () if text is None or own is not None else self._variables_around(text, ranges)
            tree = None if text is None else self.expression(text, own or around)
            if tree is None:
                self.broken.add(name)
                continue
            if own is not None or around:
                self.indexed_lets[name] = Indexed(own or around, tree, is_bare=own is None)
                continue
            geometry = self._uniform(tree)
            if geometry is None:
                reduces = any(isinstance(each, Fold) for _, each in self.atoms.within(tree))
                self.local_lets[name] = Name(self.atoms.name(Named(name, tree))) if reduces else tree
            else:
                self.scope[name] = geometry.dtype
                self.uniform_lets.append((name, geometry))
                self._note(geometry)
        self.later = {}

    def _not_yet(self, node: MappingNode, defined: Scalar) -> Mapping[str, str]:
        """The names that the definition of one cannot use."""
        words = [each.value.partition("[")[0] for each in node.keys]
        place = node.keys.index(defined)
        later = dict.fromkeys(words[place + 1 :], "it is defined below: move it up, as names know those above them")
        return {
            **later,
            words[place]: "it would be defined by itself: reductions and scans with a state repeat steps",
        }

    def _table(self, key: Scalar, name: str | None, own: tuple[str, ...] | None, node: MappingNode | Sequence) -> None:
        if own is not None:
            self.entry.report(key.span, "a table has numbers for all positions", f"{name}: {{table: [0, 1]}}")
        table = tables.read(self.entry, node)
        if table is None or own is not None:
            self.broken.add(name or "")
        elif name is not None:
            self.tables[name] = table

    def _variables_around(self, text: Scalar, ranges: frozenset[str]) -> tuple[str, ...]:
        """The variables of ranges that a name without brackets takes from where it is used."""
        known = (*self.scope, *self.local_lets, *self.tensors, *self.variables)
        words = free_names(
            text.value, {name: each.variables for name, each in self.indexed_lets.items() if each.is_bare}
        )
        return tuple(word for word in words if word in ranges and word not in known)

    def _let_name(self, key: Scalar) -> tuple[str | None, tuple[str, ...] | None]:
        """The name that a key of `let` defines, if it can, and the variables that it has in brackets."""
        match = INDEXED.fullmatch(key.value)
        name = key.value if match is None else match[1]
        own = None if match is None else tuple(word.strip() for word in match[2].split(","))
        words = (name, *(own or ()))
        taken = {*self.scope, *self.local_lets, *self.indexed_lets, *self.tables, *self.tensors}
        for word in words:
            reason = argument_reason(word, self.entry.family)
            is_taken = word in taken or (word == name and word in self.variables)  # those in brackets are its own
            if not word.isidentifier() or reason is not None or is_taken or words.count(word) > 1:
                self.entry.report(key.span, f"'{word}' {reason or 'is the name of something else'}", "rename it")
                return None, None
        return name, own

    def _uniform(self, tree: Expr) -> Geometry | None:
        """The tree as a number or a list that is the same in the whole call; None if it is not."""
        if not names(tree) <= self.scope.keys() or not _functions(tree) <= geometries.FAMILY.functions.keys():
            return None
        try:
            return lower_integers(tree, self.scope, None, geometries.TARGET.native)
        except ExpressionError:
            return None

    def _hoisted(self, tree: Expr) -> Expr:
        """The expression with the integers that are the same in the whole call replaced by names."""
        if names(tree):
            geometry = self._uniform(tree)
            if geometry is not None and (geometry.dtype.is_integer or geometry.dtype.is_bool):
                return Name(self._slot(geometry), span=tree.span)
        if isinstance(tree, Apply):
            return Apply(tree.function, tuple(map(self._hoisted, tree.args)), span=tree.span)
        return tree

    def _slot(self, geometry: Geometry) -> str:
        self._note(geometry)
        return uniform_name(geometry, self.uniforms)

    def _check_lists(self, results: Iterable[Result], within: Iterable[Expr]) -> None:
        """Check that results use no list as a whole, which is no integer of the call."""
        source = next(iter(results)).source
        for name in (each for tree in (*(each.tree for each in results), *within) for each in _named(tree)):
            if name.name in self.scope:
                message = f"'{name.name}' is a list, of which only items at positions that are known before can be used"
                span = (name.span.origin or source).span_at(name.span.offset, name.span.length)
                self.entry.report(span, message, f"{name.name}[0]; a tensor has elements at all positions")

    def _check_let_is_used(self, owner: MappingNode) -> None:
        """A name of 'let' stands in some other text of the body, or of the part of it."""
        node = owner.get("let")
        texts = [each for key, value in owner.items if key.value != "let" for each in _texts(key, value)]
        lets = node.items if isinstance(node, MappingNode) else ()
        for key, _ in lets:
            name = key.value.partition("[")[0]
            others = [each for other, value in lets if other is not key for each in _texts(None, value)]
            if not any(name in WORD.findall(each) for each in (*texts, *others)):
                self.entry.report(key.span, f"the name '{name}' of 'let' is not used", "leave it out")


def _texts(key: Scalar | None, node: Node) -> Iterator[str]:
    """All texts of a node, and of its key."""
    if key is not None:
        yield key.value
    if isinstance(node, Scalar):
        yield node.value
    elif isinstance(node, MappingNode):
        for inner, value in node.items:
            yield from _texts(inner, value)
    else:
        for each in node:
            yield from _texts(None, each)


def _named(tree: Expr) -> Iterator[Name]:
    if isinstance(tree, Name):
        yield tree
    for each in tree.children:
        yield from _named(each)


def _functions(tree: Expr) -> set[str]:
    found = {tree.function} if isinstance(tree, Apply) else set()
    return found.union(*map(_functions, tree.children)) if tree.children else found
