"""The parts that the functions of row kernels share: the operands that they read, and the loop over elements."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ....nest.forms import Block, Declared, Form, Lanes, Line
from ...blocks import Computed
from ..rows import call, pointers, unused, written

if TYPE_CHECKING:
    from ...blocks import Stages
    from ...rows import Operand, Pass, RowsKernel, Value

LEAF = (
    "char *to, char *const *x, const int64_t *step, char *kept, int64_t kept_step, int64_t n, const ow_row_state *row"
)
MERGE = "char *acc, const char *other"
MAP = (
    "char *const *out, const int64_t *out_step, char *const *x, const int64_t *step, int64_t n, const ow_row_state *row"
)
VALUES = "char *to, char *const *x, const ow_row_state *row"


@dataclass(frozen=True)
class Place:
    """The elements that a loop computes: `size` of them, in rows whose names begin with `rows`, each at `at`."""

    rows: str
    at: str
    size: str
    side_by_side: bool = False
    """True if each is of another row."""


def begin(kernel: RowsKernel) -> Iterator[Form]:
    """Yield the beginning of a function of values of rows."""
    yield pointers(kernel.ctype, {"out": "to"})
    yield Line("(void)x, (void)row;")


def merging(kernel: RowsKernel) -> Iterator[Form]:
    """Yield the beginning of a function that combines reductions of parts of rows."""
    yield pointers(kernel.ctype, {"to": "acc"})
    yield pointers(f"const {kernel.ctype}", {"from": "other"})


def operands(kernel: RowsKernel, names: Collection[str]) -> Iterator[Operand]:
    """Yield the tensors with these names of which there is an element for each place."""
    return (each for each in kernel.elements if each.name in names)


def variables(kernel: RowsKernel, names: Collection[str], side_by_side: bool = False) -> Iterator[Form]:
    """Yield what there is one of with these names: numbers, which are the same for all rows, and then values of a row,
    or pointers to those of rows side by side."""
    yield from _numbers(kernel, names)
    for name, ctype, value, address in _of_row(kernel, names):
        yield Line(f"const {ctype} *of_{name} = {address};" if side_by_side else f"const {ctype} {name} = {value};")


def rows(kernel: RowsKernel, names: Collection[str], side_by_side: bool = False) -> Iterator[Form]:
    """Yield pointers to the elements of a row, or to those at place `i` of rows side by side."""
    for each in operands(kernel, names):
        row, step = ("out[0]", "out_step[0]") if each.index is None else (f"x[{each.index}]", f"step[{each.index}]")
        place = f"{row} + i * {step}" if side_by_side else row
        yield pointers(f"const {each.ctype}", {f"x_{each.name}": place})


def _numbers(kernel: RowsKernel, names: Collection[str]) -> Iterator[Form]:
    if "v_count" in names:
        yield Line(f"const {kernel.ctype} v_count = ({kernel.ctype})row->count;")
    for each in kernel.params:
        if each.name in names:
            yield Line(f"const {each.ctype} {each.name} = ({each.ctype})row->params[{each.index}].{each.field};")


def _of_row(kernel: RowsKernel, names: Collection[str]) -> Iterator[tuple[str, str, str, str]]:
    """Yield what there is one of in a row: its name, C type and place, and its place if there are several rows."""
    for each in kernel.per_row:
        if each.name in names:
            address = f"(const {each.ctype} *)x[{each.index}]"
            yield each.name, each.ctype, f"*{address}", address
    for let in kernel.lets:
        if let.name in names:
            lets = f"(const {kernel.ctype} *)row->lets"
            yield let.name, kernel.ctype, f"({lets})[{let.slot}]", f"{lets} + {let.slot} * WIDTH"


def of_rows(kernel: RowsKernel, names: Collection[str]) -> Iterator[Form]:
    """Yield the same as variables of row `j`."""
    for name, ctype, _, _ in _of_row(kernel, names):
        yield from unused(f"const {ctype}", name, f"of_{name}[j]")


def joined(kernel: RowsKernel, value: Value, to: str, other: str) -> str:
    """Return the statement that combines what is reduced already with something else."""
    return f"{to} = {call(f'join_{value.name}_{kernel.suffix}', to, other)};"


def each(kernel: RowsKernel, run: Pass, place: Place, target: Callable[[int, Value], str]) -> Iterator[Form]:
    """Yield the calls of functions of rows, and the loop that computes the elements of a pass: `target` says what
    becomes of each."""
    if run.stages is not None:
        yield from _called(kernel, run, run.stages, place)
    yield Lanes(place.size, tuple(element(kernel, run, place, target)), index="j")


def element(kernel: RowsKernel, run: Pass, place: Place, target: Callable[[int, Value], str]) -> Iterator[Form]:
    """Yield what a round of the loop does."""
    yield from _elements(kernel, run.direct, place)
    if run.stages is not None:
        yield from _staged(run.stages, run.stages.rest_reads)
    for index, value in enumerate(run.lets):
        computed = written(value.each.statements, f"const {kernel.ctype} each = {value.each.value};")
        yield Block("", (Declared(value.line, computed), Line(target(index, value))))


def _called(kernel: RowsKernel, run: Pass, stages: Stages, place: Place) -> Iterator[Form]:
    """Yield the loops and calls that fill buffers."""
    buffers = (f"{each.ctype} row_{each.name}[{place.size}];" for each in stages.buffers)
    yield Line(" ".join(buffers))
    for step in stages.steps:
        row = f"row_{step.buffer.name}"
        if isinstance(step, Computed):
            value = written(step.value.statements, f"{row}[j] = {step.value.value};")
            read = (*_elements(kernel, step.reads, place), *_staged(stages, step.reads))
            yield Lanes(place.size, (*read, Declared(run.lets[0].line, value)), index="j")
        else:
            yield Line(f"{call(step.function, row, *(f'row_{name}' for name in step.operands), place.size)};")


def _elements(kernel: RowsKernel, names: Collection[str], place: Place) -> Iterator[Form]:
    if place.side_by_side:
        yield from of_rows(kernel, names)
    for each in operands(kernel, names):
        yield from unused(f"const {each.ctype}", each.name, f"{place.rows}_{each.name}[{place.at}]")


def _staged(stages: Stages, names: Collection[str]) -> Iterator[Form]:
    for each in stages.buffers:
        if each.name in names:
            yield Line(f"const {each.ctype} {each.name} = row_{each.name}[j];")
