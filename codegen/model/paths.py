"""The paths by which results of an expression over indices depend on elements of a tensor: reductions and factors.

Through a sum goes each element alike; through a maximum the one that it has chosen; through a product each times the
product of the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import reduce
from types import MappingProxyType

from ..expr import Apply, Expr, Name, derive, names, simplify
from ..expr.affine import ZERO
from ..expr.atoms import Atoms, Carrier, Fold, Range, Read, within
from ..expr.indexed import POSITIONS, vanishes
from .compute import Border, Compute

GRAD = "grad_output"
EXTREMA = ("max", "min")
_CONSTANT = (*POSITIONS, "any", "all")
"""Reductions to what does not change with the elements but in jumps."""
_REST = "_rest"
"""Ends the name of the product of the other elements."""


class NoAdjointError(ValueError):
    """The reason why an expression has no adjoint."""


def grad_name(body: Compute) -> str:
    """The argument that is the gradient of the result of a body."""
    return GRAD if GRAD not in body.tensors else f"grad_{GRAD}"


class UnsolvedIndexError(NoAdjointError):
    """Error: no variable follows from an index; terms can still be added where they belong."""


class IndependentError(NoAdjointError):
    """The gradient is zero."""


@dataclass(frozen=True)
class Path:
    """A path from an element to a result: the reductions that it goes through, and the derivative."""

    read: Read
    folds: tuple[Fold, ...]
    derivative: Expr


def summed(path: Path) -> tuple[Range, ...]:
    """The ranges of the sums and products that a path goes through: each of their positions has a term of its own."""
    return tuple(bounds for fold in path.folds if fold.reduction not in EXTREMA for bounds in fold.ranges)


def is_linear(body: Compute, target: str) -> bool:
    """Return True if every result is a sum of products with one element of the tensor each."""
    if any(fold.reduction == "prod" and _reads(body, fold.value, target) for fold in body.folds.values()):
        return False
    places = (index for read in body.reads.values() for index in read.indices)
    conditions = (each.condition for each in body.folds.values() if each.condition is not None)
    return not any(_reads(body, each, target) for each in (*places, *conditions)) and all(
        all(not _reads(body, path.derivative, target) for path in paths(body, each.tree, target))
        and vanishes(each.tree, lambda name: _is_zero(body, name, target))
        for each in body.results
    )


def _reads(body: Compute, tree: Expr, target: str) -> bool:
    return any(isinstance(atom, Read) and atom.tensor == target for _, atom in within(body.atoms, tree))


def _is_zero(body: Compute, name: str, target: str) -> bool:
    """Return True if the value of the name is zero where all elements of the tensor are zero."""
    atom = body.atoms.get(name)
    if isinstance(atom, Read):
        rule = body.outside.get(target)
        return atom.tensor == target and (rule is None or isinstance(rule, Border) or rule == 0)
    if not isinstance(atom, Fold) or atom.reduction != "sum":
        return False
    return vanishes(atom.value, lambda inner: _is_zero(body, inner, target))


def paths(body: Compute, tree: Expr, target: str) -> Iterator[Path]:
    """Yield the paths from elements of the tensor to an expression."""
    for name in sorted(names(tree) & body.atoms.keys()):
        atom = body.atoms[name]
        if isinstance(atom, Read) and atom.tensor == target:
            yield Path(atom, (), derive(tree, name))
        elif isinstance(atom, Fold) and atom.reduction not in _CONSTANT:
            inner = list(paths(body, atom.value, target))
            outer = derive(tree, name) if inner else ZERO
            if inner and atom.reduction == "prod":
                outer = simplify(Apply("mul", (outer, _rest_of(body, name))))
            for path in inner:
                factor = simplify(Apply("mul", (outer, path.derivative)))
                yield Path(path.read, (atom, *path.folds), factor)


def _rest_of(body: Compute, product: str) -> Expr:
    """The product of the other elements than one, by which the derivative of a product by that one is."""
    name = f"{product}{_REST}"
    if name not in body.atoms:
        raise NoAdjointError("the derivative of a product of reductions does not follow")
    return Name(name)


def with_rests(body: Compute) -> Compute:
    """The body that knows, for each product, that of the other elements than one: the variables of its ranges once
    more, without the place at which all of them are equal."""
    products = {name: fold for name, fold in body.folds.items() if fold.reduction == "prod"}
    simple = [name for name, fold in products.items() if not any(_folds_within(body, fold.value))]
    if not simple:
        return body
    atoms = Atoms(body.atoms)
    carrier = Carrier(body.atoms, atoms)
    added = {f"{name}{_REST}": _rest(carrier, products[name]) for name in simple}
    return replace(body, atoms=MappingProxyType({**atoms.named, **added}))


def _folds_within(body: Compute, tree: Expr) -> Iterator[Fold]:
    return (each for _, each in within(body.atoms, tree) if isinstance(each, Fold))


def _rest(carrier: Carrier, fold: Fold) -> Fold:
    rest = carrier.rebuilt(fold, {})
    assert isinstance(rest, Fold)
    differ = [Apply("ne", (Name(new.name), Name(old.name))) for new, old in zip(rest.ranges, fold.ranges, strict=True)]
    others: Expr = reduce(lambda left, right: Apply("logical_or", (left, right)), differ)
    return replace(rest, condition=others if rest.condition is None else Apply("logical_and", (rest.condition, others)))
