"""The functions of a kernel that compute one row, whose elements follow each other.

A row is computed by LANES elements at a time, each with an accumulator of its own, so that the order of combinations
depends on the number of elements alone. The elements behind them are padded where vector and scalar forms of a function
differ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from ....nest.forms import Axis, Block, Case, Declared, Form, Function, Lanes, Line, Pragma, Strip, part
from ..element import function
from ..rows import pointers, written
from .parts import LEAF, MAP, MERGE, VALUES, Place, begin, each, element, joined, merging, operands, rows, variables

if TYPE_CHECKING:
    from ...rows import Pass, Phase, RowsKernel, Value

_WHOLE, _SHORT, _REST_OF_ROW = (
    Place("x", "done + j", "LANES"),
    Place("few", "j", "SHORT"),
    Place("x", "done + first + j", "SHORT"),
)
_HALVES = (32, 16, 8, 4, 2, 1)
_REST = part("SHORT", "n")
_IDLE = "The memory is idle while a row that lies in the level-1 cache is computed with: the next one comes meanwhile."


def values(kernel: RowsKernel, phase: Phase) -> Function:
    """Return the function of the values that follow from others."""
    forms: list[Form] = [*begin(kernel), *variables(kernel, phase.given)]
    for let in phase.lets:
        value = written(let.each.statements, f"out[{let.slot}] = {let.name} = {let.each.value};")
        forms.append(Line(f"{kernel.ctype} {let.name};"))
        forms += (Block("", (Declared(let.line, value),)), Line(f"(void){let.name};"))
    return function(kernel, f"static void values_{phase.index}", VALUES, *forms)


def finish(kernel: RowsKernel) -> Function:
    """Return the function of the results of the row."""
    forms: list[Form] = [*begin(kernel), *variables(kernel, kernel.finish_reads)]
    for index, result in enumerate(kernel.results):
        value = written(result.each.statements, f"out[{index}] = {result.each.value};")
        forms.append(Block("", (Declared(result.line, value),)))
    return function(kernel, "static void finish", VALUES, *forms)


def leaf(kernel: RowsKernel, index: int, run: Pass) -> Function:
    """Return the function of the reductions of a pass."""
    forms = (
        Line("(void)x, (void)step, (void)kept, (void)kept_step, (void)row;"),
        *rows(kernel, run.direct),
        *_tails(kernel, run),
        *variables(kernel, run.direct),
        *_accumulators(kernel, run),
        *[pointers(kernel.ctype, {"out": "kept"})] * run.keeps,
        Line("int64_t done = 0;"),
        Strip(
            "LANES",
            (*(_prefetched(kernel, run) if run.keeps else ()), *each(kernel, run, _WHOLE, _joins(kernel, run))),
            first="",
            length="n",
            whole=True,
        ),
        _padded_leaf(kernel, run) if run.calls else _rest_of_leaf(kernel, run),
        *_reduced(kernel, run),
    )
    return function(kernel, f"static void leaf_{index}", LEAF, *forms)


def merge(kernel: RowsKernel, index: int, run: Pass) -> Function:
    """Return the function that combines the reductions of two parts of a row."""
    joins = (Line(joined(kernel, let, f"to[{place}]", f"from[{place}]")) for place, let in enumerate(run.lets))
    return function(kernel, f"static void merge_{index}", MERGE, *merging(kernel), *joins)


def mapped(kernel: RowsKernel, run: Pass) -> Function:
    """Return the function of the results that have elements."""
    forms: list[Form] = [Line("(void)x, (void)step, (void)out_step, (void)row;")]
    for index, value in enumerate(run.lets):
        forms.append(pointers(kernel.ctype, {f"out_{index}": f"out[{index}]"}))
        forms += [Line(f"{kernel.ctype} values_{value.name}[SHORT];")] * run.calls
    whole = tuple(each(kernel, run, _WHOLE, _puts("done + j")))
    forms += (
        *rows(kernel, run.direct),
        *_tails(kernel, run),
        *variables(kernel, run.direct),
        Line("int64_t done = 0;"),
    )
    forms.append(Strip("LANES", whole, first="", length="n", whole=True))
    if run.calls:
        forms.append(_padded_map(kernel, run))
    else:
        rest = tuple(element(kernel, run, Place("x", "done", ""), _puts("done")))
        forms += (Pragma("GCC ivdep"), Block("for (; done < n; done++)", rest))
    return function(kernel, "static void map", MAP, *forms)


# ---- operands ---------------------------------------------------------------------------------------------------


def _tails(kernel: RowsKernel, run: Pass) -> Iterator[Form]:
    """Yield memory for the last elements of each row, fewer than are computed at a time."""
    if run.calls:
        for operand in operands(kernel, run.direct):
            yield Line(f"{operand.ctype} tail_{operand.name}[SHORT];")


def _few(kernel: RowsKernel, run: Pass, count: str, first: str, start: str) -> Iterator[Form]:
    """Yield pointers to SHORT elements: those from `start` on, or, if `count` are fewer, copies of those from `first`
    on."""
    for operand in operands(kernel, run.direct):
        row = f"x_{operand.name}"
        padded = f"padded(tail_{operand.name}, {row}{first}, {count}, sizeof *{row})"
        yield Line(f"const {operand.ctype} *few_{operand.name} = {count} < SHORT ? {padded} : {row} + {start};")


# ---- reductions -------------------------------------------------------------------------------------------------


def _joins(kernel: RowsKernel, run: Pass, to: str = "lanes_{}[j]", at: str = "done + j") -> Callable[[int, Value], str]:
    kept = f" out[{at}] = each;" if run.keeps else ""
    return lambda _, let: joined(kernel, let, to.format(let.name), "each") + kept


def _accumulators(kernel: RowsKernel, run: Pass) -> Iterator[Form]:
    for let in run.lets:
        padded = f", values_{let.name}[SHORT]" if run.calls else ""
        yield Line(f"{kernel.ctype} lanes_{let.name}[LANES]{padded};")
        yield Axis("j", "LANES", (Line(f"lanes_{let.name}[j] = {let.identity};"),))


def _prefetched(kernel: RowsKernel, run: Pass) -> Iterator[Form]:
    rows = (f"x_{operand.name} + n + done" for operand in operands(kernel, run.direct))
    lines = (Line(f"__builtin_prefetch((const char *)({row}) + j);") for row in rows)
    written_later = Line("__builtin_prefetch((const char *)(out + n + done) + j, 1);")
    yield Line(f"/* {_IDLE} */")
    yield Axis("j", "LANES * (int64_t)sizeof *out", (*lines, written_later), step="j += 64")


def _rest_of_leaf(kernel: RowsKernel, run: Pass) -> Form:
    """Return the loop over the elements behind whole strips, by conditional loads: accumulators are stored whole, as
    the processor would wait for parts of a vector before it loads all of it."""
    joins = _joins(kernel, run, "next_{}", _REST_OF_ROW.at)
    lanes = Lanes(
        _REST_OF_ROW.size,
        (
            *(Line(f"{kernel.ctype} next_{let.name} = lanes_{let.name}[first + j];") for let in run.lets),
            Block("if (j < n - done - first)", tuple(element(kernel, run, _REST_OF_ROW, joins))),
            *(Line(f"lanes_{let.name}[first + j] = next_{let.name};") for let in run.lets),
        ),
        index="j",
    )
    end = Line("if (first >= n - done) break;")
    return Case("done < n", (Axis("first", "LANES", (end, lanes), step="first += SHORT"),))


def _padded_leaf(kernel: RowsKernel, run: Pass) -> Form:
    """Return the loop over the elements behind whole strips, whose values join accumulators from the first one on."""
    forms: list[Form] = [
        Line(f"const int64_t rest = {_REST}, start = start_of(n, done);"),
        *_few(kernel, run, "n", "", "start"),
        *each(kernel, run, _SHORT, lambda _, let: f"values_{let.name}[j] = each;"),
    ]
    for let in run.lets:
        computed = f"values_{let.name}"
        if run.keeps:
            few = Line(f"memcpy(out, {computed}, sizeof *out * (size_t)n);")
            forms.append(Case("n < SHORT", (few,), (Line(f"memcpy(out + start, {computed}, sizeof {computed});"),)))
        join = joined(kernel, let, f"lanes_{let.name}[first + j]", f"{computed}[done - start + j]")
        forms.append(Axis("j", "rest", (Line(join),)))
    return Block("for (int64_t first = 0; done < n; done += SHORT, first += SHORT)", tuple(forms))


def _reduced(kernel: RowsKernel, run: Pass) -> Iterator[Form]:
    """Yield the combination of accumulators, in halves.

    Those that no element has touched change nothing, so there are no conditions, and the compiler keeps the halves in
    registers.
    """
    for index, let in enumerate(run.lets):
        lanes = f"lanes_{let.name}"
        for half in _HALVES:
            join = joined(kernel, let, f"{lanes}[j]", f"{lanes}[j + {half}]")
            yield Axis("j", str(half), (Line(join),))
        yield Line(f"(({kernel.ctype} *)to)[{index}] = {lanes}[0];")


# ---- results ----------------------------------------------------------------------------------------------------


def _puts(place: str) -> Callable[[int, Value], str]:
    return lambda index, value: f"out_{index}[{place}] {value.assigned} each;"


def _padded_map(kernel: RowsKernel, run: Pass) -> Form:
    puts = (
        Axis("j", "rest", (Line(f"out_{index}[done + j] {value.assigned} values_{value.name}[j];"),))
        for index, value in enumerate(run.lets)
    )
    forms = (
        Line(f"int64_t rest = {_REST};"),
        *_few(kernel, run, "rest", " + done", "done"),
        *each(kernel, run, _SHORT, lambda _, value: f"values_{value.name}[j] = each;"),
        *puts,
    )
    return Block("for (; done < n; done += SHORT)", forms)
