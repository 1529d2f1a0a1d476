"""The gradient of a reduction or a scan with a state, as scans with states.

Both go from element to element here: a reduction combines its state with that of each element. A first scan gives the
state before each element; a second one goes backwards, and its state is the adjoint: how the loss depends on the state
after the element that comes next.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from ..dtypes import BOOL, DType
from ..expr import Expr, Literal, Name, apply, derive, names, simplify, substitute
from .accumulation import Accumulation
from .folding import OTHER, Folding
from .parts import End, Expression

COUNT = "count_"
"""The parameter for the length of a line, where the results of a reduction use that."""


def of_one_value(body: Accumulation) -> Folding:
    """A reduction or a scan of one value as one with a state."""
    if isinstance(body.identity, Expression):
        identity = body.identity
    else:
        identity = Expression(Literal(-math.inf if body.identity is End.LOWEST else math.inf), body.combine.source)
    is_scan = body.is_scan
    combine = body.combine if is_scan else _with_other(body.combine)
    element = Expression(Name("self"), body.combine.source)
    value = combine if is_scan else Expression(Name("acc"), body.combine.source)
    if not is_scan:
        element, value = body.map or element, body.finalize or value
    return Folding(
        is_scan=is_scan,
        state=(("acc", identity),),
        element=() if is_scan else (element,),
        following=(combine,),
        results=(value,),
        fixed=MappingProxyType({}),
        own=(None,),
    )


def _with_other(combine: Expression) -> Expression:
    return replace(combine, tree=substitute(combine.tree, {"self": Name(f"{OTHER}acc")}))


def _after(body: Folding) -> dict[str, Expr]:
    """The state after an element."""
    element = {f"{OTHER}{name}": each.tree for name, each in zip(body.names, body.element, strict=False)}
    return {name: substitute(each.tree, element) for name, each in zip(body.names, body.following, strict=True)}


def states(body: Folding, types: Mapping[str, DType]) -> Folding:
    """The scan whose results are the state before each element."""
    source = body.following[0].source
    after = _after(body)
    own = tuple(None if types[name].is_floating else types[name] for name in body.names)
    return replace(
        body,
        is_scan=True,
        element=(),
        following=tuple(Expression(after[name], source) for name in body.names),
        results=tuple(Expression(Name(name), source) for name in body.names),
        own=own,
        local=(),
    )


def adjoint(
    body: Folding, targets: Sequence[str], types: Mapping[str, DType], grads: Mapping[int, str], first: str
) -> Folding:
    """The scan backwards whose results are the gradients by the inputs `targets`. `grads` are the names of the
    gradients of those results that have one, `first` that of an input that is true for the first element of each line.
    Raises ExpressionError where a derivative is not known."""
    source, after = body.following[0].source, _after(body)
    floating = [name for name in body.names if types[name].is_floating]
    adjoints = {name: Name(f"adjoint_{name}") for name in floating}
    results = {Name(grad): body.results[index].tree for index, grad in grads.items()}

    def through(trees: Mapping[str, Expr], factors: Mapping[str, Expr], name: str) -> Expr:
        total: Expr = Literal(0)
        for each, factor in factors.items():
            total = apply("add", total, apply("mul", factor, derive(trees[each], name)))
        return simplify(total)

    def by(name: str) -> Expr:
        total = through(after, adjoints, name)
        if body.is_scan:
            for grad, tree in results.items():
                total = apply("add", total, apply("mul", grad, derive(tree, name)))
        return simplify(total)

    def at_the_end(name: str) -> Expr:
        """Return the derivative of the results of a reduction by its last state."""
        total: Expr = Literal(0.0)
        for grad, tree in results.items() if not body.is_scan else ():
            term = substitute(derive(tree, name), {**after, "count": Name(COUNT)})
            total = apply("add", total, apply("mul", grad, term))
        return simplify(total)

    before = {name: by(name) for name in floating}
    starts = {name: start.tree for name, start in body.state}

    def gradient(target: str) -> Expression:
        found = by(target)
        of_start = through(starts, before, target) if body.is_scan else Literal(0)
        if of_start != Literal(0):
            found = apply("add", found, apply("where", Name(first), of_start, Literal(0)))
        return Expression(found, source)

    return Folding(
        is_scan=True,
        state=tuple((f"adjoint_{name}", Expression(at_the_end(name), source)) for name in floating),
        element=(),
        following=tuple(Expression(before[name], source) for name in floating),
        results=tuple(map(gradient, targets)),
        fixed=MappingProxyType({**body.fixed, first: BOOL}),
        own=(None,) * len(targets),
    )


def used(body: Folding) -> frozenset[str]:
    """Return the names that the expressions of a fold use."""
    return frozenset[str]().union(*(names(each.tree) for each in body.expressions))
