"""The gradient of an expression over indices: the adjoint of its index maps, which is such an expression again.

Position p of a tensor's gradient gathers from all positions of the result, and all values of variables of reductions,
whose index is p. Each index is solved for one variable, a variable of the result where it has one,

    p = y * stride + i - padding    gives    y = (p + padding - i) / stride    where that leaves no remainder,

and the variables that are left are those of a reduction. Positions outside of the result are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from types import MappingProxyType

from ..dtypes import INT64
from ..expr import Apply, Expr, Literal, Name, names, simplify, substitute
from ..expr.affine import ONE, ZERO, Affine, Index, affine, product, shifted, total, tree_of
from ..expr.atoms import Atom, Atoms, Carrier, Fold, Free, Range, Read
from ..expr.geometry import Geometry
from ..expr.indexed import conjuncts
from ..expr.typed import Arg, Const
from .compute import BATCH, Border, Compute, Outside, Size, following, size_of, uniform_name
from .paths import EXTREMA, NoAdjointError, Path, UnsolvedIndexError, grad_name
from .skipping import all_of, inside, read_for, skipping
from .unrolled import unrolled

_POSITION = "_n"
"""The index of the dimensions in front, where they are one."""
_TO = ("_p{}", "_q{}")
"""The index variables of gradients, and of gradients of gradients."""
_OUTER = "_o{}"
"""The variables of sums over elements of `grad`."""
_ONCE = Range("_one", ZERO, ONE)


@dataclass(frozen=True)
class _Term:
    """The term of one path: the sum of `grad` times a derivative over ranges, where conditions hold, times a number."""

    grad: Read
    derivative: Expr
    ranges: tuple[Range, ...]
    tests: tuple[Expr, ...]
    factor: Expr


class Adjoint:
    """The gradient by a tensor, of `grad` by the only result, which gathers the terms of the paths that are added.

    With `tests`, the conditions that extrema have chosen an element, it gathers all terms: where data says to which
    element a term belongs, from all positions, those that are led here.
    """

    def __init__(self, body: Compute, target: str, tests: Mapping[Fold, Expr] | None = None) -> None:
        self.old = body
        self.target = target
        self.tests = tests
        self.grad = grad_name(body)
        self.to = _to(body)
        self.atoms = Atoms()
        self.carrier = Carrier(body.atoms, self.atoms, self._placed)
        self.flat = body.batched and not body.is_batched(target)
        """True if the dimensions in front are summed, so that they are one dimension with an index."""
        self.opened = target in body.flat
        """True if the dimensions in front are those of the gradient, so that they are several again."""
        self.solved: dict[str, Expr] = {}
        self.uniforms: dict[str, Geometry] = dict(body.uniforms)
        self.terms: list[_Term] = []
        self.partial: set[str] = set()
        """The positions that are not all an index of what is read: a range may be shorter than the dimension."""

    def add(self, path: Path) -> None:
        """Adds the term of a path. Raises UnsolvedIndexError where its variables do not follow from the position."""
        self.terms.append(self._contribution(path))

    def body(self) -> Compute | None:
        """The sum of the terms; None: there are none."""
        if not self.terms:
            return None
        rank = self.old.tensors[self.target]
        tree = _total(self._summed())
        sizes = tuple((self.to.format(dim), self._size(dim - rank)) for dim in range(self.opened, rank))
        result = replace(self.old.results[0], tree=tree, name="value")
        made = following(self.old, (result,), self.atoms, sizes, self.uniforms, self.grad)
        made = replace(
            made,
            batched=self.opened or (self.old.batched and not self.flat),
            outside=MappingProxyType({**made.outside, self.grad: Border.SKIP}),
            flat=frozenset(filter(self._is_flat, made.tensors)),
        )
        rules = {each: _rule(made, each) for each in _leaving(made, self.partial)}
        made = replace(made, outside=MappingProxyType({**made.outside, **rules}))
        return unrolled(made, loosely=True)

    def _is_flat(self, tensor: str) -> bool:
        if self.flat:
            return tensor == self.grad or self.old.is_batched(tensor)
        return tensor in self.old.flat and not self.opened

    # ---- integers of the call

    def _size(self, dim: int) -> Size:
        """The size of a dimension of the gradient: that of one of `grad`, where they have the same index."""
        if (self.target, dim) in self.old.exact:
            return Size(Const(INT64, self.old.exact[self.target, dim]))
        for place, (_, size) in enumerate(self.old.variables):
            if self.old.dimension(size) == (self.target, dim):
                return Size(None, self.grad, place - len(self.old.variables))
        return Size(size_of(self.target, dim))

    def _uniform(self, geometry: Geometry) -> Expr:
        return Name(uniform_name(geometry, self.uniforms))

    # ---- one path

    def _contribution(self, path: Path) -> _Term:
        extrema = [fold for fold in path.folds if fold.reduction in EXTREMA]
        if extrema and self.tests is None:
            raise UnsolvedIndexError("which element a reduction has chosen does not follow from its index")
        ranges = {each.name: each for fold in path.folds for each in fold.ranges}
        conditions = [each for fold in path.folds for each in conjuncts(fold.condition)]
        conditions += [self.tests[fold] for fold in extrema] if self.tests else []
        conditions += self._left_out(path, conditions)
        solved, kept, more = self._solved(path.read, ranges, conditions)
        self.solved = self._shifted(path.read, _closed(solved), kept)
        free = [name for name in self.old.names if name not in self.solved]
        bounds = [Range(_POSITION, ZERO, self._batch())] if self.flat else []
        bounds += [Range(name, ZERO, self._extent(name)) for name in free]
        bounds += [
            Range(name, self._carried(each.first), self._carried(each.stop))
            for name, each in ranges.items()
            if name not in self.solved
        ]
        bounds = self._ordered([*bounds, *more])
        tests = [self._carried(each) for each in kept]
        carried = self._carried(path.derivative)
        variables = {each.name for each in bounds} | self.atoms.named.keys()
        factor, derivative = _split(carried, lambda tree: not names(tree).isdisjoint(variables))
        return _Term(self._grad(), derivative, tuple(bounds) or (_ONCE,), tuple(tests), factor)

    def _left_out(self, path: Path, conditions: Sequence[Expr]) -> list[Expr]:
        """The conditions that elements are inside without which terms are left out, but for those that are read."""
        read = {path.read, *read_for(self.old.atoms, path.derivative, *conditions)}
        folds = [fold for fold in path.folds if fold.reduction not in EXTREMA]
        needed = dict.fromkeys(each for fold in folds for each in skipping(self.old, fold) if each not in read)
        return [each for needs in needed for each in inside(self.old, needs, self.uniforms)]

    def _summed(self) -> Iterator[Expr]:
        """The sums of the terms. Those of the same elements of `grad` are one sum, in which what they have in common is
        computed once."""
        groups: dict[object, list[tuple[_Term, _Term]]] = {}
        for place, term in enumerate(self.terms):
            nested = self._nested(term)
            key = place if nested is None else (nested.grad, nested.ranges, nested.tests)
            groups.setdefault(key, []).append((term, nested or term))
        for found in groups.values():
            first, nested = found[0]
            if len(found) > 1:
                products = [simplify(Apply("mul", (each.derivative, each.factor))) for _, each in found]
                first = replace(nested, derivative=_total(products), factor=ONE)
            yield self._sum(first)

    def _nested(self, term: _Term) -> _Term | None:
        """The term as a sum over the variables that elements of `grad` depend on, with names of their own, of sums over
        the others; None where an element that is left out would leave out what is added to it."""
        free = Free(self.atoms.named)
        ranges = {each.name: each for each in term.ranges}
        outer = set(free(*term.grad.indices)) & ranges.keys()
        for each in reversed(term.ranges):
            outer |= free(each.first, each.stop) & ranges.keys() if each.name in outer else set()
        inner = tuple(each for each in term.ranges if each.name not in outer)
        tests = {each: free(each).isdisjoint(ranges.keys() - outer) for each in term.tests}
        derivative = term.derivative
        if inner:
            within = all_of([each for each, is_outer in tests.items() if not is_outer])
            known = ranges.keys() - outer
            factor, rest = _split(derivative, lambda tree: not free(tree).isdisjoint(known))
            derivative = simplify(Apply("mul", (Name(self.atoms.name(Fold("sum", rest, inner, within))), factor)))
        if any(self.old.outside.get(each.tensor) is Border.SKIP for each in read_for(self.atoms.named, derivative)):
            return None
        values: dict[str, Expr] = {}
        own: list[Range] = []
        for each in (each for each in term.ranges if each.name in outer):
            name = _OUTER.format(len(own))
            own.append(Range(name, *(self.atoms.substituted(bound, values) for bound in (each.first, each.stop))))
            values[each.name] = Name(name)
        return _Term(
            replace(term.grad, indices=tuple(self.atoms.substituted(each, values) for each in term.grad.indices)),
            self.atoms.substituted(derivative, values),
            tuple(own) or (_ONCE,),
            tuple(self.atoms.substituted(each, values) for each, is_outer in tests.items() if is_outer),
            term.factor,
        )

    def _sum(self, term: _Term) -> Expr:
        value = simplify(Apply("mul", (Name(self.atoms.name(term.grad)), term.derivative)))
        tests = [each for each in term.tests if not self._is_skipped(each, term.derivative)]
        summed: Expr = Name(self.atoms.name(Fold("sum", value, term.ranges, all_of(tests))))
        return summed if term.factor == ONE else simplify(Apply("mul", (summed, term.factor)))

    def _is_skipped(self, test: Expr, derivative: Expr) -> bool:
        """Return True if it is the condition that a position is inside without whose element the term is left out."""
        if not isinstance(test, Apply) or test.function != "lt":
            return False
        place, stop = test.args
        size = self.uniforms.get(stop.name) if isinstance(stop, Name) and isinstance(place, Name) else None
        found = None if size is None or str(place) not in self.partial else self.old.size_of(size)
        return found is not None and any(
            each.tensor == found[0] and each.indices[found[1]] == place and self._may_skip(each.tensor)
            for each in read_for(self.atoms.named, derivative)
        )

    def _may_skip(self, tensor: str) -> bool:
        known = self.old.outside.get(tensor, Border.ERROR) in (Border.ERROR, Border.SKIP)
        return known and tensor not in self.old.optional

    def _ordered(self, bounds: list[Range]) -> list[Range]:
        """Ranges behind those on whose variables they depend, where variables of the old body have been solved."""
        free = Free(self.atoms.named)
        found: list[Range] = []
        while bounds:
            waiting = {each.name for each in bounds}
            ready = next((each for each in bounds if not free(each.first, each.stop) & waiting), None)
            if ready is None:
                listed = " and ".join(sorted(waiting))
                raise NoAdjointError(f"the ranges of {listed} depend on each other in the gradient")
            bounds = [each for each in bounds if each is not ready]
            found.append(ready)
        return found

    def _batch(self) -> Expr:
        return self._uniform(Arg(INT64, BATCH))

    def _extent(self, name: str) -> Expr:
        """The number of positions of a variable of the result: the size of `grad`."""
        number = dict(self.old.variables)[name].number
        if number is not None:
            return Literal(number)
        return self._uniform(size_of(self.grad, self.old.names.index(name) - len(self.old.names)))

    def _grad(self) -> Read:
        indices = tuple(self._carried(Name(name)) for name in self.old.names)
        placed = self._placed_atom(Read(self.grad, indices, self.old.batched))
        assert isinstance(placed, Read)
        return placed

    def _placed(self, atom: Atom) -> Expr:
        return Name(self.atoms.name(self._placed_atom(atom)))

    def _placed_atom(self, atom: Atom) -> Atom:
        """An atom of the old body, in which elements may have their dimensions in front as one or as several."""
        if isinstance(atom, Read) and self.opened and atom.tensor in self.old.flat:
            atom = replace(atom, indices=atom.indices[1:], batched=True)
        elif isinstance(atom, Read) and self.flat and atom.batched:
            atom = replace(atom, indices=(Name(_POSITION), *atom.indices), batched=False)
        return replace(atom, indices=tuple(map(self._shortened, atom.indices))) if isinstance(atom, Read) else atom

    def _shortened(self, tree: Expr) -> Expr:
        """The index, in which numbers of steps there and back are none."""
        uniform = frozenset(self.uniforms)
        found = affine(tree, names(tree) - uniform - self.atoms.named.keys(), uniform)
        short = tree if found is None else tree_of(found)
        return short if _length(short) < _length(tree) else tree

    def _carried(self, tree: Expr) -> Expr:
        """An expression of the old body in terms of positions of the gradient and of the variables that are left."""
        return self.carrier(tree, self.solved)

    # ---- solving

    def _solved(
        self, read: Read, ranges: Mapping[str, Range], conditions: list[Expr]
    ) -> tuple[dict[str, Expr], list[Expr], list[Range]]:
        """The variables that follow from the position, the conditions that are left, and further ranges."""
        rule = self.old.outside.get(read.tensor)
        if rule in (Border.NEAREST, Border.WRAP, Border.REFLECT):
            raise UnsolvedIndexError(f"several indices of '{read.tensor}' lead to one element")
        indices = [self.old.index(each) for each in read.indices]
        solved: dict[str, Expr] = {}
        more: list[Range] = []
        kept = list(conditions)
        for dim in sorted(range(len(indices)), key=lambda dim: indices[dim].plain is None):
            index, place = indices[dim], Name(self.to.format(dim))
            affine = index.affine
            covers = self._covers(read, dim)
            if not covers:
                self.partial.add(place.name)
            if affine is None:
                if self.tests is None:
                    raise UnsolvedIndexError(f"an index of '{read.tensor}' cannot be solved for a variable")
                continue  # which is a condition, unless it is a variable and a number of the other ones
            goal = self._goal(index, place, kept, more)
            free = [name for name in affine.variables if name not in solved]
            if not free:
                kept.append(Apply("eq", (tree_of(affine), goal)))
                continue
            chosen = self._chosen(free, ranges)
            solved[chosen] = self._solution(affine, chosen, goal, kept)
            if chosen in ranges and not covers:
                if ranges[chosen].first != ZERO or index.plain is None:
                    kept.append(Apply("ge", (Name(chosen), ranges[chosen].first)))
                kept.append(Apply("lt", (Name(chosen), ranges[chosen].stop)))
        return solved, kept, more

    def _covers(self, read: Read, dim: int) -> bool:
        """Return True if the index is a variable whose values are all positions of the dimension."""
        place, tree = (read.tensor, dim - len(read.indices)), read.indices[dim]
        plain, ends, exact = self.old.index(tree).plain, self.old.ends(tree), self.old.exact.get(place)
        if plain is None or (plain in self.old.ranges and self.old.ranges[plain].first != ZERO):
            return False
        return self.old.is_inside(read, dim) if ends is None or exact is None else ends == (0, exact - 1)

    @staticmethod
    def _chosen(free: Sequence[str], ranges: Mapping[str, Range]) -> str:
        """The variable that an index is solved for: one of the result, unless bounds of another one depend on it."""
        bounds = [bound for name in free if name in ranges for bound in (ranges[name].first, ranges[name].stop)]
        bound = frozenset[str]().union(*map(names, bounds))
        order = [*(name for name in free if name not in ranges), *(name for name in reversed(free) if name in ranges)]
        return next((name for name in order if name not in bound), free[0])

    def _shifted(self, read: Read, solved: dict[str, Expr], kept: list[Expr]) -> dict[str, Expr]:
        """The solutions with those of indices that are made of data: j - weight[i] is solved for j where i is known.
        Others are conditions."""
        free = Free(self.old.atoms)
        for dim, tree in enumerate(read.indices):
            if self.old.index(tree).affine is not None:
                continue
            place = Name(self.to.format(dim))
            found = shifted(tree, frozenset(self.old.names) - solved.keys())
            if found is None or not free(found[1]) & self.old.all_variables <= solved.keys():
                kept.append(Apply("eq", (tree, place)))
            else:
                solved = {**solved, found[0]: _without(place, self.carrier(found[1], solved))}
        return solved

    def _goal(self, index: Index, place: Expr, kept: list[Expr], more: list[Range]) -> Expr:
        """Return the value that the sum of an index must have: the position, or one of those that are rounded down to
        it."""
        if index.divisor == ONE or index.affine is None:
            return place
        exact = [each for each in kept if _is_divisible(each, index.divisor)]
        if exact:
            kept.remove(exact[0])
            return product(place, index.divisor)
        name = f"_t{len(more)}"
        more.append(Range(name, ZERO, index.divisor))
        return total(product(place, index.divisor), Name(name))

    def _solution(self, affine: Affine, chosen: str, goal: Expr, kept: list[Expr]) -> Expr:
        others = Affine(tuple(each for each in affine.factors if each[0] != chosen), affine.rest)
        rest, factor = tree_of(others), affine.factor(chosen)
        negated = _negated(factor)
        numerator, factor = (_without(goal, rest), factor) if negated is None else (_without(rest, goal), negated)
        if factor == ONE:
            return numerator
        kept.append(Apply("eq", (Apply("remainder", (numerator, factor)), ZERO)))
        return Apply("floor_divide", (numerator, factor))


def _to(body: Compute) -> str:
    return _TO[body.names[:1] == (_TO[0].format(0),)]


def positions(body: Compute) -> tuple[str, ...]:
    """The variables of the gradient by a tensor of as many dimensions as the results have."""
    return tuple(map(_to(body).format, range(len(body.names))))


def _length(tree: Expr) -> int:
    return 1 + sum(map(_length, tree.children))


def _negated(factor: Expr) -> Expr | None:
    """Return the factor without its minus sign, or None where none is written; divisors are positive."""
    if isinstance(factor, Literal) and factor.value < 0:
        return Literal(-int(factor.value))
    return factor.args[0] if isinstance(factor, Apply) and factor.function == "neg" else None


def _without(goal: Expr, rest: Expr) -> Expr:
    """The difference, a sum where a negative number is taken away."""
    if isinstance(rest, Literal) and rest.value < 0:
        return Apply("add", (goal, Literal(-int(rest.value))))
    if isinstance(rest, Apply) and rest.function == "neg":
        return Apply("add", (goal, rest.args[0]))
    return goal if rest == ZERO else Apply("sub", (goal, rest))


def is_identity(body: Compute, tensor: str) -> bool:
    """Return True if each element of an adjoint is the element of the tensor at the same place, and there are as
    many."""
    tree = body.results[0].tree
    fold = body.atoms.get(tree.name) if isinstance(tree, Name) else None
    if (
        not isinstance(fold, Fold)
        or fold.condition is not None
        or (fold.ranges[0].first, fold.ranges[0].stop) != (ZERO, ONE)
    ):
        return False
    read = body.atoms.get(fold.value.name) if isinstance(fold.value, Name) else None
    sizes = [Size(None, tensor, dim - len(body.names)) for dim in range(len(body.names))]
    alike = isinstance(read, Read) and read.tensor == tensor and read.indices == tuple(map(Name, body.names))
    return alike and len(fold.ranges) == 1 and [size for _, size in body.variables] == sizes and not body.flat


def _total(trees: Iterable[Expr]) -> Expr:
    return reduce(lambda left, right: Apply("add", (left, right)), trees)


def _rule(body: Compute, tensor: str) -> Outside:
    """The rule for elements that count for nothing. Of a tensor that may be absent all are zero then, which leaves out
    no term."""
    return 0.0 if tensor in body.optional else Border.SKIP


def _leaving(body: Compute, partial: Collection[str]) -> Iterator[str]:
    """Tensors whose elements are read where positions of the result, whose terms are left out, have none: what was
    inside for all others has been found out before."""
    for read, dim in body.checked():
        index = body.index(read.indices[dim])
        may_leave = index.affine is not None and (index.plain is None or index.plain in partial)
        if may_leave and body.outside.get(read.tensor) in (None, Border.ERROR):
            yield read.tensor


def _closed(solved: dict[str, Expr]) -> dict[str, Expr]:
    """Solutions in which no solved variable occurs."""
    for _ in solved:
        solved = {
            name: substitute(each, solved) if names(each) & solved.keys() else each for name, each in solved.items()
        }
    return solved


def _is_divisible(tree: Expr, divisor: Expr) -> bool:
    """Return True if it is the condition that a division by the divisor leaves no remainder."""
    if not isinstance(tree, Apply) or tree.function != "eq" or tree.args[1] != ZERO:
        return False
    left = tree.args[0]
    return isinstance(left, Apply) and left.function == "remainder" and left.args[1] == divisor


def _split(tree: Expr, varies: Callable[[Expr], bool]) -> tuple[Expr, Expr]:
    """A factor that does not vary, and the rest of a product."""
    if not varies(tree):
        return tree, ONE
    if isinstance(tree, Apply) and tree.function == "neg":
        factor, rest = _split(tree.args[0], varies)
        return (ONE, tree) if factor == ONE else (simplify(Apply("neg", (factor,))), rest)
    if isinstance(tree, Apply) and tree.function in ("mul", "div"):
        left, right = tree.args
        if not varies(right):
            factor, rest = _split(left, varies)
            return simplify(Apply(tree.function, (factor, right))), rest
        if tree.function == "mul" and not varies(left):
            factor, rest = _split(right, varies)
            return simplify(Apply("mul", (factor, left))), rest
    return ONE, tree
