"""Proofs that indices lie inside, whatever the sizes of a call are.

An index is a sum of multiples of variables, and so is what must not be negative: the index itself, and what is left to
the last position. Each variable runs from a first to a last value, which stand for it where its multiple is positive or
negative; inner ranges first, as their bounds are made of outer variables. What is left is made of sizes and integers of
the call, among them quotients: q = e // c is at most e / c and more than e / c - 1.

    size: {y: (n - k) // s + 1}, self[y * s + i] for i in range(k):      n - 1 - (s * ((n - k) // s) + k - 1) >= 0

Nothing is read without a test for the sake of a proof: it says that no rule for elements outside is needed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction

from ..expr import Apply, Expr, Literal, Name, names
from ..expr.affine import tree_of
from ..expr.atoms import Read
from ..expr.geometry import Geometry
from ..expr.typed import Arg, Const, Node, Op
from .compute import Compute, Size, size_of

_Key = str | Apply | Geometry
"""A variable by its name, what is computed of variables, or an integer of the call."""
_Product = frozenset[tuple[_Key, int]]
"""Factors and how often each is one; none: the number 1."""
Sum = Mapping[_Product, Fraction]
"""Products and their multiples."""
_QUOTIENTS_AND_ENDS = ("floor_divide", "remainder", "minimum", "maximum")
_ONE: _Product = frozenset()
_MOST_STEPS = 200


def is_proven(body: Compute, read: Read, dim: int) -> bool:
    """Return True if an index is sure to lie inside wherever its variables have values."""
    if read.tensor in body.own or read.tensor in body.flat:
        return False
    return is_below(body, read.indices[dim], size_of(read.tensor, dim - len(read.indices)))


def is_below(body: Compute, tree: Expr, count: Geometry) -> bool:
    """Return True if an index is sure to be one of so many positions."""
    index = body.index(tree)
    if index.affine is None:
        return False
    prover = _Prover(body)
    place, divisor = prover.of_index(tree_of(index.affine)), prover.of_index(index.divisor)
    if place is None or divisor is None:
        return False
    size = prover.of(count)
    last = _added(_times(divisor, size), {_ONE: Fraction(-1)})
    return prover.is_at_least_zero(place) and prover.is_at_least_zero(_added(last, place, -1))


class _Prover:
    def __init__(self, body: Compute) -> None:
        self.body = body
        self.lets = dict(body.let)
        self.order = [*self._inner_first(), *reversed(body.names)]
        self.least = dict.fromkeys(self._divisors(), 1)
        """The lower bounds of integers of the call: divisors are positive, others as requirements say."""
        self.least |= _bounds(each.check for each in (*body.require, *body.late))
        self.steps = _MOST_STEPS

    def _inner_first(self) -> Iterator[str]:
        """The variables of ranges, each before those that its bounds are made of."""
        waiting = [*self.body.ranges.values()]
        while waiting:
            used = {name for each in waiting for name in names(each.first) | names(each.stop)}
            ready = [each for each in waiting if each.name not in used] or waiting
            yield from (each.name for each in ready)
            waiting = [each for each in waiting if each not in ready]

    # ---- what integers are

    def of_index(self, tree: Expr) -> Sum | None:
        if isinstance(tree, Literal):
            return _number(int(tree.value))
        if isinstance(tree, Name):
            uniform = self.body.uniforms.get(tree.name)
            if uniform is not None:
                return self.of(uniform)
            return {frozenset({(tree.name, 1)}): Fraction(1)} if tree.name in self.body.all_variables else None
        assert isinstance(tree, Apply)
        if tree.function in _QUOTIENTS_AND_ENDS:
            return {frozenset({(tree, 1)}): Fraction(1)}
        parts = [self.of_index(each) for each in tree.children]
        known = [each for each in parts if each is not None]
        return _computed(tree.function, known) if len(known) == len(parts) else None

    def of(self, tree: Geometry) -> Sum:
        """An integer of the call as a sum of products of what is not known."""
        if isinstance(tree, Const):
            return _number(int(tree.value))
        if isinstance(tree, Arg) and tree.name in self.lets:
            return self.of(self.lets[tree.name])
        if isinstance(tree, Op):
            if tree.function in ("add", "sub", "mul", "neg"):
                found = _computed(tree.function, [self.of(each) for each in tree.operands])
                assert found is not None
                return found
            place = self.body.size_of(tree)
            tree = tree if place is None else size_of(*place)
        return {frozenset({(tree, 1)}): Fraction(1)}

    # ---- proofs

    def is_at_least_zero(self, value: Sum) -> bool:
        """Return True if the value is known not to be negative, by replacing unknowns by their lower or upper
        bounds."""
        self.steps -= 1
        if self.steps < 0:
            return False
        if self._is_sum_of_positives(value):
            return True
        for key in self._unknowns(value):
            factor, rest = _split(value, key)
            rises, falls = self._is_sum_of_positives(factor), self._is_sum_of_positives(_scaled(factor, -1))
            for each in self._replaced(key, factor, rises, falls):
                if all(self.is_at_least_zero(_added(found, rest)) for found in each):
                    return True
            if isinstance(key, str):
                return False  # other variables do not help before this one is gone
        return False

    def _unknowns(self, value: Sum) -> list[_Key]:
        """Return the unknowns to replace: what is computed of variables, these in their order, and integers of the
        call."""
        found = dict.fromkeys(key for product in value for key, _ in product)
        variables = [each for each in self.order if each in found]
        computed = [each for each in found if isinstance(each, Apply)]
        return [*computed, *variables, *(each for each in found if not isinstance(each, (str, Apply)))]

    def _replaced(self, key: _Key, factor: Sum, rises: bool, falls: bool) -> Iterator[tuple[Sum, ...]]:
        """Sums that a product with an unknown is at least, each of which suffices alone; of several in one tuple all
        must do."""
        if isinstance(key, str):
            end = self._ends(key)[falls] if rises or falls else None
            if end is not None:
                yield (_times(factor, end),)
            return
        if not isinstance(key, Apply) and key in self.least and rises:
            yield (_scaled(factor, self.least[key]),)
        if not isinstance(key, (Op, Apply)) or key.function not in _QUOTIENTS_AND_ENDS:
            return
        operands = self._operands(key)
        if operands is None:
            return
        if key.function == "floor_divide":
            quotient = _quotient(factor, operands[1])
            if quotient is not None and (rises or falls):
                remainder = _added(operands[1], _number(-1))  # of a positive divisor
                yield (_times(quotient, operands[0] if falls else _added(operands[0], remainder, -1)),)
        elif key.function == "remainder" and (rises or falls):
            yield (_times(factor, _added(operands[1], _number(-1))) if falls else {},)
        elif key.function in ("minimum", "maximum"):
            either = [(_times(factor, each),) for each in operands]
            if falls if key.function == "minimum" else rises:
                yield from either
            else:
                yield tuple(each for both in either for each in both)

    def _operands(self, key: Op | Apply) -> list[Sum] | None:
        found = [self.of(each) if isinstance(each, Node) else self.of_index(each) for each in key.children]
        known = [each for each in found if each is not None]
        return known if len(known) == len(found) else None

    def _ends(self, variable: str) -> tuple[Sum | None, Sum | None]:
        """The first and the last value of a variable, which has values."""
        if variable in self.body.ranges:
            bounds = self.body.ranges[variable]
            first, stop = self.of_index(bounds.first), self.of_index(bounds.stop)
            return first, None if stop is None else _added(stop, _number(-1))
        return {}, _added(self._size(dict(self.body.variables)[variable]), _number(-1))

    def _size(self, size: Size) -> Sum:
        geometry = size_of(size.tensor, size.dim) if size.geometry is None else size.geometry
        if isinstance(geometry, Arg) and geometry.name in self.lets:
            return self._size(Size(self.lets[geometry.name]))
        if isinstance(geometry, Op) and geometry.function == "maximum":
            # There are positions, so it is not the number where that is none.
            others = [each for each in geometry.operands if not (isinstance(each, Const) and each.value <= 0)]
            return self.of(others[0] if len(others) == 1 else geometry)
        return self.of(geometry)

    def _is_sum_of_positives(self, value: Sum) -> bool:
        keys = {key for product, multiple in value.items() for key, _ in product}
        return all(multiple >= 0 for multiple in value.values()) and all(map(self._is_never_negative, keys))

    def _is_never_negative(self, key: _Key) -> bool:
        """Sizes and divisors are not, nor what a requirement says that of."""
        if isinstance(key, str):
            first = self._ends(key)[0]
            return first is not None and all(each >= 0 for each in first.values()) and not first.keys() - {_ONE}
        if isinstance(key, (Op, Apply)) and key.function in _QUOTIENTS_AND_ENDS:
            operands = [{}] if key.function == "remainder" else self._operands(key)
            return operands is not None and all(map(self._is_sum_of_positives, operands))  # divisors are positive
        return not isinstance(key, Apply) and (self.body.size_of(key) is not None or self.least.get(key, -1) >= 0)

    def _divisors(self) -> Iterator[Geometry]:
        """The integers of the call that others are divided by, and the factors of these."""
        waiting = [*self.body.uniforms.values(), *self.lets.values()]
        waiting += [size.geometry for _, size in self.body.variables if size.geometry is not None]
        found = [
            self.of_index(self.body.index(each).divisor) for read in self.body.reads.values() for each in read.indices
        ]
        while waiting:
            tree = waiting.pop()
            if isinstance(tree, Op):
                waiting += tree.operands
                found += [self.of(tree.operands[1])] if tree.function in ("floor_divide", "remainder") else []
        for product in (product for each in found if each is not None and len(each) == 1 for product in each):
            yield from (key for key, _ in product if not isinstance(key, (str, Apply)))


def _bounds(conditions: Iterable[Geometry]) -> Iterator[tuple[Geometry, int]]:
    """Yield lower bounds of integers where conditions hold."""
    for tree in conditions:
        if not isinstance(tree, Op):
            continue
        if tree.function == "logical_and":
            yield from _bounds(tree.operands)
        elif tree.function in ("gt", "ge", "lt", "le"):
            great, small = tree.operands if tree.function[0] == "g" else reversed(tree.operands)
            if isinstance(small, Const):
                yield great, int(small.value) + (tree.function[1] == "t")


# ---- sums of products


def _number(value: int) -> Sum:
    return {_ONE: Fraction(value)} if value else {}


def _added(a: Sum, b: Sum, sign: int = 1) -> Sum:
    made = dict(a)
    for product, multiple in b.items():
        made[product] = made.get(product, Fraction()) + sign * multiple
    return {product: multiple for product, multiple in made.items() if multiple}


def _scaled(a: Sum, number: int) -> Sum:
    return _times(a, _number(number))


def _times(a: Sum, b: Sum) -> Sum:
    made: Sum = {}
    for left, one in a.items():
        for right, other in b.items():
            made = _added(made, {_product(left, right, 1): one * other})
    return made


def _product(left: _Product, right: _Product, sign: int) -> _Product:
    powers: Counter[_Key] = Counter(dict(left))
    for key, power in right:
        powers[key] += sign * power
    return frozenset((key, power) for key, power in powers.items() if power)


def _computed(function: str, operands: list[Sum]) -> Sum | None:
    if function == "neg":
        return _scaled(operands[0], -1)
    if function in ("add", "sub"):
        return _added(operands[0], operands[1], 1 if function == "add" else -1)
    return _times(operands[0], operands[1]) if function == "mul" else None


def _split(value: Sum, key: _Key) -> tuple[Sum, Sum]:
    """Return the factor of an unknown, which may contain it as well, and the rest of the sum."""
    found = {product: multiple for product, multiple in value.items() if any(each == key for each, _ in product)}
    rest = {product: multiple for product, multiple in value.items() if product not in found}
    by = frozenset({(key, 1)})
    return {_product(product, by, -1): multiple for product, multiple in found.items()}, rest


def _quotient(a: Sum, divisor: Sum) -> Sum | None:
    """The sum divided by one product, where that leaves whole products."""
    if len(divisor) != 1:
        return None
    ((by, number),) = divisor.items()
    made = {_product(each, by, -1): multiple / number for each, multiple in a.items()}
    return made if all(power > 0 for product in made for _, power in product) else None
