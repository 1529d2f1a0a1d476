"""Stretches of a line in which conditions are known.

    first[j] if j < half else second[j - half]        table[j % half]

Where a condition compares the variable of the line with what is the same along the line, the line falls into stretches
in each of which it is true or false; and where a remainder by a number of the call is taken of the variable, into
stretches along which the remainder is the variable itself, less where the stretch begins. The loops of a stretch have
no choice left, and read neighbours.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from types import MappingProxyType

from ..dtypes import INT64
from ..expr import Apply, Expr, Literal, Name
from ..expr.affine import ONE, Affine
from ..expr.atoms import Atoms, Carrier
from ..expr.typed import Const
from .compute import Compute
from .margins import margins

MOST_CONDITIONS = 2
"""The largest number of conditions, as each doubles the text of the kernels."""
_COMPARED = ("lt", "le", "gt", "ge")
_FOLDED = {"logical_and": all, "bitwise_and": all, "logical_or": any, "bitwise_or": any}


@dataclass(frozen=True)
class Condition:
    """A comparison that is true at the positions before the threshold, or at those from it on."""

    tree: Expr
    rest: Affine
    """The opposite of what the variable is compared with, or that itself where the variable has the factor -1."""
    negated: bool
    after: int
    """The number that is added to it."""
    is_before: bool


@dataclass(frozen=True)
class Remainder:
    """`variable % divisor`, which is the variable less the `base` of a stretch."""

    divisor: Expr
    base: str


@dataclass(frozen=True)
class Stretches:
    """The parts of a line along which conditions are constant, with the body of each."""

    conditions: tuple[Condition, ...]
    remainders: tuple[Remainder, ...]
    bodies: tuple[Compute, ...]
    """The bodies by the truth values of the conditions, the last of which changes fastest."""


def stretches(body: Compute, line: str) -> Stretches | None:
    """The stretches of lines along the variable; None: there is nothing that they would tell."""
    if body.folds or body.own:
        return None  # lines of reductions are computed side by side, those of recurrences one element after the other
    trees = _trees(body)
    found = (_condition(body, line, each) for each in trees)
    conditions = tuple(each for each in found if each is not None)[:MOST_CONDITIONS]
    divisors = dict.fromkeys(each.args[1] for each in trees if _is_remainder(body, line, each))
    if margins(body):
        divisors = {}  # copies have room for indices that are bounded before
    remainders = tuple(Remainder(each, f"_base{place}") for place, each in enumerate(divisors))
    if not conditions and not remainders:
        return None
    known = [{condition.tree: truth for condition, truth in zip(conditions, each, strict=True)}
             for each in product((False, True), repeat=len(conditions))]  # fmt: skip
    return Stretches(conditions, remainders, tuple(_told(body, line, each, remainders) for each in known))


def _trees(body: Compute) -> list[Apply]:
    """The applications of functions, in the order in which they are written."""
    waiting = [*(each.tree for each in body.results), *(x for each in body.used.values() for x in each.expressions)]
    waiting.reverse()
    seen: dict[Expr, None] = {}
    while waiting:
        tree = waiting.pop()
        if tree not in seen:
            seen[tree] = None
            waiting += reversed(tree.children)
    return [each for each in seen if isinstance(each, Apply)]


def _leaves(tree: Expr) -> Iterator[Expr]:
    if not tree.children:
        yield tree
    for each in tree.children:
        yield from _leaves(each)


def _condition(body: Compute, line: str, tree: Apply) -> Condition | None:
    numbers = (each for each in _leaves(tree) if isinstance(each, Literal))
    if tree.function not in _COMPARED or any(type(each.value) is not int for each in numbers):
        return None
    affine = body.index(Apply("sub", tree.args)).affine
    factor = None if affine is None else affine.factor(line)
    if affine is None or factor not in (ONE, Literal(-1)) or not {*affine.variables} <= {*body.names}:
        return None
    negated = factor != ONE
    rest = Affine(tuple(each for each in affine.factors if each[0] != line), affine.rest)
    strict, less = tree.function in ("lt", "gt"), tree.function in ("lt", "le")
    # With a factor of -1 the comparison is the one the other way.
    is_before = less != negated
    return Condition(tree, rest, negated, int(strict != is_before), is_before)


def _is_remainder(body: Compute, line: str, tree: Apply) -> bool:
    return (
        tree.function == "remainder"
        and tree.args[0] == Name(line)
        and isinstance(tree.args[1], Name)
        and tree.args[1].name in body.uniforms
    )


def _told(body: Compute, line: str, known: dict[Expr, bool], remainders: tuple[Remainder, ...]) -> Compute:
    values: dict[Expr, Expr] = {tree: Literal(truth) for tree, truth in known.items()}
    for each in remainders:
        values[Apply("remainder", (Name(line), each.divisor))] = Apply("sub", (Name(line), Name(each.base)))

    def finish(tree: Expr) -> Expr:
        if tree in values:
            return values[tree]
        if not isinstance(tree, Apply):
            return tree
        return _folded(Apply(tree.function, tuple(map(finish, tree.args)), span=tree.span))

    atoms = Atoms()
    carrier = Carrier(body.atoms, atoms, finish=finish)
    results = tuple(replace(each, tree=carrier(each.tree, {})) for each in body.results)
    bases = {each.base: Const(INT64, 0) for each in remainders}
    uniforms = MappingProxyType({**body.uniforms, **bases})
    made = replace(
        body, results=results, atoms=MappingProxyType(atoms.named), uniforms=uniforms, bases=frozenset(bases)
    )
    return made.settled()


def _folded(tree: Apply) -> Expr:
    """The expression without choices that are known."""
    truths = [each.value for each in tree.args if isinstance(each, Literal) and isinstance(each.value, bool)]
    if tree.function == "where" and isinstance(tree.args[0], Literal):
        return tree.args[1] if tree.args[0].value else tree.args[2]
    if tree.function in _FOLDED and truths:
        decides = _FOLDED[tree.function] is any
        if decides in truths:
            return Literal(decides)
        return next((each for each in tree.args if each != Literal(not decides)), Literal(not decides))
    if tree.function == "logical_not" and truths:
        return Literal(not truths[0])
    return tree
