"""Small dimensions at the end of results, each position of which has an expression of its own.

The components of a vector and the elements of a small matrix have a number of positions that the entry tells,

    value[..., k]: self[..., (k + 1) % 3] * other[..., (k + 2) % 3] - self[..., (k + 2) % 3] * other[..., (k + 1) % 3]

with k below 3. Such variables are replaced by their positions, and reductions over few numbers by their terms, so that
what is left of indices are numbers; loops then run along a variable, or the dimensions, in front of them.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from itertools import product
from math import prod
from types import MappingProxyType

from ..dtypes import INT64
from ..expr import Apply, Expr, Literal, Name, names, simplify
from ..expr.atoms import Atom, Atoms, Carrier, Fold, Range, Read, within
from ..expr.indexed import chosen
from ..expr.typed import Arg
from .compute import BATCH, Compute, Result, Size
from .skipping import skipping

_MOST_POSITIONS, _MOST_TERMS = 16, 16
"""More are loops: their expressions would not fit into registers."""
_JOINS = {"sum": "add", "prod": "mul", "max": "maximum", "min": "minimum", "any": "logical_or", "all": "logical_and"}
_DIVISIONS = {"remainder": operator.mod, "floor_divide": operator.floordiv}
_INTEGERS: Mapping[str, Callable[..., int]] = {
    **_DIVISIONS,
    **{name: getattr(operator, name) for name in ("add", "sub", "mul", "neg", "eq", "ne", "lt", "le", "gt", "ge")},
}
_EMPTY = {"sum": Literal(0), "prod": Literal(1)}
_ALONG = "_b"
"""The index of the dimensions in front, along which a line runs."""


def unrolled(body: Compute, loosely: bool = False, demands: bool = False) -> Compute:
    """The body with the positions of small variables at the end told apart, by conditions on these variables, and no
    such variable in an index. `loosely`: simplified as derivatives are. `demands`: sizes may be required that the body
    does not require, where numbers are the only indices then; otherwise it is left as it is."""
    sizes = _small(body)
    if not sizes:
        return _with_places(body, simplify if loosely else folded)
    unroller = _Unroller(body, simplify if loosely else folded)
    results = tuple(replace(each, tree=_choice(unroller, each.tree, sizes, {})) for each in body.results)
    made = _with(body, results, unroller.atoms)
    if not demands and made.exact != body.exact:
        return body
    return replace(made, rolled=replace(body, sizes=made.exact)) if _is_affine(body) else made


def _with_places(body: Compute, simpler: Callable[[Expr], Expr]) -> Compute:
    """The body with sums written out in which tables say where elements are: their indices are numbers then."""
    if not any(body.is_placed(each) for each in body.reads.values()):
        return body
    unroller = _Unroller(body, simpler, lambda fold: any(map(body.is_placed, _reads(body, fold))))
    return _with(body, tuple(replace(each, tree=unroller(each.tree, {})) for each in body.results), unroller.atoms)


def _reads(body: Compute, fold: Fold) -> Iterator[Read]:
    return (each for _, each in within(body.atoms, *fold.expressions) if isinstance(each, Read))


def by_position(body: Compute) -> Compute:
    """Return what kernels compute: a result for each position of small variables, which are no variables any more,
    unless sizes would be required then that the body does not require."""
    sizes = _small(body)
    if not sizes:
        return body
    unroller = _Unroller(body, folded)
    places = [dict(zip(sizes, map(Literal, each), strict=True)) for each in product(*map(range, sizes.values()))]
    results = tuple(replace(each, tree=unroller(each.tree, place)) for each in body.results for place in places)
    made = replace(_with(body, results, unroller.atoms), small=tuple(sizes.values()))
    if made.exact != body.exact:
        return body
    made = replace(made, variables=body.variables[: len(body.variables) - len(sizes)])
    return made if made.variables else _along_batch(made)


def _is_affine(body: Compute) -> bool:
    """Return True if all indices are sums of multiples of variables, but those that are made of data."""
    if any(map(body.is_placed, body.reads.values())):
        return False
    indices = (each for read in body.reads.values() for each in read.indices)
    return all(names(each) & body.atoms.keys() or body.index(each).affine is not None for each in indices)


def _small(body: Compute) -> dict[str, int]:
    """The variables at the end with known numbers of positions, few of them, if there is something in front.
    Positions of a recurrence are those of the results that it reads."""
    if body.own:
        return {}
    found: dict[str, int] = {}
    for name, size in reversed(body.variables):
        if size.number is None or not 0 < prod(found.values()) * size.number <= _MOST_POSITIONS:
            break
        found = {name: size.number, **found}
    return found if body.batched or len(found) < len(body.variables) else {}


def _choice(unroller: _Unroller, tree: Expr, sizes: Mapping[str, int], known: Mapping[str, Expr]) -> Expr:
    if not sizes:
        return unroller(tree, known)
    (name, size), *others = sizes.items()
    return chosen(
        name, [_choice(unroller, tree, dict(others), {**known, name: Literal(place)}) for place in range(size)]
    )


def _with(body: Compute, results: tuple[Result, ...], atoms: Atoms) -> Compute:
    return replace(body, results=results, atoms=MappingProxyType(atoms.named)).settled()


def _along_batch(body: Compute) -> Compute:
    """The dimensions in front as one, which is a variable."""
    atoms = Atoms()

    def along(atom: Atom) -> Expr:
        if isinstance(atom, Read) and atom.batched:
            atom = replace(atom, indices=(Name(_ALONG), *atom.indices), batched=False)
        return Name(atoms.name(atom))

    carrier = Carrier(body.atoms, atoms, along)
    results = tuple(replace(each, tree=carrier(each.tree, {})) for each in body.results)
    batched = frozenset(filter(body.is_batched, body.tensors))
    return replace(
        _with(body, results, atoms),
        variables=((_ALONG, Size(Arg(INT64, BATCH))),),
        batched=False,
        over_batch=True,
        flat=batched,
        tensors=MappingProxyType({name: rank + (name in batched) for name, rank in body.tensors.items()}),
    )


class _Unroller(Carrier):
    """Puts numbers in the place of variables."""

    def __init__(
        self, body: Compute, simpler: Callable[[Expr], Expr], expands: Callable[[Fold], bool] = lambda _: True
    ) -> None:
        super().__init__(body.atoms, Atoms(), self._known, lambda tree: simpler(folded(tree)))
        self.body = body
        self.simpler = simpler
        self.expands = expands
        """True if a reduction with few terms is written out."""

    def _known(self, atom: Atom) -> Expr:
        """The atom, or the number of a table whose position is known."""
        table = self.body.tables.get(atom.tensor) if isinstance(atom, Read) else None
        if isinstance(atom, Read) and table is not None:
            places = [int(each.value) for each in atom.indices if isinstance(each, Literal)]
            number = table.at(places) if len(places) == len(atom.indices) else None
            if number is not None:
                return number
        return Name(self.atoms.name(atom), span=atom.span)

    def atom(self, atom: Atom, values: Mapping[str, Expr]) -> Expr:
        terms = self._terms(atom, values) if isinstance(atom, Fold) and atom.reduction in _JOINS else None
        if terms is None:
            return super().atom(atom, values)
        assert isinstance(atom, Fold)
        if not terms:
            return _EMPTY[atom.reduction]
        return self.simpler(reduce(lambda left, right: Apply(_JOINS[atom.reduction], (left, right)), terms))

    def _terms(self, fold: Fold, values: Mapping[str, Expr]) -> list[Expr] | None:
        """The terms of a reduction over few numbers, of which is known whether they are left out."""
        if not self.expands(fold) or next(skipping(self.body, fold), None) is not None:
            return None  # alone, a term that is left out would be one that is read outside
        places = self._places(fold.ranges, values)
        if places is None or len(places) > _MOST_TERMS:
            return None
        terms = []
        for each in places:
            condition = Literal(True) if fold.condition is None else self(fold.condition, each)
            if not isinstance(condition, Literal):
                return None
            if condition.value:
                terms.append(self(fold.value, each))
        return terms if terms or fold.reduction in _EMPTY else None

    def _places(self, ranges: Sequence[Range], values: Mapping[str, Expr]) -> list[Mapping[str, Expr]] | None:
        if not ranges:
            return [values]
        first, stop = (self(each, values) for each in (ranges[0].first, ranges[0].stop))
        if not isinstance(first, Literal) or not isinstance(stop, Literal) or stop.value - first.value > _MOST_TERMS:
            return None
        found: list[Mapping[str, Expr]] = []
        for place in range(int(first.value), int(stop.value)):
            inner = self._places(ranges[1:], {**values, ranges[0].name: Literal(place)})
            if inner is None:
                return None
            found += inner
        return found


def folded(tree: Expr) -> Expr:
    """The tree with integers computed, and conditions decided, that follow from numbers alone."""
    done: dict[Expr, Expr] = {}

    def visit(node: Expr) -> Expr:
        if not isinstance(node, Apply):
            return node
        if node not in done:
            done[node] = _folded(node, tuple(map(visit, node.args)))
        return done[node]

    return visit(tree)


def _folded(tree: Apply, args: tuple[Expr, ...]) -> Expr:
    if tree.function in ("where", "logical_and") and isinstance(args[0], Literal):
        rest = args[1:] if tree.function == "where" else (args[1], Literal(False))
        return rest[0] if args[0].value else rest[1]
    if tree.function == "logical_and" and isinstance(args[1], Literal):
        return args[0] if args[1].value else args[1]
    numbers = [each.value for each in args if isinstance(each, Literal) and type(each.value) is int]
    compute = _INTEGERS.get(tree.function)
    if compute is None or len(numbers) < len(args) or (tree.function in _DIVISIONS and numbers[1] == 0):
        return Apply(tree.function, args, span=tree.span)
    value = compute(*numbers)
    return Literal(value if isinstance(value, bool) else (value + 2**63) % 2**64 - 2**63, span=tree.span)
