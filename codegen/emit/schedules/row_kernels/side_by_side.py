"""The functions of a kernel that compute WIDTH rows side by side, each in a lane of its own.

A row has the accumulators that it has alone, so that its results have the same bits.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ....nest.forms import Axis, Block, Declared, Form, Function, Line
from ..element import function
from ..rows import pointers, written
from .parts import LEAF, MAP, MERGE, VALUES, Place, begin, each, joined, merging, of_rows, rows, variables

if TYPE_CHECKING:
    from ...rows import Pass, Phase, RowsKernel, Value

_ROWS = Place("x", "j", "WIDTH", side_by_side=True)


def values(kernel: RowsKernel, phase: Phase) -> Function:
    """Return the function of the values that follow from others."""
    forms: list[Form] = [*begin(kernel), *variables(kernel, phase.given, side_by_side=True)]
    for let in phase.lets:
        forms.append(Line(f"{kernel.ctype} *of_{let.name} = out + {let.slot} * WIDTH;"))
        forms.append(_each_row(kernel, let, f"of_{let.name}[j]"))
    return function(kernel, f"static void values_of_rows_{phase.index}", VALUES, *forms)


def finish(kernel: RowsKernel) -> Function:
    """Return the function of the results of the rows."""
    results = (_each_row(kernel, result, f"out[{index} * WIDTH + j]") for index, result in enumerate(kernel.results))
    forms = (*begin(kernel), *variables(kernel, kernel.finish_reads, side_by_side=True), *results)
    return function(kernel, "static void finishes", VALUES, *forms)


def leaf(kernel: RowsKernel, index: int, run: Pass) -> Function:
    """Return the function of the reductions of a pass."""
    kept = " out[j] = each;" if run.keeps else ""
    row = (
        *rows(kernel, run.direct, side_by_side=True),
        *[pointers(kernel.ctype, {"out": "kept + i * kept_step"})] * run.keeps,
        *each(kernel, run, _ROWS, lambda _, let: joined(kernel, let, f"lanes_{let.name}[i % LANES][j]", "each") + kept),
    )
    forms = (
        Line("(void)x, (void)step, (void)kept, (void)kept_step, (void)row;"),
        *variables(kernel, run.direct, side_by_side=True),
        Line("const int64_t used = lanes_of(n);"),
        *_accumulators(kernel, run),
        Axis("i", "n", row),
        *_reduced(kernel, run),
    )
    return function(kernel, f"static void leaves_{index}", LEAF, *forms)


def merge(kernel: RowsKernel, index: int, run: Pass) -> Function:
    """Return the function that combines the reductions of parts of the rows."""
    joins = (
        Axis("j", f"{end} * WIDTH", (Line(joined(kernel, let, "to[j]", "from[j]")),), first=f"{end - 1} * WIDTH")
        for end, let in enumerate(run.lets, 1)
    )
    return function(kernel, f"static void merges_{index}", MERGE, *merging(kernel), *joins)


def mapped(kernel: RowsKernel, run: Pass) -> Function:
    """Return the function of the results that have elements."""
    results = (
        pointers(kernel.ctype, {f"out_{index}": f"out[{index}] + i * out_step[{index}]"})
        for index in range(len(run.lets))
    )
    elements = each(kernel, run, _ROWS, lambda index, _: f"out_{index}[j] = each;")
    forms = (
        Line("(void)x, (void)step, (void)out_step, (void)row;"),
        *variables(kernel, run.direct, side_by_side=True),
        Axis("i", "n", (*results, *rows(kernel, run.direct, side_by_side=True), *elements)),
    )
    return function(kernel, "static void maps", MAP, *forms)


def _each_row(kernel: RowsKernel, value: Value, target: str) -> Axis:
    computed = written(value.each.statements, f"{target} = {value.each.value};")
    return Axis("j", "WIDTH", (Line("ONE_BY_ONE;"), *of_rows(kernel, value.direct), Declared(value.line, computed)))


def _accumulators(kernel: RowsKernel, run: Pass) -> Iterator[Form]:
    for let in run.lets:
        start = Axis("j", "WIDTH", (Line(f"lanes_{let.name}[i][j] = {let.identity};"),))
        yield Line(f"{kernel.ctype} lanes_{let.name}[LANES][WIDTH];")
        yield Axis("i", "used", (start,))


def _reduced(kernel: RowsKernel, run: Pass) -> Iterator[Form]:
    """Yield the combination of accumulators, in halves."""
    for index, let in enumerate(run.lets):
        lanes = f"lanes_{let.name}"
        join = Line(joined(kernel, let, f"{lanes}[i][j]", f"{lanes}[i + half][j]"))
        halves = Axis("i", "half", (Axis("j", "WIDTH", (join,)),))
        yield Block("for (int64_t half = used / 2; half > 0; half /= 2)", (halves,))
        yield Line(f"memcpy(({kernel.ctype} *)to + {index} * WIDTH, {lanes}[0], sizeof {lanes}[0]);")
