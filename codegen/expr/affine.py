"""Indices as sums of products: which multiple of each variable an index is made of, and what is added.

    y * stride[0] + i * dilation[0] - padding[0]    is    stride[0] of y, dilation[0] of i, and -padding[0]

The multiples are uniform, that is the same in the whole call. Such indices lie in an interval that follows from those
of the variables, and steps of a variable are steps in memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .tree import Apply, Expr, Literal, Name, names

ZERO, ONE = Literal(0), Literal(1)


@dataclass(frozen=True)
class Affine:
    """`factors` has the multiple of each variable, and `rest` is what is added; all are uniform."""

    factors: tuple[tuple[str, Expr], ...]
    rest: Expr

    @property
    def variables(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.factors)

    def factor(self, variable: str) -> Expr:
        return dict(self.factors).get(variable, ZERO)

    @property
    def plain(self) -> str | None:
        """The variable that it is, and nothing else."""
        if self.rest == ZERO and len(self.factors) == 1 and self.factors[0][1] == ONE:
            return self.factors[0][0]
        return None


@dataclass(frozen=True)
class Index:
    """An affine index, divided and rounded down where there is a divisor; None: it is computed in another way."""

    affine: Affine | None
    divisor: Expr = ONE

    @property
    def plain(self) -> str | None:
        return self.affine.plain if self.affine is not None and self.divisor == ONE else None

    def uses(self, variable: str) -> bool:
        return self.affine is not None and variable in self.affine.variables


def index(tree: Expr, variables: frozenset[str], uniform: frozenset[str]) -> Index:
    """Return the index as an affine expression over `variables`; all else that is `uniform` is a number."""
    if isinstance(tree, Apply) and tree.function == "floor_divide" and names(tree.args[1]) <= uniform:
        return Index(affine(tree.args[0], variables, uniform), tree.args[1])
    return Index(affine(tree, variables, uniform))


def affine(tree: Expr, variables: frozenset[str], uniform: frozenset[str]) -> Affine | None:
    """Return a tree as a sum of multiples of variables and a rest without them, or None if it is no such sum."""
    if isinstance(tree, Name) and tree.name in variables:
        return Affine(((tree.name, ONE),), ZERO)
    if names(tree) <= uniform:
        return Affine((), tree)
    if not isinstance(tree, Apply) or tree.function not in ("add", "sub", "mul", "neg"):
        return None
    parts = [affine(each, variables, uniform) for each in tree.args]
    known = [each for each in parts if each is not None]
    if len(known) < len(parts):
        return None
    if tree.function == "neg":
        return scaled(known[0], Literal(-1))
    if tree.function != "mul":
        return added(known[0], known[1] if tree.function == "add" else scaled(known[1], Literal(-1)))
    for number, other in (known, reversed(known)):
        if not number.factors:
            return scaled(other, number.rest)
    return None


def added(a: Affine, b: Affine) -> Affine:
    """Return the sum of two affine expressions."""
    factors: dict[str, Expr] = dict(a.factors)
    for name, factor in b.factors:
        factors[name] = total(factors[name], factor) if name in factors else factor
    kept = tuple((name, factor) for name, factor in factors.items() if factor != ZERO)
    return Affine(kept, total(a.rest, b.rest))


def scaled(a: Affine, number: Expr) -> Affine:
    """Return an affine expression times a number that has no variables."""
    factors = tuple((name, product(factor, number)) for name, factor in a.factors)
    return Affine(tuple(each for each in factors if each[1] != ZERO), product(a.rest, number))


def total(a: Expr, b: Expr) -> Expr:
    """Return the sum of two expressions, simplified."""
    if isinstance(a, Literal) and isinstance(b, Literal):
        return Literal(int(a.value) + int(b.value))
    return b if a == ZERO else a if b == ZERO else Apply("add", (a, b))


def product(a: Expr, b: Expr) -> Expr:
    """Return the product of two expressions, simplified."""
    if isinstance(a, Literal) and isinstance(b, Literal):
        return Literal(int(a.value) * int(b.value))
    if ZERO in (a, b):
        return ZERO
    if b == Literal(-1):
        return Apply("neg", (a,))
    return b if a == ONE else a if b == ONE else Apply("mul", (a, b))


def tree_of(a: Affine, values: Mapping[str, Expr] = {}) -> Expr:
    """The index as an expression, with `values` in the place of variables."""
    result = a.rest
    for name, factor in a.factors:
        result = total(result, product(values.get(name, Name(name)), factor))
    return result


def shifted(tree: Expr, variables: frozenset[str]) -> tuple[str, Expr] | None:
    """One of the variables and what an index adds to it, which may be anything; None where it is no such sum."""
    if isinstance(tree, Name) and tree.name in variables:
        return tree.name, ZERO
    if not isinstance(tree, Apply) or tree.function not in ("add", "sub"):
        return None
    left, right = tree.args
    found = shifted(left, variables)
    if found is not None:
        return found[0], Apply("sub", (found[1], right)) if tree.function == "sub" else total(found[1], right)
    found = shifted(right, variables) if tree.function == "add" else None
    return None if found is None else (found[0], total(left, found[1]))
