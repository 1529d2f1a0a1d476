"""C of the sizes and steps of the matrices whose product an expression over indices is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..expr import Expr, Literal
from ..expr.affine import ONE, Affine, index
from ..expr.atoms import Read
from ..model.compute import Border, Compute
from ..model.contraction import Contraction
from ..model.operator import Operator
from ..nest.forms import Function, Line
from .compute_geometry import integer
from .schedules.compute.parts import integers

if TYPE_CHECKING:
    from .indexed.nodes import Shared


@dataclass(frozen=True)
class Table:
    """The facts of a contraction that are the same in all calls."""

    name: str
    tensors: tuple[int, int]
    variables: tuple[int, ...]
    """The number of variables of each kind."""
    source: int
    rest_of_rows: bool


def table(operator: Operator, made: Contraction) -> Table:
    """Return what the core is told of a contraction."""
    inputs = [each.name for each in operator.inputs]
    return Table(
        name=f"{operator.name}_contraction",
        tensors=(inputs.index(made.left.tensor), inputs.index(made.right.tensor)),
        variables=(len(made.outer), len(made.rows), len(made.columns), len(made.inner)),
        source=inputs.index(made.source) if made.source else 0,
        rest_of_rows=made.rest is not None and _is_of_rows(made.rest, made),
    )


def function(operator: Operator, body: Compute, made: Contraction, shared: Shared) -> Function:
    """Return the function of the sizes of matrices."""
    forms = (*integers(shared), *map(Line, _Writer(body, made).lines()))
    head = f"static void {operator.name}_contraction(const ow_compute_context *c, ow_contraction_sizes *s)"
    return Function(head, forms, "The matrices whose product the result is.")


def _is_of_rows(rest: Compute, made: Contraction) -> bool:
    """Return True if what is added is the same for all columns and dimensions in front."""
    depends = any(rest.depends(rest.results[0].tree, name) for name in made.columns)
    return not depends and not any(each.batched for each in rest.reads.values())


class _Writer:
    def __init__(self, body: Compute, made: Contraction) -> None:
        self.body = body
        self.made = made
        self.of_product = (*made.outer, *made.rows, *made.columns)
        self.variables = (*self.of_product, *made.inner)

    def lines(self) -> Iterator[str]:
        yield f"s->applies = {' && '.join(self.tests()) or '1'};"
        for place, name in enumerate(self.variables):
            yield f"s->range[{place}] = {self.range(name)};"
            for side, read in enumerate((self.made.left, self.made.right)):
                yield f"s->step[{side}][{place}] = {self.step(read, name)};"
        for side, read in enumerate((self.made.left, self.made.right)):
            yield f"s->origin[{side}] = {self.origin(read)};"
        for place in range(len(self.of_product) - len(self.made.columns)):
            yield f"s->to[{place}] = {' * '.join(map(self.range, self.of_product[place + 1 :]))};"
        if self.made.gather is not None:
            product = self.of_product[len(self.made.outer) :]
            yield from (f"s->product[{place}] = {self.range(name)};" for place, name in enumerate(product))

    def range(self, name: str) -> str:
        """The positions of a variable."""
        if name in self.made.places:
            return f"size_{self.made.source}_{self.made.places[name]}"
        if name in self.body.names:
            return f"c->range[{self.body.names.index(name)}]"
        return integer(self.body.ranges[name].stop)

    def affine(self, tree: Expr) -> Affine:
        found = index(tree, frozenset(self.variables), frozenset(self.body.uniforms)).affine
        assert found is not None
        return found

    def step(self, read: Read, name: str) -> str:
        """The elements from one position of a variable to the next."""
        return self.sum_of(read, [self.affine(each).factor(name) for each in read.indices])

    def origin(self, read: Read) -> str:
        return self.sum_of(read, [self.affine(each).rest for each in read.indices])

    def sum_of(self, read: Read, indices: Sequence[Expr]) -> str:
        """The elements from the first one to the one of these indices."""
        terms = []
        for dim, tree in enumerate(indices):
            sizes = [f"size_{read.tensor}_{each}" for each in range(dim + 1, len(indices))]
            factors = [*([] if tree == ONE else [integer(tree)]), *sizes]
            if not isinstance(tree, Literal) or tree.value != 0:
                terms.append(" * ".join(factors) or "1")
        return " + ".join(terms) or "0"

    def tests(self) -> Iterator[str]:
        """The tests that variables stay inside, where that is not sure and no margins are read there."""
        for read in (self.made.left, self.made.right):
            for dim, tree in enumerate(read.indices):
                name = self.affine(tree).plain
                leaves_out = self.made.gather is not None or self.body.outside.get(read.tensor) is Border.SKIP
                if name is None or name in self.made.places or not leaves_out or self.body.is_sure(read, dim):
                    continue
                yield f"{self.range(name)} <= size_{read.tensor}_{dim}"
