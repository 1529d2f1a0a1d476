"""`compute`: results by index variables, from elements at computed positions, and reductions over ranges."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import product, takewhile
from types import MappingProxyType

from ...dtypes import BOOL, FLOAT64, INT64, INT_LIST, DType
from ...errors import Span
from ...expr import Apply, Expr, ExpressionError, Literal, Name, applications, names
from ...expr import Span as ExprSpan
from ...expr import geometry as geometries
from ...expr.affine import shifted
from ...expr.atoms import Atom, Atoms, Carrier, Fold, Named, Read, WritingOut, within
from ...expr.geometry import Geometry
from ...expr.indexed import SHAPE, Indexed, Scope, chosen, free_names, outside_of
from ...expr.indexed import read as read_expression
from ...expr.lower import Env, lower_integers, type_of
from ...expr.tables import Table
from ...expr.tree import NOWHERE
from ...expr.typed import Const
from ...expr.typed import names as typed_names
from ...model.compute import MAX_UNIFORMS, MAX_VARIABLES, Border, Compute, Outside, Result, Size, uniform_name
from ...model.operator import End, Requirement
from ...model.places import Places
from ...model.proof import is_proven
from ...model.recurrence import OrderError, order, own_reads
from ...model.skipping import read_for
from ...model.unrolled import unrolled
from ...source import Mapping as MappingNode
from ...source import Node, Scalar, Sequence
from ...source.text import to_yaml
from ..fields import Entry
from ..reserved import argument_reason
from . import requirements, tables
from .shared import declared_dtypes, report_unused

EXAMPLE = "compute: {'value[y, x]': 'self[y, x] - self[y, x - 1]', outside: 0}"
KEYS = ("require", "let", "size", "outside", "iterate", "last", "dtype")
FOREIGN_RULES = {
    **dict.fromkeys(("mirror", "reflect_101", "reflect101"), "reflect"),
    **dict.fromkeys(("edge", "replicate", "clamp", "border", "clip"), "nearest"),
    **dict.fromkeys(("circular", "periodic", "torus", "cyclic", "grid-wrap"), "wrap"),
    **dict.fromkeys(("zeros", "zero", "constant", "zero-padding", "zero_padding"), "0"),
    **dict.fromkeys(("ignore", "drop", "none"), "skip"),
    "raise": "error",
}
"""What borders are called elsewhere."""
_MAX_PARTS = 200_000
"""Of an expression in which names of `let` are written out; a random number has 12,000."""
_Numbered = Mapping[tuple[int, ...], Scalar]
"""The keys of a result by the numbers that stand behind its variables."""
_WORD = re.compile(r"\w+")
_RANGE = re.compile(r"\bfor\s+(\w+)\s+in\b")
_RESULT = re.compile(r"(\w+)\[\s*(.*?)\s*\]")
_PLACE = "_k{}"
"""The variable of a dimension whose positions are written as numbers."""


class Reader:
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
            {_WORD.findall(key.value)[0] for key in let.keys if key.value} if isinstance(let, MappingNode) else set()
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
        """Those that the entry tells of inputs and results."""
        self.broken: set[str] = set()
        self.used: set[str] = set()
        """Arguments that the body uses."""

    def read(self) -> Compute | None:
        """The body, unless something is wrong with it."""
        before = len(self.entry.diagnostics)
        self.dtypes = self._declared_dtypes()
        body = self._read()
        if body is not None and len(self.entry.diagnostics) == before:
            self._check_let_is_used(self.node)
            self._check_ranges(body)
            self._check_positions(body)
            self._check_dtypes(body)
        return body if len(self.entry.diagnostics) == before else None

    def _read(self) -> Compute | None:
        entry, node = self.entry, self.node
        keys = self._result_keys()
        if not keys:
            return None
        self._lets(self.node)
        require = self._require()
        trees = [self._result(places) for _, places in keys]
        if None in trees:
            return None
        named = tuple(
            Result(self._hoisting(tree), text, name, self.dtypes.get(name))
            for (name, places), tree in zip(keys, trees, strict=True)
            if tree is not None and (text := entry.text(node, next(iter(places.values())).value)) is not None
        )
        parts = self._parts(named)
        if parts is None:
            return None
        body = self._body(tuple(replace(each, tree=self._written_out(each.tree)) for each in parts), require)
        if body is None:
            return None
        rolled = body.rolled or body
        with_names = replace(rolled, results=parts, atoms=MappingProxyType(self.atoms.named)).settled()
        return replace(body, with_names=with_names)

    def _parts(self, results: tuple[Result, ...]) -> tuple[Result, ...] | None:
        """What loops compute of the results: these themselves. None: there is a mistake."""
        return results

    def _same(self, tree: Expr) -> Expr:
        """The expression with what is the same in the whole call replaced by names, and values in the place of names of
        `let`."""
        return self._written_out(self._hoisting(tree))

    def _hoisting(self, tree: Expr) -> Expr:
        return Carrier(self.atoms.named, self.atoms, finish=self._hoisted)(tree, {})

    def _written_out(self, tree: Expr) -> Expr:
        return WritingOut(self.atoms.named, self.atoms)(tree, {})

    def _body(
        self,
        results: tuple[Result, ...],
        require: tuple[Requirement[Geometry, Geometry], ...],
        indices: tuple[Result, ...] = (),
        places: Callable[[Mapping[str, Size]], tuple[Places, ...]] = lambda _: (),
    ) -> Compute | None:
        """The body of these results; of terms, with the indices of their places and what these make of the sizes."""
        entry, node = self.entry, self.node
        found = (*results, *indices)
        atoms = dict(within(self.atoms.named, *(each.tree for each in found)))
        self._check_lists(found, (each for atom in atoms.values() for each in atom.expressions))
        reads = [each for each in atoms.values() if isinstance(each, Read)]
        ranks = self._ranks(reads)
        sizes = self._sizes(reads)
        if ranks is None or sizes is None:
            return None
        self.used |= {each.tensor for each in reads}
        for tree in (*(each.tree for each in found), *(each for atom in atoms.values() for each in atom.expressions)):
            self.used |= names(tree)
        early = tuple(each for each in require if not self._uses_lets(each))
        placed = places(dict(sizes))
        used_as_index = {**atoms, "": Read("", tuple(each.tree for each in indices), False)}
        own = self.own & ranks.keys()
        body = Compute(
            variables=sizes,
            batched=self.batched,
            results=results,
            atoms=MappingProxyType(atoms),
            uniforms=MappingProxyType(self.uniforms),
            outside=MappingProxyType(
                {name: rule for name, rule in self._outside().items() if name not in self.own - own}
            ),
            let=tuple(self.uniform_lets),
            require=early,
            late=tuple(each for each in require if each not in early),
            tensors=MappingProxyType(ranks),
            integers=frozenset(_integers(used_as_index) - self.tables.keys()),
            optional=frozenset(each.name for each in entry.tensors if each.is_optional),
            span=node.span,
            tables=MappingProxyType({name: each for name, each in self.tables.items() if name in ranks}),
            places=placed,
            own=own,
            given=MappingProxyType({name: each for name, each in self.dtypes.items() if name in ranks}),
        ).settled()
        if own and not self._has_order(body):
            return None
        body = replace(body, last=self._last(body))
        body = replace(body, sizes=MappingProxyType(_read_sizes(body)))
        body = body if placed else unrolled(body)
        self._check_inside(body)
        self._check_skipping(body)
        self._check_bounds(body)
        for what, count, most in (
            ("index variables", len(sizes), MAX_VARIABLES),
            ("integers of the call", len(self.uniforms), MAX_UNIFORMS),
        ):
            if count > most:
                entry.report(node.span, f"{count} {what}; the core takes up to {most}", "write two operators")
        report_unused(entry, "body", entry.schema.arguments, frozenset(self.used))
        return body

    def _declared_dtypes(self) -> Mapping[str, DType]:
        """`dtype`: that of the results, or those of inputs and results by their names."""
        inputs = [each.name for each in self.entry.tensors]
        node, labels, what = self.node.get("dtype"), [*self.labels], "result"
        if isinstance(node, MappingNode):
            labels, what = [*labels, *inputs], "result or input"
        found = declared_dtypes(self.entry, self.node, labels, what)
        wrong = next((name for name, dtype in found.items() if dtype.is_complex), None)
        if wrong is not None:
            assert node is not None
            message = f"'{wrong}' cannot be {found[wrong]}"
            self.entry.report(node.span, message, "expressions over indices are of real numbers")
        return found

    def _check_dtypes(self, body: Compute) -> None:
        """Indices are read as int64, and as nothing else."""
        node = self.node.get("dtype")
        for name in sorted(body.integers):
            if node is not None and self.dtypes.get(name, INT64) is not INT64:
                message = f"'{name}' is a position, and positions are int64"
                self.entry.report(node.span, message, f"int({name}[...]) makes a position of an element")

    # ---- results and their variables

    def _result_keys(self) -> list[tuple[str, _Numbered]]:
        entry = self.entry
        expected = self.labels
        found: dict[str, dict[tuple[int, ...], Scalar]] = {}
        before = len(entry.diagnostics)
        for key in self.node.keys:
            match = _RESULT.fullmatch(key.value)
            if match is None:
                if key.value not in KEYS:
                    known = ", ".join((f"{expected[0]}[y, x]", *KEYS))
                    entry.report(key.span, f"unknown key '{key.value}' of 'compute'", f"known keys: {known}")
                continue
            if match[1] not in expected:
                entry.report(key.span, f"the schema has no result '{match[1]}'", ", ".join(expected))
                continue
            place = self._indices(key, match[2], match.start(2))
            if place is not None:
                found.setdefault(match[1], {})[place] = key
        for name in expected:
            if name not in found and len(entry.diagnostics) == before:
                entry.report(self.node.span, f"'compute' needs '{name}[...]'", EXAMPLE)
        complete = all(self._check_places(name, places) for name, places in found.items())
        return [(name, found[name]) for name in expected if name in found and complete]

    def _indices(self, key: Scalar, text: str, start: int) -> tuple[int, ...] | None:
        """Reads the variables of a result, which are the same for all results, and the numbers behind them."""
        words = [word.strip() for word in text.split(",")] if text else []
        batched = words[:1] == ["..."]
        numbers = list(takewhile(str.isdecimal, reversed(words)))[::-1]
        variables = tuple(words[batched : len(words) - len(numbers)])
        for word in variables:
            reason = argument_reason(word, self.entry.family)
            taken = word in (*self.scope, *self.tensors) or any(word == each.name for each in self.entry.scalars)
            if not word.isidentifier() or reason or taken or variables.count(word) > 1:
                twice = variables.count(word) > 1 and not taken
                reason = reason or ("stands twice" if twice else "is the name of something else")
                reason = reason if word.isidentifier() else "is no variable"
                self.entry.report(key.span_at(start, len(text)), f"'{word}' {reason}", "value[..., y, x]")
                return None
        own = (*variables, *(_PLACE.format(dim) for dim in range(len(numbers))))
        if self.variables and (own, batched) != (self.variables, self.batched):
            self.entry.report(key.span, "all results have the same index variables")
            return None
        self.variables, self.batched = own, batched
        return tuple(map(int, numbers))

    def _check_places(self, name: str, places: _Numbered) -> bool:
        """Every position of the dimensions whose positions are numbers has an expression, in every result."""
        sizes = tuple(1 + max(each) for each in zip(*places, strict=True))
        first = next(iter(places.values()))
        missing = next((each for each in product(*map(range, sizes)) if each not in places), None)
        if missing is not None:
            text = ", ".join(map(str, missing))
            self.entry.report(first.span, f"'{name}' has no expression at position {text}", f"{name}[..., {text}]: ...")
        elif self.places is not None and self.places != sizes:
            self.entry.report(first.span, "all results have the same number of positions")
            return False
        self.places = sizes
        return missing is None

    def _result(self, places: _Numbered) -> Expr | None:
        """The expression of a result, which depends on the position if there are several."""
        trees = {
            place: self.expression(text)
            for place, key in places.items()
            if (text := self.entry.text(self.node, key.value))
        }
        known = {place: tree for place, tree in trees.items() if tree is not None}
        return _at(known, ()) if len(known) == len(places) else None

    # ---- expressions

    def expression(self, text: Scalar, own: tuple[str, ...] = ()) -> Expr | None:
        """The tree of an expression, which may have variables of its own."""
        if self.broken.intersection(_WORD.findall(text.value)):
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
        match = _RESULT.fullmatch(key.value)
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
        """What is left of lists is no integer of the whole call."""
        source = next(iter(results)).source
        for name in (each for tree in (*(each.tree for each in results), *within) for each in _named(tree)):
            if name.name in self.scope:
                message = f"'{name.name}' is a list, of which only items at positions that are known before can be used"
                span = (name.span.origin or source).span_at(name.span.offset, name.span.length)
                self.entry.report(span, message, f"{name.name}[0]; a tensor has elements at all positions")

    # ---- sizes

    def _has_order(self, body: Compute) -> bool:
        """Can all elements that are read be computed before, in the dtype of computation?"""
        found = len(self.entry.diagnostics)
        if body.places:
            self.entry.report(self.node.span, "results whose places are data have no earlier elements", "two operators")
            return False
        types = body.env({each.name: FLOAT64 for each in self.entry.scalars}, FLOAT64)
        for each in body.results:
            if each.name in body.own and each.dtype is None and not type_of(each.tree, types).dtype.is_floating:
                message = f"'{each.name}' is read, and has the dtype {type_of(each.tree, types).dtype.name}"
                self.entry.report(each.source.span, message, "a result that is read has the dtype of the tensors")
        for name in sorted(body.own & body.integers):
            self.entry.report(self.node.span, f"'{name}' is a position", f"int({name}[...])")
        for read in own_reads(body):
            rule = body.outside.get(read.tensor)
            if rule in (Border.NEAREST, Border.WRAP, Border.REFLECT):
                message = (
                    f"'{read.tensor}' is read outside, where '{rule.value}' means elements that are not computed yet"
                )
                self.entry.report(self._place(body, read.span), message, f"outside: {{{read.tensor}: 0}}")
        try:
            order(body)
        except OrderError as error:
            self.entry.report(self._place(body, error.read.span), error.message, error.help)
        return len(self.entry.diagnostics) == found

    def _last(self, body: Compute) -> tuple[str, ...]:
        """The variables of which results have the last position alone."""
        words = self.entry.words("last", self.node)
        found = order(body) if body.own and words else None
        ordered = () if found is None else body.names[found.independent :]
        for word in words:
            if word.value not in ordered:
                message = f"positions of '{word.value}' do not follow each other, so none is the last"
                help = f"variables of which one is: {', '.join(ordered)}"
                self.entry.report(word.span, message, help if ordered else "leave it out: 'last' is of recurrences")
        return tuple(word.value for word in words)

    def _ranks(self, reads: list[Read]) -> dict[str, int] | None:
        ranks: dict[str, int] = {}
        shapes: dict[str, tuple[int, bool]] = {}
        for each in reads:
            ranks[each.tensor] = len(each.indices)
            if shapes.setdefault(each.tensor, (len(each.indices), each.batched)) != (len(each.indices), each.batched):
                self.entry.report(self.node.span, f"'{each.tensor}' is read with different numbers of indices")
                return None
            if each.tensor in self.own and (len(each.indices), each.batched) != (len(self.variables), self.batched):
                wanted = ", ".join([*(["..."] if self.batched else []), *self.variables])
                message = f"'{each.tensor}' has the positions [{wanted}]"
                self.entry.report(self.node.span, message, "as many indices where elements of it are read")
                return None
            if each.batched and not self.batched:
                self.entry.report(self.node.span, f"'{each.tensor}' has dimensions '...', which no result has")
                return None
        return ranks

    def _sizes(self, reads: list[Read]) -> tuple[tuple[str, Size], ...] | None:
        node = self.entry.mapping(self.node, "size", "variable to its number of positions")
        if node is not None:
            self.entry.known_keys(node, (*self.variables, *self.computed), "variable", "size")
        optional = {each.name for each in self.entry.tensors if each.is_optional}
        given = [each for each in reads if each.tensor not in optional | self.own]
        sizes: list[tuple[str, Size]] = []
        numbered = dict(
            zip(self.variables[len(self.variables) - len(self.places or ()) :], self.places or (), strict=True)
        )
        for name in self.variables:
            if name in numbered:
                sizes.append((name, Size(Const(INT64, numbered[name]))))
                continue
            if node is not None and name in node:
                text = self.entry.text(node, name)
                geometry = None if text is None else self.geometry(text, INT64)
                if geometry is None:
                    return None
                if isinstance(geometry, Const) and geometry.value < 0:
                    assert text is not None
                    self.entry.report(text.span, f"'{name}' has {geometry.value} positions", "a size is not negative")
                    return None
                sizes.append((name, Size(geometry)))
                continue
            place = next(
                (
                    (each.tensor, dim - len(each.indices))
                    for each in given
                    for dim, index in enumerate(each.indices)
                    if index == Name(name)
                ),
                None,
            ) or self._period(name, given)
            if place is None:
                message = f"the number of positions of '{name}' is not known"
                self.entry.report(self.node.span, message, f"size: {{{name}: {_likely_size(name, given)}}}")
                return None
            tensor, dim = place
            table = self.tables.get(tensor)  # an operator that follows from this one may not have it
            sizes.append((name, Size(None, *place) if table is None else Size(Const(INT64, table.sizes[dim]))))
        return tuple(sizes)

    def _period(self, name: str, reads: Iterable[Read]) -> tuple[str, int] | None:
        """The dimension in whose index something is added to the variable, where what is outside wraps around: what
        lies on a torus has its size."""
        for each in reads:
            for dim, index in enumerate(each.indices):
                if self._outside().get(each.tensor) is Border.WRAP and shifted(index, frozenset((name,))):
                    return each.tensor, dim - len(each.indices)
        return None

    # ---- what may be outside

    def _outside(self) -> Mapping[str, Outside]:
        node = self.node.get("outside")
        if isinstance(node, MappingNode):
            known = (*self.tensors, *self.tables)
            self.entry.known_keys(node, (*known, *self.placed), "tensor", "outside")
            texts = {key.value: self.entry.text(node, key.value) for key in node.keys if key.value in known}
        else:
            text = self.entry.text(self.node, "outside")
            texts = dict.fromkeys(self.tensors, text) if text is not None else {}
        rules = {name: self._rule(text) for name, text in texts.items() if text is not None}
        return MappingProxyType(rules)

    def _rule(self, text: Scalar) -> Outside:
        words: dict[str, Outside] = {each.value: each for each in (*Border, *End)}
        if text.value in words:
            return words[text.value]
        try:
            return float(text.value)
        except ValueError:
            if text.value.lower() in FOREIGN_RULES:
                help = f"it is called '{FOREIGN_RULES[text.value.lower()]}' here"
                self.entry.report(text.span, f"unknown rule '{text.value}'", help)
            else:
                self.entry.known("rule", text, words)
            return Border.ERROR  # so that indices outside are no further mistake

    def _check_let_is_used(self, owner: MappingNode) -> None:
        """A name of 'let' stands in some other text of the body, or of the part of it."""
        node = owner.get("let")
        texts = [each for key, value in owner.items if key.value != "let" for each in _texts(key, value)]
        lets = node.items if isinstance(node, MappingNode) else ()
        for key, _ in lets:
            name = key.value.partition("[")[0]
            others = [each for other, value in lets if other is not key for each in _texts(None, value)]
            if not any(name in _WORD.findall(each) for each in (*texts, *others)):
                self.entry.report(key.span, f"the name '{name}' of 'let' is not used", "leave it out")

    def _check_positions(self, body: Compute) -> None:
        """Positions are integers, and may lie inside."""
        env = body.env({each.name: FLOAT64 for each in self.entry.scalars}, FLOAT64)
        reported: set[Span] = set()
        for read in body.reads.values():
            for dim, tree in enumerate(read.indices):
                span = self._place(body, tree.span if tree.span != NOWHERE else read.span)
                if span in reported:
                    continue
                dtype = _dtype(tree, env)
                if dtype is None:
                    continue
                if dtype.is_floating:
                    message = f"index {dim} of '{read.tensor}' is {dtype}, and a position is an integer"
                    help = "'//' divides integers; int(x) drops the fraction, int(floor(x)) rounds down"
                elif any(_divides_by_zero(each) for each in applications(tree)):
                    message, help = f"index {dim} of '{read.tensor}' is divided by zero", "a positive number"
                elif body.is_never_inside(read, dim):
                    message, help = f"index {dim} of '{read.tensor}' never lies inside", "indices count from 0"
                else:
                    continue
                reported.add(span)
                self.entry.report(span, message, help)

    def _check_bounds(self, body: Compute) -> None:
        """What bounds are made of is known where their loop begins."""
        for bounds in body.ranges.values():
            for _, atom in within(body.atoms, bounds.first, bounds.stop):
                what = f"a bound of the range of '{bounds.name}'"
                if isinstance(atom, Fold):
                    self.entry.report(self._place(body, atom.span), f"{what} uses a reduction")
                elif isinstance(atom, Read) and not isinstance(body.outside.get(atom.tensor, Border.ERROR), Border):
                    message = f"{what} may be read outside of '{atom.tensor}'"
                    self.entry.report(self._place(body, atom.span), message, "outside: error, nearest, wrap or reflect")

    def _check_ranges(self, body: Compute) -> None:
        """Bounds are integers."""
        env = body.env({each.name: FLOAT64 for each in self.entry.scalars}, FLOAT64)
        for bounds in body.ranges.values():
            for each in (bounds.first, bounds.stop):
                dtype = _dtype(each, env)
                if dtype is not None and dtype.is_floating:
                    message = f"a bound of the range of '{bounds.name}' is {dtype}, and bounds are integers"
                    self.entry.report(self._place(body, each.span), message, "'//' divides integers")

    def _place(self, body: Compute, span: ExprSpan) -> Span:
        return (span.origin or body.results[0].source).span_at(span.offset, span.length)

    def _check_inside(self, body: Compute) -> None:
        """An index that is no variable must be sure to be inside, or `outside` says what it means."""
        reported: set[Span] = set()
        for read, dim in body.checked():
            index = body.index(read.indices[dim])
            if read.tensor in body.tables:
                self._check_table(body, read, dim, reported)
                continue
            if read.tensor in body.outside or index.affine is None or len(index.affine.factors) == 0:
                continue
            if index.plain is not None:
                continue  # sizes that differ are an error of the call
            span = self._place(body, read.span)
            if span not in reported and not is_proven(body, read, dim):
                reported.add(span)
                message = f"index {dim} of '{read.tensor}' cannot be proven to lie inside"
                help = "outside: 0, nearest, wrap, reflect or error"
                self.entry.report(span, message, f"outside: {{{read.tensor}: 0}}" if read.tensor in body.own else help)

    def _check_skipping(self, body: Compute) -> None:
        """What is left out is a term of a reduction."""
        for read in read_for(body.atoms, *(each.tree for each in body.results)):
            is_inside = all(body.is_inside(read, dim) for dim in range(len(read.indices)))
            if body.outside.get(read.tensor) is Border.SKIP and not is_inside:
                message = f"'skip' leaves out terms of a reduction, and '{read.tensor}' is read beside reductions"
                help = f"outside: {{{read.tensor}: 0}}, or another number, nearest, wrap, reflect or error"
                self.entry.report(self._place(body, read.span), message, help)

    def _check_table(self, body: Compute, read: Read, dim: int, reported: set[Span]) -> None:
        """What is known of an index of a table must not be outside of it."""
        table, ends, span = body.tables[read.tensor], body.ends(read.indices[dim]), self._place(body, read.span)
        known = ends is not None and read.tensor not in body.outside
        if known and span not in reported:
            assert ends is not None
            reported.add(span)
            runs = f"index {dim} runs from {ends[0]} to {ends[1]}" if ends[0] < ends[1] else f"index {dim} is {ends[0]}"
            self.entry.report(span, f"{runs}, {outside_of(read.tensor, table)}", "outside: nearest, wrap or reflect")

    # ---- requirements

    def _require(self) -> tuple[Requirement[Geometry, Geometry], ...]:
        return requirements.read(
            self.entry,
            self.node.get("require"),
            f"{self.tensors[0] if self.tensors else 'self'}.ndim == 4",
            lambda text: self.geometry(text, BOOL),
            self.geometry,
        )

    def _uses_lets(self, condition: Requirement[Geometry, Geometry]) -> bool:
        lets = {name for name, _ in self.uniform_lets}
        trees = (condition.check, *(part for part in condition.message if not isinstance(part, str)))
        return any(typed_names(tree) & lets for tree in trees)


def _at(trees: Mapping[tuple[int, ...], Expr], known: tuple[int, ...]) -> Expr:
    """The expression for all positions that begin with the known numbers."""
    if known in trees:
        return trees[known]
    size = 1 + max(place[len(known)] for place in trees if place[: len(known)] == known)
    return chosen(_PLACE.format(len(known)), [_at(trees, (*known, place)) for place in range(size)])


def _likely_size(variable: str, reads: Iterable[Read]) -> str:
    """The size of the first dimension whose index the variable is part of."""
    for each in reads:
        for dim, index in enumerate(each.indices):
            if variable in names(index):
                return f"{each.tensor}.size({dim - len(each.indices)})"
    return "..."


def _read_sizes(body: Compute) -> dict[tuple[str, int], int]:
    """The sizes of dimensions of which numbers tell all indices, as of `offset[i * 3 + j]` with i and j below 3."""
    found: dict[tuple[str, int], list[Expr]] = {}
    for read in body.reads.values():
        for dim, tree in enumerate(read.indices):
            if read.tensor not in {*body.outside, *body.tables, *body.own}:
                found.setdefault((read.tensor, dim - len(read.indices)), []).append(tree)
    sizes = {}
    for place, trees in found.items():
        ends = [body.ends(each) for each in trees]
        is_told = all(each is not None and each[0] >= 0 for each in ends)
        used = frozenset[str]().union(*map(names, trees))
        if (
            is_told
            and used.isdisjoint(body.names)
            and any(body.index(each).plain is None for each in trees if names(each))
        ):
            sizes[place] = 1 + max(each[1] for each in ends if each is not None)
    return sizes


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


def _dtype(tree: Expr, env: Env) -> DType | None:
    """The dtype of an index or a bound; None where it has none, which is reported where the expression is checked."""
    try:
        return type_of(tree, env).dtype
    except ExpressionError:
        return None


def _divides_by_zero(tree: Expr) -> bool:
    return isinstance(tree, Apply) and tree.function in ("floor_divide", "remainder") and tree.args[1] == Literal(0)


def _functions(tree: Expr) -> set[str]:
    found = {tree.function} if isinstance(tree, Apply) else set()
    return found.union(*map(_functions, tree.children)) if tree.children else found


def _integers(atoms: Mapping[str, Atom]) -> set[str]:
    """Tensors whose elements are read in indices or in bounds of ranges, other than through `int`."""
    found: set[str] = set()

    def visit(tree: Expr) -> None:
        for name in names(tree):
            atom = atoms.get(name)
            if isinstance(atom, Read):
                found.add(atom.tensor)
            elif isinstance(atom, Fold):
                visit(atom.value)

    for atom in atoms.values():
        if isinstance(atom, Read):
            for index in atom.indices:
                visit(index)
        elif isinstance(atom, Fold):
            for each in atom.ranges:
                visit(each.first)
                visit(each.stop)
    return found
