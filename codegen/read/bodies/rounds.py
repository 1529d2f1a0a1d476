"""`compute` with `iterate`: a loop for each position, and the terms of tensors and positions that it uses."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from types import MappingProxyType

from ...dtypes import BOOL, DTYPE_CLASSES, FLOAT64, INT64, DType
from ...expr import Apply, Expr, ExpressionError, Name, names, random, substitute, type_of
from ...expr.atoms import Fold, Free, Integer, Named
from ...expr.lower import Env
from ...model.computation import state_dtypes
from ...model.compute import Compute, Result
from ...model.operator import MAX_OUTPUTS, Elementwise, Expression, Family, Iteration
from ...model.rounds import Rounds
from ...source import Mapping as MappingNode
from ...source import Scalar
from ..fields import Entry
from ..internal import unused
from ..reserved import argument_reason
from . import iterate
from .compute import Reader

KEY = "iterate"
_WAY_OUT = "a recurrence over the rounds, value[n, …] of value[n - 1, …], with last: n"


class RoundsReader(Reader):
    """Reads the loop, and its terms as results of a body."""

    def __init__(self, entry: Entry, node: MappingNode) -> None:
        super().__init__(entry, node)
        self.own = frozenset()
        self.tensors = tuple(each.name for each in entry.tensors)
        self.loop: Iteration | None = None
        self.values: tuple[Result, ...] = ()
        self.terms: dict[Expr, str] = {}
        """The tensors of the loop, by what they are."""
        self.integers: dict[str, str] = {}
        """The names of the call's integers within the loop."""
        self.taken = {each.name for each in entry.schema.arguments}

    def _read(self) -> Compute | None:
        body = super()._read()
        if body is None or self.loop is None:
            return body
        return replace(body, results=self.values, rounds=self._rounds(self.loop, body))

    def _lets(self, owner: MappingNode) -> None:
        super()._lets(owner)
        if owner is not self.node:
            return
        outer = (dict(self.local_lets), dict(self.indexed_lets))
        local = _Names(self)
        self.loop = iterate.read(self.entry, local, self.node, self._bound)
        self.local_lets, self.indexed_lets = {**outer[0], **local.state}, outer[1]
        self.later = dict.fromkeys(self.labels, f"results of earlier positions are those of {_WAY_OUT}")

    def _check_let_is_used(self, owner: MappingNode) -> None:
        super()._check_let_is_used(owner)
        loop = owner.get(KEY)
        if isinstance(loop, MappingNode):
            super()._check_let_is_used(loop)

    def _bound(self, text: Scalar) -> Expression | None:
        tree = self.expression(text)
        if tree is None:
            return None
        tree = self._hoisting(tree)
        if not names(tree) <= {*self.uniforms, *(each.name for each in self.entry.scalars)}:
            help = "a number or an integer of the call; 'while' may end the loop of a position before"
            self.entry.report(text.span, "the bound of a loop is one for all positions", help)
        return Expression(tree, text)

    # ---- terms

    def _parts(self, results: tuple[Result, ...]) -> tuple[Result, ...] | None:
        loop, mark = self.loop, self.node.key(KEY)
        assert mark is not None
        if loop is None:
            return None
        self.taken |= {*loop.names}
        before = len(self.entry.diagnostics)
        self.loop = Iteration(
            tuple((name, self._of_loop(start)) for name, start in loop.state),
            None if loop.proceeds is None else self._of_loop(loop.proceeds),
            self._of_loop(loop.times),
            tuple(map(self._of_loop, loop.following)),
        )
        self.values = tuple(replace(each, tree=self._of_loop(each).tree) for each in results)
        if not self.terms:
            self.entry.report(mark.span, "the loop is the same at all positions", "an element or a position in it")
        elif len(self.terms) > MAX_OUTPUTS:
            message = f"the loop uses {len(self.terms)} values of tensors and positions; the core takes {MAX_OUTPUTS}"
            self.entry.report(mark.span, message, "write two operators")
        if len(self.entry.diagnostics) > before:
            return None
        return tuple(Result(tree, results[0].source, name) for tree, name in self.terms.items())

    def _of_loop(self, expression: Expression) -> Expression:
        tree = self._split(self._hoisting(expression.tree), expression.source)
        self.used |= names(tree)
        return Expression(tree, expression.source)

    def _split(self, tree: Expr, source: Scalar) -> Expr:
        """The expression with names in the place of its largest parts that no round changes."""
        assert self.loop is not None
        changed = Free(self.atoms.named)(tree) & {*self.loop.names}
        if not changed:
            return self._same_in_all_rounds(tree)
        if isinstance(tree, Apply):
            if any(names(each) & changed for each in random.integers(tree)):
                place = (tree.span.origin or source).span_at(tree.span.offset, tree.span.length)
                message = f"a random number of '{min(changed)}', and positions are those that are known before the loop"
                self.entry.report(place, message, _WAY_OUT)
                return tree
            return replace(tree, args=tuple(self._split(each, source) for each in tree.args))
        assert isinstance(tree, Name)
        if tree.name not in self.loop.names:
            atom = self.atoms.named[tree.name]
            if isinstance(atom, Named):
                return self._split(atom.value, source)
            what = {Fold: "a reduction", Integer: "a conversion to an integer"}.get(type(atom), "an element")
            message = f"{what} uses '{min(changed)}', and what is no arithmetic is computed before the loop"
            place = (tree.span.origin or source).span_at(tree.span.offset, tree.span.length)
            self.entry.report(place, message, _WAY_OUT)
        return tree

    def _same_in_all_rounds(self, tree: Expr) -> Expr:
        used = names(tree)
        if used & {*self.atoms.named, *self.variables}:
            if tree not in self.terms:
                self.terms[tree] = unused(f"term{len(self.terms)}", self.taken)
            return Name(self.terms[tree], span=tree.span)
        for name in sorted(used & self.uniforms.keys() - self.integers.keys()):
            self.integers[name] = unused(f"number{len(self.integers)}", self.taken)
        return substitute(tree, {name: Name(self.integers[name]) for name in used & self.integers.keys()})

    # ---- the loop

    def _rounds(self, loop: Iteration, body: Compute) -> Rounds:
        outside = body.env({each.name: FLOAT64 for each in self.entry.scalars}, FLOAT64)
        kinds = {each.name: _kind(each.tree, outside) for each in body.results}
        fixed = {name: kind for name, kind in kinds.items() if kind in (BOOL, INT64)}
        known = {name: fixed.get(name, FLOAT64) for name in kinds} | dict.fromkeys(self.integers.values(), INT64)
        known |= {each.name: FLOAT64 for each in self.entry.scalars}
        starts = {name: start.tree for name, start in loop.state}
        following = dict(zip(loop.names, (each.tree for each in loop.following), strict=True))
        known |= state_dtypes(starts, following, known, FLOAT64)
        own = tuple(self.dtypes.get(each.name) or _own(_kind(each.tree, known)) for each in self.values)
        cases = ((DTYPE_CLASSES["any"], tuple(Expression(each.tree, each.source) for each in self.values)),)
        made = Elementwise(cases, MappingProxyType(fixed), {}, {}, own=own, iterate=loop)
        return Rounds(
            body.results, made, MappingProxyType({self.integers[name]: self.uniforms[name] for name in self.integers})
        )


def _kind(tree: Expr, env: Env) -> DType:
    try:
        return type_of(tree, env).dtype
    except ExpressionError:
        return FLOAT64  # which is reported where the expression is checked


def _own(kind: DType) -> DType | None:
    """The dtype of a result that does not depend on those of tensors: counts of rounds are int64."""
    return BOOL if kind is BOOL else INT64 if kind.is_integer else None


class _Names:
    """The names of expressions over indices, as the reader of loops asks for them."""

    def __init__(self, reader: RoundsReader) -> None:
        self.reader = reader
        self.state: dict[str, Expr] = {}

    @property
    def known(self) -> Collection[str]:
        own = self.reader
        scalars = (each.name for each in own.entry.scalars)
        return {*own.scope, *own.local_lets, *own.indexed_lets, *own.tables, *own.tensors, *own.variables, *scalars}

    def refused(self, name: str) -> str | None:
        return argument_reason(name, Family.COMPUTE)

    def declare(self, state: Iterable[str]) -> None:
        self.state = {name: Name(name) for name in state}
        self.reader.local_lets |= self.state

    def expression(self, text: Scalar) -> Expression | None:
        tree = self.reader.expression(text)
        return None if tree is None else Expression(tree, text)

    def nested(self, owner: MappingNode) -> _Names:
        self.reader._lets(owner)
        return self

    def report_unused(self) -> None:
        """Do nothing: unused names are reported for the whole body at once."""
