"""`compute` with results whose terms belong to places that are computed: `value[index[n], d]: {sum: self[n, d]}`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ...dtypes import BOOL, FLOAT64, INT64, DType
from ...errors import suggest
from ...expr import CONSTANTS, Apply, Expr, ExpressionError, Literal, Name, names, type_of
from ...expr.affine import ZERO, product, total
from ...expr.atoms import Fold, Integer, Read
from ...expr.geometry import Geometry
from ...model.compute import Border, Compute, Result, Size, size_of, uniform_name
from ...model.led import led
from ...model.places import COMBINATIONS, OUTSIDE, SKIPPED, Places
from ...model.proof import is_below
from ...source import Mapping as MappingNode
from ...source import Scalar
from ..fields import Entry
from . import index_variables
from .compute import Reader
from .rounds import KEY as ITERATE
from .rounds import RoundsReader
from .tables import number_of

EXAMPLE = "{sum: self[n, d]}; max, min, prod and mean as well"
EMPTY = "empty"
_KEY = re.compile(r"(\w+)\[(.*)\]")
_PLAIN = re.compile(r"[\w\s.,]*")


def read(entry: Entry, node: MappingNode) -> Compute | None:
    """The body `compute`, of either kind."""
    if any(_has_places(*item) for item in node.items):
        return PlacesReader(entry, node).read()
    return (RoundsReader if ITERATE in node else Reader)(entry, node).read()


def _has_places(key: Scalar, value: object) -> bool:
    match = _KEY.fullmatch(key.value)
    return match is not None and (isinstance(value, MappingNode) or not _PLAIN.fullmatch(match[2]))


@dataclass(frozen=True)
class _Index:
    """An index between the commas of a result's key."""

    text: Scalar
    variable: str | None
    """The variable that it is, if it is one and nothing else."""


@dataclass(frozen=True)
class _Written:
    """A result as it is written."""

    name: str
    key: Scalar
    indices: tuple[_Index, ...]
    combination: str
    term: Scalar
    empty: float | int | None
    row: int


class PlacesReader(Reader):
    """Reads terms and the indices of their places; the variables are those of the terms."""

    def _read(self) -> Compute | None:
        written = [each for key, value in self.node.items for each in self._written(key, value)]
        expected = [each.name or "value" for each in self.entry.schema.returns]
        expected = expected if len(expected) > 1 else ["value"]
        for name in expected:
            if name not in [each.name for each in written] and not self.entry.diagnostics.mistakes:
                self.entry.report(self.node.span, f"'compute' needs '{name}[...]'", f"{name}[index[n]]: {EXAMPLE}")
        if self.entry.diagnostics.mistakes or not written:
            return None
        loop = self.node.key(ITERATE)
        if loop is not None:
            self.entry.report(loop.span, "results whose places are data have no loop", "two operators")
            return None
        self.computed = tuple(
            dict.fromkeys(i.text.value for each in written for i in each.indices if i.variable is None)
        )
        self.placed = tuple(each.name for each in written)
        self._lets(self.node)
        require = self._require()
        written.sort(key=lambda each: expected.index(each.name))
        terms = [self._term(each) for each in written]
        indices = [[self._index(index) for index in each.indices] for each in written]
        if None in terms or any(None in each for each in indices):
            return None
        results = tuple(each for each in terms if each is not None)
        known = [tuple(index for index in each if index is not None) for each in indices]

        def places(sizes: Mapping[str, Size]) -> tuple[Places, ...]:
            found = (self._places(each, own, sizes) for each, own in zip(written, known, strict=True))
            return tuple(each for each in found if each is not None)

        body = self._body(results, require, tuple(index for each in known for index in each), places)
        if body is not None and not self.entry.diagnostics.mistakes:
            self._check_integers(body)
            self._check_inside(body)
        return body

    # ---- keys

    def _written(self, key: Scalar, value: object) -> Iterator[_Written]:
        match = _KEY.fullmatch(key.value)
        if match is None:
            if key.value not in index_variables.KEYS:
                known = ", ".join(("value[index[n]]", *index_variables.KEYS))
                self.entry.report(key.span, f"unknown key '{key.value}' of 'compute'", known)
            return
        returns = self.entry.schema.returns
        names = [each.name or "value" for each in returns] if len(returns) > 1 else ["value"]
        if match[1] not in names:
            self.entry.report(key.span, f"the schema has no result '{match[1]}'", ", ".join(names))
            return
        parts = list(_split(key, match.start(2), match.end(2)))
        batched = bool(parts) and parts[0].value == "..."
        indices = tuple(map(self._key_index, parts[batched:]))
        variables = tuple(dict.fromkeys(name for each in indices for name in self._variables_in(each)))
        if self.variables and (variables, batched) != (self.variables, self.batched):
            self.entry.report(key.span, "all results have the same index variables, in the same order")
            return
        self.variables, self.batched = variables, batched
        row = self._row(indices)
        if row == len(indices):
            message = "no index of the result is computed, so that there is one term for each element"
            self.entry.report(key.span, message, "sum(value for i in range(n)) is a reduction; value[index[n]] a place")
            return
        yield from self._combination(match[1], key, value, indices, row)

    def _key_index(self, text: Scalar) -> _Index:
        is_variable = text.value.isidentifier() and text.value not in self._known()
        return _Index(text, text.value if is_variable else None)

    def _known(self) -> set[str]:
        """The names that are no variables."""
        node = self.node.get("let")
        lets = [key.value.partition("[")[0] for key in node.keys] if isinstance(node, MappingNode) else []
        return {*self.scope, *self.tensors, *(each.name for each in self.entry.scalars), *lets, *CONSTANTS}

    def _variables_in(self, index: _Index) -> Iterator[str]:
        """The names that nothing else has, in the order of the text."""
        try:
            tree = ast.parse(index.text.value.strip(), mode="eval")
        except SyntaxError:
            return  # which is reported where it is read
        nodes = list(ast.walk(tree))
        known = self._known()
        known |= {each.func.id for each in nodes if isinstance(each, ast.Call) and isinstance(each.func, ast.Name)}
        known |= {each.id for each in nodes if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
        found = [each for each in nodes if isinstance(each, ast.Name) and each.id not in known]
        yield from (each.id for each in sorted(found, key=lambda each: (each.lineno, each.col_offset)))

    def _row(self, indices: tuple[_Index, ...]) -> int:
        """Return the number of last indices that are variables that no other index depends on."""
        row = 0
        while row < len(indices) and indices[len(indices) - 1 - row].variable is not None:
            variable, others = indices[len(indices) - 1 - row].variable, indices[: len(indices) - 1 - row]
            if any(variable in list(self._variables_in(each)) for each in others):
                break
            row += 1
        return row

    def _combination(
        self, name: str, key: Scalar, value: object, indices: tuple[_Index, ...], row: int
    ) -> Iterator[_Written]:
        if not isinstance(value, MappingNode):
            message = f"several terms may belong to one place of '{name}': say how they are combined"
            self.entry.report(key.span, message, f"{key.value}: {EXAMPLE}")
            return
        given = [each for each in value.keys if each.value in COMBINATIONS]
        self.entry.known_keys(value, (*COMBINATIONS, EMPTY), where=key.value)
        if len(given) != 1:
            if all(each.value in (*COMBINATIONS, EMPTY) for each in value.keys):
                self.entry.report(value.span, "one of sum, prod, max, min and mean combines the terms", EXAMPLE)
            return
        term = self.entry.text(value, given[0].value)
        empty_text = self.entry.text(value, EMPTY)
        empty = None if empty_text is None else number_of(self.entry, empty_text)
        if term is not None:
            yield _Written(name, key, indices, given[0].value, term, empty, row)

    # ---- expressions

    def _term(self, written: _Written) -> Result | None:
        tree = self.expression(written.term)
        if tree is None:
            return None
        tree = self._same(tree)
        try:
            known = type_of(tree, dict(self._dtypes(tree)))
        except ExpressionError:
            return self._of(written, tree)  # which is reported where it is checked
        counts = known.dtype.is_bool and written.combination not in ("max", "min")
        if counts or (known.weak and known.dtype.is_integer):
            tree = Name(self.atoms.name(Integer(tree)))  # an integer, which is of no dtype of a tensor
        return self._of(written, tree)

    def _of(self, written: _Written, tree: Expr) -> Result:
        return Result(tree, written.term, written.name, self.dtypes.get(written.name))

    def _dtypes(self, tree: Expr) -> Iterator[tuple[str, DType]]:
        """The kinds of the names in an expression, in any of the dtypes that it is computed in."""
        for name in names(tree):
            atom = self.atoms.named.get(name)
            if isinstance(atom, Fold) and atom.reduction in ("any", "all"):
                yield name, BOOL
            else:
                is_real = isinstance(atom, (Read, Fold)) or name in [each.name for each in self.entry.scalars]
                yield name, FLOAT64 if is_real else INT64

    def _index(self, index: _Index) -> Result | None:
        tree = self.expression(index.text)
        return None if tree is None else Result(self._same(tree), index.text, "")

    def _check_integers(self, body: Compute) -> None:
        env = body.env({each.name: FLOAT64 for each in self.entry.scalars}, FLOAT64)
        for index in (index for each in body.places for index in each.indices):
            found = self.entry.located(index.source, lambda _, index=index: type_of(index.tree, env))  # type: ignore[misc]
            if found is not None and not found.dtype.is_integer:
                message = f"a place is an integer, and this is {found.dtype}"
                self.entry.report(index.source.span, message, "int(x) drops the fraction, int(floor(x)) rounds down")

    def _check_inside(self, body: Compute) -> None:
        """A place that is made of variables alone must be sure to be inside, or `outside` says what it means."""
        for places in body.places:
            if self._rule_text(places.place.name) is not None:
                continue
            for index, size in zip(places.indices, places.sizes, strict=True):
                known = body.index(index.tree)
                if known.affine is not None and known.plain is None and not is_below(body, index.tree, size):
                    message = f"the place '{index.source.value}' cannot be proven to lie inside"
                    help = f"outside: {{{places.place.name}: skip}}, nearest, wrap, reflect or error"
                    self.entry.report(index.source.span, message, help)

    # ---- places

    def _places(self, written: _Written, indices: tuple[Result, ...], sizes: Mapping[str, Size]) -> Places | None:
        found = [self._size_of(each, sizes) for each in written.indices]
        extents = [each for each in found if each is not None]
        if len(extents) < len(found):
            return None
        rule = self._rule_of(written.name)
        place: Expr = ZERO
        tests: list[Expr] = []
        leading = list(zip(written.indices, indices, extents, strict=True))[: len(indices) - written.row]
        for index, result, extent in leading:
            size = Literal(int(extent.value)) if hasattr(extent, "value") else Name(uniform_name(extent, self.uniforms))
            tree = result.tree
            if index.variable is None and rule in (Border.NEAREST, Border.WRAP, Border.REFLECT):
                tree = led(tree, size, rule)
            elif index.variable is None:
                tests += [Apply("ge", (tree, ZERO)), Apply("lt", (tree, size))]
            place = total(product(place, size), tree)
        for test in reversed(tests):
            place = Apply("where", (test, place, Literal(SKIPPED if rule is Border.SKIP else OUTSIDE)))
        place = Name(self.atoms.name(Integer(place))) if isinstance(place, Literal) else place
        return Places(
            combination=written.combination,
            place=Result(place, written.term, written.name),
            indices=indices,
            sizes=tuple(extents),
            row=written.row,
            empty=written.empty,
            span=written.key.span,
        )

    def _size_of(self, index: _Index, sizes: Mapping[str, Size]) -> Geometry | None:
        if index.variable is not None:
            size = sizes[index.variable]
            return size.geometry or size_of(size.tensor, size.dim)
        node = self.node.get("size")
        if not isinstance(node, MappingNode) or index.text.value not in node:
            message = f"the number of positions of '{index.text.value}' is not known"
            self.entry.report(index.text.span, message, f"size: {{'{index.text.value}': ...}}")
            return None
        text = self.entry.text(node, index.text.value)
        return None if text is None else self.geometry(text, INT64)

    def _rule_of(self, name: str) -> Border:
        """Return the rule for a place outside of the result."""
        text = self._rule_text(name)
        words = {each.value: each for each in Border}
        if text is not None and text.value not in words and isinstance(self.node.get("outside"), MappingNode):
            self.entry.report(text.span, f"unknown rule '{text.value}' for places", suggest(text.value, tuple(words)))
        return Border.ERROR if text is None else words.get(text.value, Border.ERROR)

    def _rule_text(self, name: str) -> Scalar | None:
        node = self.node.get("outside")
        return self.entry.text(node, name) if isinstance(node, MappingNode) else self.entry.text(self.node, "outside")


def _split(key: Scalar, start: int, stop: int) -> Iterator[Scalar]:
    """The parts between commas that stand in no brackets."""
    depth, begin = 0, start
    for at in range(start, stop + 1):
        letter = key.value[at] if at < stop else ","
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and (depth == 0 or at == stop):
            text = key.value[begin:at]
            if text.strip():
                yield key.part(begin + len(text) - len(text.lstrip()), begin + len(text.rstrip()))
            begin = at + 1
