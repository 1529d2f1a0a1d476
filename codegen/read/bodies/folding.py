"""`reduce` and `scan` with a state of several values: `state`, how elements change it, and the results."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

from ...expr import names, substitute
from ...model.folding import OTHER, Folding
from ...model.operator import Expression, Family
from ...model.ordered_rows import OrderedFolding
from ...source import Mapping, Scalar
from ..fields import Entry, Fields, lacks
from ..reserved import argument_reason
from .line_order import SORTED, Order, OrderedLocals
from .row_elements import only_positions
from .shared import Locals, conditions, own_dtypes, report_unused

_KEYS = {
    "reduce": ("state", "map", "let", "combine", "finalize", "dtype"),
    "reduce in order": ("order", SORTED, "state", "let", "next", "finalize", "dtype"),
    "scan": ("order", SORTED, "state", "let", "next", "value", "dtype"),
}
_EXAMPLES = {
    "reduce": "reduce: {state: {t: 0}, map: {t: self}, combine: {t: t + other_t}, finalize: t}",
    "reduce in order": "reduce: {order: sequential, state: {t: 0}, next: {t: t + self}, finalize: t}",
    "scan": "scan: {order: sequential, state: {y: self}, next: {y: y + 0.1 * (self - y)}, value: y}",
}
_SEQUENTIAL = "sequential"


def is_folding(fields: Fields, key: str) -> bool:
    """Return True if the body is a reduction or a scan of this kind."""
    node = fields.node.get(key) if key in _KEYS else None
    return isinstance(node, Mapping) and ("state" in node or "order" in node)


def read(entry: Entry) -> Folding | None:
    """Read a reduction or scan with a state; None: there is a mistake, which is reported."""
    key = "scan" if "scan" in entry.node else "reduce"
    node = entry.node.get(key)
    assert isinstance(node, Mapping)
    before = len(entry.diagnostics)
    reader = _Reader(entry, key, node)
    folding = reader.read() if len(entry.diagnostics) == before else None
    if folding is None or len(entry.diagnostics) > before:
        return None
    trees = [each.tree for each in folding.expressions]
    report_unused(entry, key, (*entry.tensors, *entry.scalars), frozenset().union(*map(names, trees)))
    taken = folding.steps if isinstance(folding, OrderedFolding) else ()
    fixed = {**conditions(entry, trees), **only_positions(entry, taken, folding.expressions)}
    return replace(folding, fixed=MappingProxyType(fixed))


class _Reader:
    def __init__(self, entry: Entry, key: str, node: Mapping) -> None:
        self.entry = entry
        self.node = node
        self.is_scan = key == "scan"
        self.joins = not self.is_scan and "order" not in node
        kind = key if self.is_scan or self.joins else "reduce in order"
        self.change, self.result = "combine" if self.joins else "next", "value" if self.is_scan else "finalize"
        self.numbers = [each.name for each in entry.scalars]
        self.arguments = [*(each.name for each in entry.tensors), *self.numbers]
        entry.known_keys(node, _KEYS[kind], where=kind)
        if not self.joins:
            self._check_order()
        for part in ("state", self.change, self.result, *(("map",) if self.joins else ())):
            if lacks(node, (part,), _KEYS[kind]):
                entry.report(node.span, f"'{key}' with a state needs '{part}'", _EXAMPLES[kind])
        state = entry.mapping(node, "state", "variable to expression")
        self.state = [] if state is None else [*state]
        for word in () if state is None else state.keys:
            reason = _refused(word.value) or ("is there already" if word.value in self.arguments else None)
            if reason is not None:
                entry.report(word.span, f"'{word.value}' {reason}", "rename it")
        self.order = Order(entry, node, self.state)

    def _check_order(self) -> None:
        order = self.entry.text(self.node, "order")
        if order is not None:
            self.entry.known("order", order, (_SEQUENTIAL,))
        elif "order" not in self.node:
            help = "it goes from element to element; 'identity' and 'combine' are for combinations in parts"
            self.entry.report(self.node.span, f"a scan with a state says 'order: {_SEQUENTIAL}'", help)

    def read(self) -> Folding | None:
        before = len(self.entry.diagnostics)
        starts = self._part("state", self._of_elements() if self.is_scan else self._names(self.numbers))
        others = [f"{OTHER}{name}" for name in self.state] if self.joins else []
        within = (
            Locals(self.entry, self.node, [*self.numbers, *self.state, *others], _refused)
            if self.joins
            else OrderedLocals(self.order, self.entry, self.node, [*self.arguments, *self.state], _refused)
        )
        following = self._part(self.change, within)
        element = self._part("map", self._names(self.arguments)) if self.joins else ()
        last = within if self.is_scan else self._names([*self.numbers, *self.state, "count"])
        results = self._results(last)
        within.report_unused()
        own = own_dtypes(self.entry, self.node)
        if len(self.entry.diagnostics) > before:
            return None
        # Results of a scan see the state after the element, `let` the one before it.
        after = {name: each.tree for name, each in zip(self.state, following, strict=True)} | within.trees
        if self.is_scan:
            results = tuple(replace(each, tree=substitute(each.tree, after)) for each in results)
        state = tuple(zip(self.state, starts, strict=True))
        local = tuple(within.given.items())
        return self.order.of(
            Folding(self.is_scan, state, element, following, results, MappingProxyType({}), own, local)
        )

    def _of_elements(self) -> Locals:
        return OrderedLocals(self.order, self.entry, None, self.arguments, _refused)

    def _names(self, known: list[str]) -> Locals:
        return Locals(self.entry, None, known, _refused)

    def _part(self, key: str, known: Locals) -> tuple[Expression, ...]:
        """The expressions of the variables of the state, in their order."""
        owner = self.entry.mapping(self.node, key, "variable to expression")
        if owner is None:
            return ()
        self.entry.known_keys(owner, self.state, "variable", key)
        found = []
        for name in self.state:
            mark = self.node.key(key)
            if name not in owner and mark is not None:
                self.entry.report(mark.span, f"'{key}' has no '{name}'", f"{key}: {{{name}: …}}")
            text = self.entry.text(owner, name)
            found.append(None if text is None else known.expression(text))
        return tuple(each for each in found if each is not None)

    def _results(self, known: Locals) -> tuple[Expression, ...]:
        labels = [result.name or "" for result in self.entry.schema.returns]
        given = self.node.get(self.result)
        if len(labels) == 1:
            texts = [self.entry.text(self.node, self.result)]
        elif isinstance(given, Mapping):
            self.entry.known_keys(given, labels, "result", self.result)
            for label in labels:
                if label not in given:
                    self.entry.report(given.span, f"the result '{label}' has no expression")
            texts = [self.entry.text(given, label) for label in labels]
        else:
            help = f"{self.result}: {{{', '.join(f'{label}: …' for label in labels)}}}"
            self.entry.report(self.node.span, f"the schema has {len(labels)} results, '{self.result}' one", help)
            return ()
        parsed: list[Expression | None] = [None if text is None else _read(known, text, self.is_scan) for text in texts]
        return tuple(each for each in parsed if each is not None)


def _read(known: Locals, text: Scalar, as_written: bool) -> Expression | None:
    return known.parsed(text) if as_written else known.expression(text)


def _refused(name: str) -> str | None:
    return argument_reason(name, Family.FOLD)
