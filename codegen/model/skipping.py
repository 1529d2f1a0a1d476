"""Terms of reductions that are left out because an element which they read is outside, by `skip`.

A gradient leaves out the same terms. Where it reads that element as well, it does so by the same rule; otherwise it has
conditions instead:

    sum(self[i + k] + other[i + 2 * k] for k in range(3))      of whose gradient by self no term reads other

So do terms that are no longer those of a reduction.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import reduce
from types import MappingProxyType

from ..expr import Apply, Expr, Name, names
from ..expr.affine import ZERO
from ..expr.atoms import Atom, Atoms, Carrier, Fold, Read
from ..expr.geometry import Geometry
from .compute import Border, Compute, size_of, uniform_name


def read_for(atoms: Mapping[str, Atom], *trees: Expr) -> Iterator[Read]:
    """The elements of which expressions are made, but those of reductions within them."""
    for name in sorted(frozenset[str]().union(*map(names, trees)) & atoms.keys()):
        atom = atoms[name]
        if isinstance(atom, Read):
            yield atom
        if not isinstance(atom, Fold):
            yield from read_for(atoms, *atom.expressions)


def skipping(body: Compute, fold: Fold) -> Iterator[Read]:
    """The elements without which a reduction leaves out a term, and which may be outside."""
    for read in read_for(body.atoms, fold.value, *([] if fold.condition is None else [fold.condition])):
        if body.outside.get(read.tensor) is Border.SKIP and not _is_inside(body, read):
            yield read


def _is_inside(body: Compute, read: Read) -> bool:
    return all(body.is_inside(read, dim) for dim in range(len(read.indices)))


def inside(body: Compute, read: Read, uniforms: dict[str, Geometry]) -> Iterator[Expr]:
    """The conditions that an element is inside, of integers which become some of `uniforms`."""
    for dim, tree in enumerate(read.indices):
        if not body.is_inside(read, dim):
            yield Apply("ge", (tree, ZERO))
            yield Apply("lt", (tree, Name(uniform_name(size_of(read.tensor, dim - len(read.indices)), uniforms))))


def all_of(conditions: Iterable[Expr]) -> Expr | None:
    """The condition that all hold; None: there are none."""
    found = [*conditions]
    return reduce(lambda left, right: Apply("logical_and", (left, right)), found) if found else None


def without_skipping(body: Compute) -> Compute:
    """The body in which elements that are read beside reductions may be outside, and are zero there: conditions say
    where they count. Reductions that read the same tensors have conditions as well."""
    trees = [each.tree for each in body.results]
    tensors = {
        read.tensor
        for read in read_for(body.atoms, *trees)
        if body.outside.get(read.tensor) is Border.SKIP and not _is_inside(body, read)
    }
    if not tensors:
        return body
    carrier = _Conditions(body, tensors)
    results = tuple(replace(each, tree=carrier(each.tree, {})) for each in body.results)
    return replace(
        body,
        results=results,
        atoms=MappingProxyType(carrier.atoms.named),
        uniforms=MappingProxyType(carrier.uniforms),
        outside=MappingProxyType({**body.outside, **dict.fromkeys(tensors, 0.0)}),
    ).settled()


class _Conditions(Carrier):
    """Gives reductions conditions in place of the rule by which they leave out terms that read these tensors."""

    def __init__(self, body: Compute, tensors: Collection[str]) -> None:
        super().__init__(body.atoms, Atoms())
        self.body = body
        self.tensors = tensors
        self.uniforms = dict(body.uniforms)

    def rebuilt(self, atom: Atom, values: Mapping[str, Expr]) -> Atom:
        if isinstance(atom, Fold):
            needed = (each for each in skipping(self.body, atom) if each.tensor in self.tensors)
            found = [] if atom.condition is None else [atom.condition]
            found += (each for needs in dict.fromkeys(needed) for each in inside(self.body, needs, self.uniforms))
            atom = replace(atom, condition=all_of(found))
        return super().rebuilt(atom, values)
