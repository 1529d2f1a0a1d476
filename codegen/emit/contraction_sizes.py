"""C of the sizes of the matrices whose product an expression over indices is."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..expr import Expr, Literal
from ..expr.affine import ONE, ZERO
from ..expr.atoms import Read
from ..model.compute import Compute
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
    a: int
    b: int
    transposed: bool
    rows_last: bool
    after: bool
    lines: tuple[int, int]
    """The number of variables of the kernels that pack, for columns and for rows."""
    column: tuple[int, int]
    """The position of the first variable of the columns among them."""
    neighbours: tuple[bool, bool]
    """Whether the last of them leads from an element to its neighbours in memory."""


def table(operator: Operator, body: Compute, made: Contraction) -> Table:
    """Return what the core is told of a contraction."""
    inputs = [each.name for each in operator.inputs]
    writer = _Writer(body, made)
    packed = _packed(made)
    return Table(
        name=f"{operator.name}_contraction",
        a=inputs.index(made.a),
        b=inputs.index(made.b),
        transposed=made.transposed,
        rows_last=made.rows_last,
        after=made.gather is not None,
        lines=(len(packed[0]), len(packed[1])),
        column=(len(packed[0]) - len(made.columns), len(made.batch) + len(made.steps)),
        neighbours=(writer.is_near(packed[0][-1:]), writer.is_near(packed[1][-1:])),
    )


def function(operator: Operator, body: Compute, made: Contraction, shared: Shared) -> Function:
    """Return the function of the sizes of matrices."""
    forms = (*integers(shared), *_fields(body, made))
    head = f"static void {operator.name}_contraction(const ow_compute_context *c, ow_contraction_sizes *s)"
    return Function(head, forms, "The sizes of the matrices whose product the result is.")


def _packed(made: Contraction) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the variables of what packs columns, and of what packs rows."""
    around = (*made.batch, *made.steps)
    return (*around, *made.inner, *made.columns), (*around, *made.columns, *made.inner)


def _fields(body: Compute, made: Contraction) -> Iterator[Line]:
    writer = _Writer(body, made)
    rank = body.tensors[made.b]
    first = 0 if made.rows_last else rank - made.b_rank
    places = [f"size_{made.b}_{dim}" for dim in range(first, first + made.b_rank)] if made.gather is not None else []
    rows = [*map(writer.range, made.rows)]
    whole, steps = " && ".join(writer.whole()), writer.product(made.steps)
    if whole:
        yield Line(f"const int whole = {whole}; /* other sums are computed by loops */")
    fields = {
        "groups": writer.product(made.batch),
        "steps": f"whole ? {steps} : 0" if whole else steps,
        "rows": writer.product(made.rows),
        "inner": writer.product(made.inner),
        "columns": " * ".join(places) or writer.product(made.columns),
        "a_group": writer.stride(made.a, made.batch),
        "a_step": writer.stride(made.a, made.steps),
        "b_group": writer.stride(made.b, made.batch),
        "b_step": writer.stride(made.b, made.steps),
        "dense": writer.dense(),
    }
    if made.packed is not None:
        for kernel, variables in enumerate(_packed(made)):
            fields |= {f"range[{kernel}][{place}]": writer.range(name) for place, name in enumerate(variables)}
    # The sizes of the product as a tensor, where the result is gathered from it.
    product = (*places, *rows) if made.rows_last else (*rows, *places)
    fields |= {f"product[{place}]": size for place, size in enumerate(product)}
    yield from (Line(f"s->{name} = {value};") for name, value in fields.items())


class _Writer:
    def __init__(self, body: Compute, made: Contraction) -> None:
        self.body = body
        self.made = made

    def range(self, name: str) -> str:
        """The positions of a variable."""
        if name in self.body.names:
            return f"c->range[{self.body.names.index(name)}]"
        return integer(self.body.ranges[name].stop)

    def product(self, names: Sequence[str]) -> str:
        return " * ".join(map(self.range, names)) or "1"

    def is_near(self, names: Sequence[str]) -> bool:
        """Return True if the last index of the other matrix depends on one of these variables."""
        reads = [each for each in self.body.reads.values() if each.tensor == self.made.b]
        return any(self.body.depends(read.indices[-1], name) for read in reads for name in names)

    def stride(self, tensor: str, names: Sequence[str]) -> str:
        """The elements from one position of the last of these variables to the next, where they are indices."""
        plain = self._plain(tensor)
        if not names or names[-1] not in plain:
            return "0"
        behind = range(plain.index(names[-1]) + 1, len(plain))
        return " * ".join(f"size_{tensor}_{dim}" for dim in behind) or "1"

    def whole(self) -> Iterator[str]:
        """The tests that matrices have no more elements than are read, and no fewer: lines of which a part is read do
        not follow each other. What is in front of a matrix, or of all steps or groups, may be longer."""
        made = self.made
        plain = self._plain(made.a)
        tail = plain[len(made.batch) + len(made.steps) :]
        yield from self._tests(made.a, plain, {*made.batch[:1], *made.steps[:1], *tail[:1]})
        if made.gather is not None:
            inner = () if made.rows_last else made.inner[:1]
            yield from self._tests(made.b, self._plain(made.b), {*made.batch[:1], *inner})

    def _plain(self, tensor: str) -> list[str | None]:
        return [self.body.index(each).plain for each in self._read(tensor).indices]

    def _read(self, tensor: str) -> Read:
        return next(each for each in self.body.reads.values() if each.tensor == tensor)

    def _tests(self, tensor: str, names: Sequence[str | None], longer: Collection[str | None]) -> Iterator[str]:
        """The tests that these variables run over whole dimensions."""
        for dim, name in enumerate(names):
            if name is not None and not self.body.is_inside(self._read(tensor), dim):
                yield f"{self.range(name)} {'<=' if name in longer else '=='} size_{tensor}_{dim}"

    def dense(self) -> str:
        """Return the condition that the other matrix is in memory as it is, where other variables of its indices have
        one position each."""
        if self.made.dense is None:
            return "0"
        read = self._read(self.made.b)
        tests: list[str] = []
        mains = {main for _, main, _ in self.made.dense}
        for dim, main, tree in self.made.dense:
            affine = self.body.index(tree).affine
            assert affine is not None
            tests += _equal(affine.factor(main), ONE)
            tests += _equal(affine.rest, ZERO)
            tests += [f"{self.range(name)} == 1" for name in affine.variables if name != main]
            if not self.body.is_inside(read, dim):
                tests.append(f"{self.range(main)} {'==' if dim else '<='} size_{self.made.b}_{dim}")
        tests += [f"{self.range(name)} == 1" for name in self.made.inner if name not in mains]
        return " && ".join(dict.fromkeys(tests)) or "1"


def _equal(tree: Expr, number: Literal) -> list[str]:
    return [] if tree == number else [f"{integer(tree)} == {number.value}"]
