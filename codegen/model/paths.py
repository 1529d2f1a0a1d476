"""How results of an expression over indices depend on elements of a tensor: through which reductions, by which factor.

Through a sum goes each element alike; through a maximum the one that it has chosen; through a product each times the
product of the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import count
from types import MappingProxyType

from ..expr import Apply, Expr, Name, derive, names, simplify, substitute
from ..expr.affine import ZERO
from ..expr.indexed import POSITIONS, Atom, Fold, Range, Read, rebuilt, vanishes, within
from .compute import Compute

GRAD = "grad_output"
EXTREMA = ("max", "min")
_CONSTANT = (*POSITIONS, "any", "all")
"""Reductions to what does not change with the elements but in jumps."""
_REST = "_rest"
"""Ends the name of the product of the other elements."""


class NoAdjointError(ValueError):
    """Why an expression has none."""


def grad_name(body: Compute) -> str:
    """The argument that is the gradient of the result of a body."""
    return GRAD if GRAD not in body.tensors else f"grad_{GRAD}"


class UnsolvedIndexError(NoAdjointError):
    """No variable follows from an index; terms can still be added where they belong."""


class IndependentError(NoAdjointError):
    """The gradient is zero."""


@dataclass(frozen=True)
class Path:
    """How a result depends on an element: the reductions that it goes through, and the derivative."""

    read: Read
    folds: tuple[Fold, ...]
    derivative: Expr


def is_linear(body: Compute, target: str) -> bool:
    """Is every result a sum of products with one element of the tensor each?"""
    if any(fold.reduction == "prod" and _reads(body, fold.value, target) for fold in body.folds.values()):
        return False
    places = (index for read in body.reads.values() for index in read.indices)
    return not any(_reads(body, each, target) for each in places) and all(
        all(not _reads(body, path.derivative, target) for path in paths(body, each.tree, target))
        and vanishes(each.tree, lambda name: _is_zero(body, name, target))
        for each in body.results
    )


def _reads(body: Compute, tree: Expr, target: str) -> bool:
    return any(isinstance(atom, Read) and atom.tensor == target for _, atom in within(body.atoms, tree))


def _is_zero(body: Compute, name: str, target: str) -> bool:
    """Is what has the name zero where all elements of the tensor are?"""
    atom = body.atoms.get(name)
    if isinstance(atom, Read):
        return atom.tensor == target
    if not isinstance(atom, Fold) or atom.reduction != "sum":
        return False
    return vanishes(atom.value, lambda inner: _is_zero(body, inner, target))


def paths(body: Compute, tree: Expr, target: str) -> Iterator[Path]:
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
    """The body that knows, for each product, that of the other elements than one: the variables of its ranges under
    other names, without the place at which all of them are equal."""
    added = dict[str, Atom]()
    for name, fold in body.folds.items():
        if fold.reduction == "prod" and not any(isinstance(each, Fold) for _, each in within(body.atoms, fold.value)):
            added[f"{name}{_REST}"] = _rest(body, name, fold, added)
    return replace(body, atoms=MappingProxyType({**body.atoms, **added})) if added else body


def _rest(body: Compute, name: str, fold: Fold, added: dict[str, Atom]) -> Fold:
    """`added` gets the atoms that it is made of."""
    taken = {*body.all_variables, *body.atoms, *added, *body.uniforms, *body.tensors}
    renamed = {each.name: f"{each.name}{name}" for each in fold.ranges}
    renamed = {old: next(new + "_" * k for k in count() if new + "_" * k not in taken) for old, new in renamed.items()}
    values: dict[str, Expr] = {old: Name(new) for old, new in renamed.items()}

    def carried(tree: Expr) -> Expr:
        found = dict(values)
        for inner in sorted(names(tree) & body.atoms.keys()):
            copy = f"{inner}{name}"
            added[copy] = rebuilt(body.atoms[inner], carried)
            found[inner] = Name(copy)
        return substitute(tree, found)

    others: Expr | None = None
    for old, new in renamed.items():
        differs = Apply("ne", (Name(new), Name(old)))
        others = differs if others is None else Apply("logical_or", (others, differs))
    assert others is not None
    condition = others if fold.condition is None else Apply("logical_and", (carried(fold.condition), others))
    ranges = tuple(Range(renamed[each.name], carried(each.first), carried(each.stop)) for each in fold.ranges)
    return Fold("prod", carried(fold.value), ranges, condition, fold.span)
