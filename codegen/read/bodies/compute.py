"""`compute`: results by index variables, from elements at computed positions, and reductions over ranges."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType

from ...dtypes import BOOL, DType
from ...expr import Expr, names
from ...expr.atoms import Atom, Fold, Read, within
from ...expr.geometry import Geometry
from ...expr.typed import names as typed_names
from ...model.compute import MAX_UNIFORMS, MAX_VARIABLES, Compute, Result, Size
from ...model.operator import Requirement
from ...model.places import Places
from ...model.recurrence import order
from ...model.unrolled import unrolled
from ...source import Mapping as MappingNode
from . import requirements
from .index_checks import check_reads, check_types, has_order
from .index_variables import Variables
from .shared import declared_dtypes, report_unused


class Reader(Variables):
    """Makes the body of what is read."""

    def read(self) -> Compute | None:
        """The body, unless something is wrong with it."""
        before = len(self.entry.diagnostics)
        self.dtypes = self._declared_dtypes()
        body = self._read()
        if body is not None and len(self.entry.diagnostics) == before:
            self._check_let_is_used(self.node)
            check_types(self.entry, self.node, body, self.dtypes)
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
        """Return what loops compute of the results: these themselves. None: there is a mistake."""
        return results

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
        if own and not has_order(entry, node, body):
            return None
        body = replace(body, last=self._last(body))
        body = replace(body, sizes=MappingProxyType(_read_sizes(body)))
        body = body if placed else unrolled(body, demands=True)
        check_reads(entry, body)
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
