"""Nests of expressions over indices, by the names that expressions have for their nodes, and what depends on what."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

from ..dtypes import INT64, DType
from ..expr import Expr, Name
from ..expr.affine import Index, index
from ..expr.atoms import depends, ragged, within
from ..expr.lower import Env
from .nodes import Axis, Front, Load, Node, Place, Reduction, Store, Table, Truncated, every

Atom = Load | Truncated | Reduction


class ByName:
    """The nodes of a nest."""

    def __init__(self, nodes: tuple[Node, ...]) -> None:
        self.stores = every(nodes, Store)
        self.tables = {each.name: each for each in every(nodes, Table)}
        self.axes = [each for each in every(nodes, Axis) if each.range is None]
        self.names = (*(each.name for each in every(nodes, Front)), *(each.index for each in self.axes))
        """The variables of the results."""
        loads = every(nodes, Load)
        self.uniforms = frozenset(each.name for each in loads if each.place is None)
        """The integers that are the same in the whole call."""
        found: list[Atom] = [*loads, *every(nodes, Truncated), *every(nodes, Reduction)]
        self.atoms: Mapping[str, Atom] = {each.name: each for each in found if each.name not in self.uniforms}
        self.atoms = dict(self.within(*(each.expression for each in self.stores)))
        self.reductions = {name: each for name, each in self.atoms.items() if isinstance(each, Reduction)}
        self.ranges = {each.name: each for reduction in self.reductions.values() for each in reduction.ranges}

    @cached_property
    def places(self) -> list[Place]:
        """The places of all elements."""
        return [each.place for each in self.atoms.values() if isinstance(each, Load) and each.place is not None]

    @property
    def reads_results(self) -> bool:
        return any(each.is_result for each in self.places)

    @property
    def in_order(self) -> bool:
        """True if an element depends on others of its line, so that they are computed in order."""
        return bool(self.axes) and self.axes[-1].in_order

    @cached_property
    def ragged(self) -> frozenset[str]:
        return ragged(self.atoms, self.ranges.values())

    def is_ragged(self, index: Index) -> bool:
        return index.affine is not None and not self.ragged.isdisjoint(index.affine.variables)

    def index(self, tree: Expr) -> Index:
        """Return the affine form of an integer."""
        return index(tree, frozenset((*self.names, *self.ranges)), self.uniforms)

    def env(self, parameters: Env) -> dict[str, DType]:
        """Return the dtypes of all names in expressions."""
        integers = dict.fromkeys((*self.names, *self.ranges, *self.uniforms), INT64)
        return {**parameters, **integers, **{name: each.dtype for name, each in self.atoms.items()}}

    def depends(self, tree: Expr, variable: str) -> bool:
        return depends(self.atoms, tree, variable)

    def within(self, *trees: Expr) -> Iterator[tuple[str, Atom]]:
        return within(self.atoms, *trees)

    def place(self, tree: Expr) -> Place | None:
        """Return the place of the element that an expression is; None: it is something else."""
        atom = self.atoms.get(tree.name) if isinstance(tree, Name) else None
        return atom.place if isinstance(atom, Load) else None

    def places_within(self, tree: Expr) -> dict[str, Place]:
        """Return the places of the elements that an expression is made of."""
        found = dict(self.within(tree))
        return {name: each.place for name, each in found.items() if isinstance(each, Load) and each.place is not None}
