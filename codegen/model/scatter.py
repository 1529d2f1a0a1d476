"""The gradient by a tensor at whose elements no index can be solved for a variable: terms, and where they are added.

An index that is made of data, or that leads several positions to one element at a border, says for each position of the
result, and of the sums that it goes through, to which element its term belongs; and so does the position that a maximum
or a minimum has chosen, the first one of equal values:

    value[t, d]: self[index[t], d]    has terms  grad[t, d]  that are added at  index[t] * self.size(1) + d

Both are expressions over indices, with the variables of the reductions behind those of the result, and a last one for
the elements that an expression reads.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import count
from types import MappingProxyType

from ..dtypes import INT64
from ..expr import Apply, Expr, Literal, Name, names, simplify
from ..expr.affine import ONE, ZERO, product, total
from ..expr.atoms import Atoms, Carrier, Fold, Integer, Range, Read, within
from ..expr.geometry import TARGET, Geometry
from ..expr.indexed import chosen
from ..expr.lower import lower_integers
from ..expr.typed import Arg, Const, replaced
from .compute import Border, Compute, Size, following, size_of, uniform_name
from .led import led
from .paths import EXTREMA, NoAdjointError, Path, grad_name, summed
from .skipping import inside, skipping, without_skipping
from .unrolled import unrolled

_ELEMENT = "_e{}"
"""The variable of the elements that an expression reads, with a number where terms have one already."""


def scattered(body: Compute, target: str, found: Sequence[Path]) -> tuple[Compute, Compute]:
    """The terms of the gradient, of `grad` by the only result, and their places among all elements, for paths through
    the same sums. Raises NoAdjointError."""
    return _Scatter(body, target).bodies(found)


def _is_partial(path: Path) -> bool:
    """Return True if there are positions without a term, or extrema that have chosen nothing."""
    return any(
        fold.condition is not None
        or (fold.reduction in EXTREMA and not all(isinstance(_extent_of(each), Literal) for each in fold.ranges))
        for fold in path.folds
    )


def _extent_of(bounds: Range) -> Expr:
    return bounds.stop if bounds.first == ZERO else Apply("sub", (bounds.stop, bounds.first))


class _Scatter:
    def __init__(self, body: Compute, target: str) -> None:
        self.body = body
        self.target = target
        self.grad = grad_name(body)
        self.element = next(each for each in map(_ELEMENT.format, count()) if each not in body.names)
        self.atoms = Atoms()
        self.carrier = Carrier(body.atoms, self.atoms)
        self.uniforms: dict[str, Geometry] = dict(body.uniforms)
        self.bounded: list[Range] = []
        """The ranges whose bounds depend on other variables: their positions are some of those of a wider range."""
        self.partial = False
        """True if there are terms that count for nothing, whose elements may be outside."""

    def bodies(self, found: Sequence[Path]) -> tuple[Compute, Compute]:
        ranges = self._checked(summed(found[0]))
        sizes = [*self.body.variables, *((each.name, self._size(each)) for each in ranges)]
        if len(found) > 1:
            sizes.append((self.element, Size(Const(INT64, len(found)))))
        first = {each.name: total(Name(each.name), each.first) for each in ranges if each.first != ZERO}
        known = [(path, *self._values(path, first)) for path in found]
        self.partial = bool(self.bounded) or any(map(_is_partial, found))
        terms = chosen(self.element, [self._term(*each) for each in known])
        places = chosen(self.element, [self._position_at(path.read, values) for path, values, _ in known])
        for each in self._within():
            places = Apply("where", (self._carried(each, first), places, ZERO))
        return self._body(terms, sizes, loosely=True), self._body(places, sizes, loosely=False)

    def _checked(self, ranges: tuple[Range, ...]) -> tuple[Range, ...]:
        """The ranges of the terms, whose bounds are the same in the whole call."""
        known: dict[str, tuple[Expr, Expr]] = {name: (ZERO, self._count(size)) for name, size in self.body.variables}
        found = []
        for each in ranges:
            first, stop = self._extreme(each, each.first, known, -1), self._extreme(each, each.stop, known, 1)
            if (first, stop) != (each.first, each.stop):
                self.bounded.append(each)
                stop = Apply("maximum", (first, stop))
            wide = Range(each.name, first, stop)
            known[each.name] = (wide.first, wide.stop)
            found.append(wide)
        return tuple(found)

    def _extreme(self, bounds: Range, tree: Expr, known: Mapping[str, tuple[Expr, Expr]], sign: int) -> Expr:
        """The least (-1) or the greatest (1) value of a bound."""
        if names(tree) <= self.body.uniforms.keys():
            return tree
        index = self.body.index(tree)
        if index.affine is None or index.divisor != ONE:
            raise NoAdjointError(f"the range of '{bounds.name}' depends on other variables")
        result = index.affine.rest
        for name, factor in index.affine.factors:
            if not isinstance(factor, Literal) or name not in known:
                raise NoAdjointError(f"the range of '{bounds.name}' depends on other variables")
            first, stop = known[name]
            last = total(stop, Literal(-1))
            result = total(result, product(last if factor.value * sign > 0 else first, factor))
        return result

    def _count(self, size: Size) -> Expr:
        if size.number is not None:
            return Literal(size.number)
        return Name(uniform_name(size.geometry or size_of(size.tensor, size.dim), self.uniforms))

    def _within(self) -> list[Expr]:
        """The conditions that variables are in their ranges, where these depend on others."""
        conditions: list[Expr] = []
        for each in self.bounded:
            conditions += [Apply("ge", (Name(each.name), each.first)), Apply("lt", (Name(each.name), each.stop))]
        return conditions

    def _values(self, path: Path, first: Mapping[str, Expr]) -> tuple[Mapping[str, Expr], list[Expr]]:
        """Return the values of variables of reductions: those of sums begin with 0, those of extrema follow from the
        positions that these have chosen, which are the second result."""
        values, positions = dict(first), []
        for fold in path.folds:
            if fold.reduction in EXTREMA:
                position = self._position(fold, values)
                positions.append(position)
                inner: Expr = ONE
                for bounds in reversed(fold.ranges):
                    extent = self._carried(_extent_of(bounds), values)
                    if not isinstance(extent, Literal):
                        extent = Apply("maximum", (extent, ONE))  # of an empty range nothing has been chosen
                    place = Apply("remainder", (Apply("floor_divide", (position, inner)), extent))
                    values[bounds.name] = total(place, self._carried(bounds.first, values))
                    inner = product(inner, extent)
        return values, positions

    def _position(self, fold: Fold, values: Mapping[str, Expr]) -> Expr:
        """The position that an extremum has chosen; -1: none."""
        return self.carrier.atom(replace(fold, reduction=f"arg{fold.reduction}"), values)

    def _carried(self, tree: Expr, first: Mapping[str, Expr]) -> Expr:
        """An expression of the old body, with variables that all begin with 0."""
        return self.carrier(tree, first)

    # ---- what is added, and where

    def _term(self, path: Path, values: Mapping[str, Expr], positions: Sequence[Expr]) -> Expr:
        grad = Read(self.grad, tuple(map(Name, self.body.names)), self.body.batched)
        derivative = self._carried(path.derivative, values)
        term = simplify(Apply("mul", (Name(self.atoms.name(grad)), derivative)))
        conditions = [*self._within(), *(each.condition for each in path.folds if each.condition is not None)]
        for each in self._needed(path):
            conditions += inside(self.body, each, self.uniforms)
        tests = [
            *(self._carried(each, values) for each in conditions),
            *(Apply("ge", (each, ZERO)) for each in positions),
        ]
        for test in tests:
            term = Apply("where", (test, term, ZERO))
        return term

    def _needed(self, path: Path) -> Iterable[Read]:
        """The elements that must be inside for the term to count, as no reduction leaves it out."""
        needed = [each for fold in path.folds if fold.reduction not in EXTREMA for each in skipping(self.body, fold)]
        rule = self.body.outside.get(self.target, Border.ERROR)
        if rule is Border.SKIP or not isinstance(rule, Border):
            needed.append(path.read)
        return dict.fromkeys(needed)

    def _position_at(self, read: Read, values: Mapping[str, Expr]) -> Expr:
        """The place in terms of positions of the gradient; a number alone would be one of any dtype."""
        place = self._carried(self._place(read), values)
        place = Name(self.atoms.name(Integer(place))) if isinstance(place, Literal) else place
        if self.partial and self.body.outside.get(self.target, Border.ERROR) is Border.ERROR:
            for each in inside(self.body, read, self.uniforms):  # what is outside counts for nothing
                place = Apply("where", (self._carried(each, values), place, ZERO))
        return place

    def _place(self, read: Read) -> Expr:
        place: Expr = ZERO
        for dim, tree in enumerate(read.indices):
            index = tree if self.body.is_inside(read, dim) else self._led(tree, self._extent(read, dim))
            place = total(product(place, self._extent(read, dim)), index)
        return place

    def _led(self, index: Expr, size: Expr) -> Expr:
        """Return the position to which an index outside leads; what is left out is added as zero somewhere."""
        rule = self.body.outside.get(self.target, Border.ERROR)
        return index if rule is Border.ERROR else led(index, size, rule)

    # ---- sizes

    def _size(self, bounds: Range) -> Size:
        extent = _extent_of(bounds)
        scope = dict.fromkeys(self.uniforms, INT64)
        tree = lower_integers(extent, scope, INT64, TARGET.native)
        return Size(replaced(tree, {Arg(INT64, name): self.uniforms[name] for name in names(extent)}))

    def _extent(self, read: Read, dim: int) -> Expr:
        """The size of a dimension of the tensor, whose shape is an argument of its own."""
        return Name(uniform_name(size_of(self.target, dim - len(read.indices)), self.uniforms))

    def _body(self, tree: Expr, sizes: list[tuple[str, Size]], loosely: bool) -> Compute:
        given = {each.tensor for _, each in within(self.atoms.named, tree) if isinstance(each, Read)}
        known = tuple((name, self._known(size, name, given)) for name, size in sizes)
        result = replace(self.body.results[0], tree=tree, name="value", dtype=None)
        made = following(self.body, (result,), self.atoms, known, self.uniforms, self.grad)
        if self.partial:
            # What is read where variables are not in their ranges, or conditions do not hold, counts for nothing; all
            # else has been read before.
            zeros = {name: 0.0 for name in made.tensors if made.outside.get(name, Border.ERROR) is Border.ERROR}
            made = replace(made, outside=MappingProxyType({**made.outside, **zeros}))
        return unrolled(without_skipping(made), loosely)

    def _known(self, size: Size, name: str, given: set[str]) -> Size:
        """The size of a variable by the tensors that are given."""
        if size.geometry is not None or size.tensor in given:
            return size
        if self.grad in given:
            return Size(None, self.grad, self.body.names.index(name) - len(self.body.names))
        return Size(size_of(size.tensor, size.dim))
