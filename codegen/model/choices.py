"""The positions that the extrema of a recurrence have chosen, for the recurrence that runs back.

An element counts for a maximum that has chosen it. As the results are there when a gradient is computed, so are the
positions that maxima and minima have chosen: tensors of integers with an element for each one of the results, in which
going back is a sum over the elements that may have chosen this one, of those that have. Where an extremum is within a
reduction, and so has no such tensor, it is searched again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import count
from types import MappingProxyType

from ..expr import Apply, Expr, Name
from ..expr.affine import ZERO, product, total
from ..expr.atoms import Atom, Atoms, Carrier, Fold, Free, Read, within
from .compute import Compute, Size, following
from .paths import EXTREMA
from .unrolled import unrolled

_END = "_choice"
"""Ends the name of the position that an extremum has chosen."""


@dataclass(frozen=True)
class Choices:
    """The positions that extrema have chosen, as results of a body, and conditions on them."""

    body: Compute
    """The body that knows the positions."""
    tests: Mapping[Fold, Expr]
    """The condition that an extremum has chosen the element at the variables of its ranges, for each extremum."""
    tensors: Mapping[str, Compute]
    """The bodies of the tensors of positions."""


def choices(body: Compute, results: Collection[str], taken: Collection[str]) -> Choices:
    """The positions chosen by extrema of elements of these results; no tensor has a name that is `taken`."""
    atoms = Atoms(body.atoms)
    carrier = Carrier(body.atoms, atoms)
    free = Free(body.atoms)
    tests: dict[Fold, Expr] = {}
    tensors: dict[str, Compute] = {}
    added: dict[str, Atom] = {}
    for name, fold in body.folds.items():
        read = next(_read(body, fold, results), None)
        if fold.reduction not in EXTREMA or read is None:
            continue
        position = carrier.rebuilt(fold, {})
        assert isinstance(position, Fold)
        position = replace(position, reduction=f"arg{fold.reduction}")
        atom: Atom = position
        if free.of_atom(name) <= {*body.names, *body.uniforms}:
            tensor = next(each for each in map("chosen{}".format, count(1)) if each not in {*taken, *tensors})
            atom = Read(tensor, tuple(map(Name, body.names)), body.batched)
            tensors[tensor] = _positions(body, position, atoms, read)
        added[f"{name}{_END}"] = atom
        tests[fold] = Apply("eq", (Name(f"{name}{_END}"), _place(fold)))
    known = replace(
        body,
        atoms=MappingProxyType({**atoms.named, **added}),
        integers=body.integers.union(tensors),
        tensors=MappingProxyType({**body.tensors, **dict.fromkeys(tensors, len(body.names))}),
    )
    return Choices(known, tests, tensors)


def _read(body: Compute, fold: Fold, results: Collection[str]) -> Iterator[str]:
    """The results of which an extremum reads elements."""
    found = within(body.atoms, fold.value)
    return (each.tensor for _, each in found if isinstance(each, Read) and each.tensor in results)


def _place(fold: Fold) -> Expr:
    """The position of the variables, counted through the ranges, the last of which runs fastest."""
    place: Expr = ZERO
    for each in fold.ranges:
        extent = each.stop if each.first == ZERO else Apply("sub", (each.stop, each.first))
        own: Expr = Name(each.name) if each.first == ZERO else Apply("sub", (Name(each.name), each.first))
        place = total(product(place, extent), own)
    return place


def _positions(body: Compute, position: Fold, atoms: Atoms, read: str) -> Compute:
    own = Atoms(atoms.named)
    result = replace(body.results[0], tree=Name(own.name(position)), name="value")
    rank = len(body.variables)
    sizes = tuple(
        (name, size if size.number is not None else Size(None, read, dim - rank))
        for dim, (name, size) in enumerate(body.variables)
    )
    return unrolled(following(body, (result,), own, sizes, body.uniforms))
