"""`rows`: values that are computed over each row, one after the other, and the results."""

from __future__ import annotations

import re
from dataclasses import replace
from types import MappingProxyType

from ...expr import Expr, ExpressionError, names, substitute
from ...model.operator import MAX_ROW_LETS, MAX_ROW_VALUES, Expression, Extent, Let, Rows
from ...model.ordered_rows import PLACE, RANK, RUNNING, OrderedRows, Running, Taken
from ...source import Mapping, Node, Scalar, Sequence
from ..fields import Entry
from ..reserved import argument_reason
from . import shared
from .row_elements import Lifted, elements_in, only_positions, tree_of
from .shared import conditions, own_dtypes, report_unused

EXAMPLE = "rows: {let: {total: {sum: self}}, value: self / total}"
REDUCTIONS = ("sum", "max", "min")
_RESULTS = tuple(extent.value for extent in Extent)
_SORTED = "sorted"
_KEYS = ("let", _SORTED, *_RESULTS, "per_row", "per_place", "per_piece", "degrees", "dtype")
_CALLED = re.compile(r"\b(sum|max|min|mean)\(([^()]*)\)")
_WORD = re.compile(r"\w+")

_Outputs = tuple[tuple[Extent, Expression], ...]


def read(entry: Entry, node: Mapping) -> Rows | None:
    """Read a body of rows; None: there is a mistake, which is reported."""
    entry.known_keys(node, _KEYS, where="rows")
    before = len(entry.diagnostics)
    reader = _Reader(entry, node)
    lets = reader.lets()
    key = reader.key()
    outputs = reader.outputs()
    _limit(entry, node, sum(let.combine is not None for let in lets), MAX_ROW_VALUES, "reductions")
    _limit(entry, node, len(lets), MAX_ROW_LETS, "names of 'let'")
    degrees = shared.degrees(entry, node, "degrees", len(outputs))
    own = own_dtypes(entry, node)
    if len(entry.diagnostics) > before:
        return None
    if degrees and (len(entry.tensors) > 1 or {extent for extent, _ in outputs} != {Extent.ROW}):
        entry.report(node.span, "'degrees' are for results of rows of one tensor", "leave 'degrees' out")
    body = Rows(lets, outputs, degrees, reader.per_row, reader.per_place, reader.per_piece, own=own)
    has_order = key is not None or reader.uses_order([each.tree for each in body.expressions])
    if reader.per_piece and (has_order or any(reader.per_piece & names(let.expression.tree) for let in lets)):
        entry.report(entry.words("per_piece", node)[0].span, "tensors 'per_piece' are for 'value', without an order")
    if has_order:
        if degrees:
            entry.report(node.span, "'degrees' are for rows without an order", "leave 'degrees' out")
        body = OrderedRows(**vars(body), steps=tuple(reader.steps), key=key)
    trees = [each.tree for each in body.expressions]
    report_unused(entry, "body", (*entry.tensors, *entry.scalars), frozenset().union(*map(names, trees)))
    taken = [step for step in body.steps if isinstance(step, Taken)]
    fixed = {**conditions(entry, trees), **only_positions(entry, taken, body.expressions)}
    return replace(body, fixed=MappingProxyType(fixed))


def _limit(entry: Entry, node: Mapping, count: int, most: int, what: str) -> None:
    if count > most:
        message = f"{count} {what}; the core takes up to {most}"
        entry.report(node.span, message, "write two operators, and a composite that calls both")


class _Reader:
    def __init__(self, entry: Entry, node: Mapping) -> None:
        self.entry = entry
        self.node = node
        tensors = [each.name for each in entry.tensors]
        self.per_row = self._tensors("per_row", tensors)
        self.per_place = self._tensors("per_place", [each for each in tensors if each not in self.per_row])
        self.per_piece = self._tensors(
            "per_piece", [each for each in tensors if each not in self.per_row | self.per_place]
        )
        self.elements = [name for name in tensors if name not in self.per_row]
        if not self.elements and tensors:
            entry.report(
                entry.words("per_row", node)[0].span,
                "no tensor has elements along the rows",
                "leave one out of 'per_row'",
            )
        self.known = ["count", *(each.name for each in entry.scalars), *self.per_row]
        self.broken: set[str] = set()
        self.steps: list[Let | Running | Taken] = []
        self.inlined: dict[str, Expr] = {}
        """Names for expressions of elements, which are replaced by them."""
        arguments = [*tensors, *self.known]
        self.positions = [name for name in (RANK, PLACE) if name not in arguments]
        self.lifted = Lifted(entry, lambda tree: not names(tree).isdisjoint(self.of_elements), self)

    @property
    def of_elements(self) -> list[str]:
        """The names that have a value for each element."""
        return [*self.elements, *self.inlined, *self.positions]

    def __contains__(self, name: object) -> bool:
        node = self.node.get("let")
        return name in (*self.known, *self.of_elements, *(node.keys if isinstance(node, Mapping) else ()))

    def uses_order(self, trees: list[Expr]) -> bool:
        """Return True if expressions use more than values of rows."""
        used = frozenset[str]().union(*map(names, trees))
        return any(not isinstance(step, Let) for step in self.steps) or not used.isdisjoint(self.positions)

    def key(self) -> Expression | None:
        """`sorted`: what elements are put in the order of; it is computed before there is one."""
        node = self.node.get(_SORTED)
        if node is None:
            return None
        found = self._expression(node, Extent.ELEMENT)
        if found is None or not isinstance(node, Scalar):
            return None
        later = {step.name for step in self.steps if not isinstance(step, Let)} | {RANK}.intersection(self.positions)
        for step in self.steps:
            if isinstance(step, Let) and not later.isdisjoint(names(step.expression.tree)):
                later.add(step.name)
        if not later.isdisjoint(names(found.tree)):
            self.entry.report(node.span, "the order would depend on itself: this is known in the order alone")
        return found

    def _tensors(self, key: str, known: list[str]) -> frozenset[str]:
        words = self.entry.words(key, self.node)
        return frozenset(word.value for word in words if self.entry.known("tensor", word, known))

    def lets(self) -> tuple[Let, ...]:
        found: list[Let] = []
        named = self.entry.mapping(self.node, "let", "name to a reduction or an expression")
        for key in named.keys if named is not None else ():
            let = None if named is None else self._let(named, key)
            if let is None:
                self.broken.add(key.value)
            elif isinstance(let, Let):
                found.append(let)
                self.steps.append(let)
                self.known.append(let.name)
            elif isinstance(let, Running):
                self.steps.append(let)
                self.elements.append(let.name)
            else:
                self.inlined[key.value] = let.tree
        return tuple(found)

    def _let(self, named: Mapping, key: Scalar) -> Let | Running | Expression | None:
        entry = self.entry
        reason = argument_reason(key.value, entry.family)
        if reason is not None or key.value in (*self.known, *self.of_elements):
            entry.report(key.span, f"'{key.value}' {reason or 'is there already'}", "rename it")
        node = named.get(key.value)
        called = _CALLED.search(node.value) if isinstance(node, Scalar) else None
        if called is not None and isinstance(node, Scalar):
            reduction = "sum" if called[1] == "mean" else called[1]
            then = ", and then total / count" if called[1] == "mean" else ""
            help = f"a name of its own: total: {{{reduction}: {called[2]}}}{then}"
            entry.report(node.span_at(called.start(), len(called[0])), f"'{called[1]}' is a key, not a function", help)
            return None
        if not isinstance(node, Mapping):
            value = self._expression(node, Extent.ELEMENT)
            if value is None or not names(value.tree).isdisjoint(self.of_elements):
                return value
            return Let(key.value, value, None)
        if "mean" in node:
            entry.report(node.keys[0].span, "unknown reduction 'mean'", "total: {sum: self}, and then total / count")
            return None
        entry.known_keys(node, (*REDUCTIONS, *RUNNING), "reduction")
        if len(node.keys) != 1:
            entry.report(node.span, f"{len(node.keys)} reductions in one variable", "{sum: expression}")
        for reduction in node.keys[:1]:
            value = self._expression(node.get(reduction.value), Extent.ELEMENT)
            if value is not None and reduction.value in REDUCTIONS:
                return Let(key.value, value, reduction.value)
            if value is not None and reduction.value in RUNNING:
                return Running(key.value, value, reduction.value)
        return None

    def outputs(self) -> _Outputs:
        """The results in the order of the schema: by their names, or where they are of one kind by their places."""
        entry, returns = self.entry, self.entry.schema.returns
        given = {extent: node for extent in Extent if (node := self.node.get(extent.value)) is not None}
        if not given:
            entry.report(self.node.span, "'rows' needs 'value', 'results' or 'across'", EXAMPLE)
            return ()
        if len(given) == 1 and not isinstance(next(iter(given.values())), Mapping):
            ((extent, node),) = given.items()
            items = tuple(node) if isinstance(node, Sequence) else (node,)
            if len(items) != len(returns) and all(isinstance(each, Scalar) for each in items):
                message = f"the schema has {len(returns)} results, the body {len(items)}"
                entry.report(entry.name_span, message)
            values = [self._expression(each, extent) for each in items]
            return tuple((extent, value) for value in values if value is not None)
        found: dict[str, tuple[Extent, Expression]] = {}
        labels = [result.name for result in returns if result.name]
        for extent, node in given.items():
            if not isinstance(node, Mapping):
                help = f"{extent.value}: {{{', '.join(f'{label}: …' for label in labels)}}}"
                entry.report(node.span, "several kinds of results are given by their names in the schema", help)
                continue
            entry.known_keys(node, labels, "result", extent.value)
            for key in node.keys:
                if key.value in found:
                    entry.report(key.span, f"the result '{key.value}' has two expressions", "keep one of them")
                value = self._expression(node.get(key.value), extent)
                if value is not None and key.value in labels:
                    found[key.value] = (extent, value)
        keys = [key.value for node in given.values() if isinstance(node, Mapping) for key in node.keys]
        for label in labels:
            if label not in keys:
                entry.report(entry.name_span, f"the result '{label}' has no expression", f"value: {{{label}: …}}")
        if len(labels) != len(returns):
            entry.report(entry.name_span, "results that are given by their names have names", "-> (Tensor a, Tensor b)")
        return tuple(found[label] for label in labels if label in found)

    def _expression(self, node: Node | None, extent: Extent) -> Expression | None:
        """An expression of elements, or of the row alone. Names of other expressions are replaced by these."""
        if not isinstance(node, Scalar):
            span = self.entry.node.span if node is None else node.span
            self.entry.report(span, "'rows' has an expression that is no text", EXAMPLE)
            return None
        if self.broken.intersection(_WORD.findall(node.value)):
            return None  # the definition of such a name has to be corrected first
        tree = self.entry.located(node, lambda text: self._tree(text, node, extent))
        return None if tree is None else Expression(tree, node)

    def _tree(self, text: str, node: Scalar, extent: Extent) -> Expr:
        tree = tree_of(text, (*self.known, *self.of_elements), self.entry.expressions, node)
        stray = next(elements_in(tree, self.of_elements), None) if extent is Extent.ROW else None
        if stray is not None:
            help = f"here are values of the row, such as one under 'let', or an element: {stray.name}[0]"
            raise ExpressionError.at(stray.span, f"unknown name '{stray.name}'", help)
        return self.lifted(substitute(tree, self.inlined), node, self._note)

    def _note(self, taken: Taken) -> None:
        self.steps.append(taken)
        (self.elements if taken.extent is Extent.ELEMENT else self.known).append(taken.name)
