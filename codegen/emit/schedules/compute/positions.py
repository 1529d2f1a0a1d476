"""The functions of a kernel that run through its lines, and through the stretches of lines that are computed alike."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ....nest.forms import Axis, Block, Case, Form, Function, Line
from ..rows import NEVER_INLINE
from . import ahead
from .parts import LINES, any_lanes, combined, first_variables, integers, next_variables, on_line

if TYPE_CHECKING:
    from ...indexed.nodes import Cut, Kernel, Shared


def functions(kernel: Kernel, shared: Shared) -> Iterator[Function]:
    """Yield the function of all lines, with copies for small steps, and the one that the core calls."""
    lines = f"{kernel.name}_lines"
    if kernel.ahead is not None:
        yield from ahead.functions(kernel, kernel.ahead, shared)
    yield Function(f"OW_INLINE int {lines}({LINES}, const int64_t step)", tuple(_lines(kernel, shared)))
    forms: list[Form] = []
    step = "1"
    if kernel.step and shared.inner:
        step = "step"
        forms += (*integers(shared), Line(f"const int64_t step = {kernel.step};"))
        for each in kernel.steps:
            own = f"{kernel.name}_step_{each}"
            body = (Line(f"return {lines}(c, begin, end, {each});"),)
            yield Function(f"{NEVER_INLINE} int {own}({LINES})", body)
            forms.append(Line(f"if (step == {each}) return {own}(c, begin, end);"))
    forms.append(Line(f"return {lines}(c, begin, end, {step});"))
    yield Function(f"static int {kernel.name}({LINES})", tuple(forms))


def _lines(kernel: Kernel, shared: Shared) -> Iterator[Form]:
    yield from integers(shared)
    yield Line("int status = OW_OK, failed = 0, *err = &failed;")
    yield Line("(void)err, (void)step;")
    yield from first_variables(shared)
    if kernel.ahead is not None:
        yield ahead.loop(kernel, shared)
        yield Line("return failed ? OW_ZERO_DIVISION : status;")
        return
    bounds = map(Line, kernel.bounds if kernel.cuts and not kernel.copies else ())
    line = _line_or_lines(kernel, shared) if shared.inner else _single(kernel, shared)
    body = (*bounds, *line, *next_variables(shared))
    yield Axis("at", "end", body, "begin", descending=shared.descending)
    yield Line("return failed ? OW_ZERO_DIVISION : status;")


def _line_or_lines(kernel: Kernel, shared: Shared) -> Iterator[Form]:
    yield Line(f"const int64_t phases = {'step' if kernel.phases else 1};")
    line = _phases(kernel, shared, "1")
    yield _several(kernel, shared, line) if kernel.rows > 1 else line


def _phases(kernel: Kernel, shared: Shared, rows: str) -> Axis:
    """Return the loop over the parts of a line whose positions have the same remainder."""
    size = f"c->range[{shared.inner_index}]"
    cuts = () if kernel.copies or rows != "1" else map(_cut, kernel.cuts)
    forms = (
        Line(f"const int64_t count = ({size} + phases - 1 - phase) / phases;"),
        Line("const int64_t first = c->begin, last = c->end < count ? c->end : count;"),
        Line("int64_t from = 0, to = count;"),
        *cuts,
        combined(f"{kernel.name}_line", shared, f"first, last, from, to, step, phase, {rows}"),
    )
    return Axis("phase", f"phases && phase < {size}", forms)


def _several(kernel: Kernel, shared: Shared, line: Form) -> Block:
    """Return the lines that are computed together, so many of each remainder, or else the one line. They are inside: in
    copies with margins, or where indices of the first and of the last one are, if these are the same in all lanes."""
    before = shared.inner_index - 1
    known = "__builtin_constant_p(step) && " if kernel.step else ""
    inside = "c->inside && " if kernel.cuts and not kernel.cuts_ranges else ""
    size = f"c->range[{shared.inner_index}] / phases"
    lanes = f"(c->end < {size} ? c->end : {size}) - c->begin >= LANES / 4"
    here = f"{kernel.row} + ROWS * distance <= c->range[{before}]"
    each = _phases(kernel, shared, "ROWS")
    forms = (
        Axis("line", "distance", (each,), "0", f"line++, at++, {kernel.row}++"),
        Line(f"at += (ROWS - 1) * distance - 1, {kernel.row} += (ROWS - 1) * distance - 1;"),
    )
    together = f"{known}{inside}phases && {lanes}"
    condition = f"{together} && at + ROWS * distance <= end && {here}"
    distance = Line(f"const int64_t distance = {kernel.row_step};")
    if not kernel.cuts_ranges:
        return Block("", (distance, *_again(kernel, before, together), Case(condition, forms, (line,))))
    last = Line(f"const int64_t last_row = {kernel.row} + ROWS * distance - 1, {kernel.row} = last_row;")
    cuts = tuple(map(_cut, kernel.cuts))
    ends = Case("from < to", (*cuts, Block("", (last, *cuts))))
    limits = Line(f"int64_t from = 0, to = {condition};")
    return Block("", (distance, limits, ends, Case("from < to", forms, (line,))))


def _again(kernel: Kernel, before: int, together: str) -> Iterator[Form]:
    """Yield the step back from the last lines, which are fewer than are computed together, to as many as these: that
    some are computed twice takes less time than one after the other."""
    yield Line(f"const int64_t back = {kernel.row} + ROWS - c->range[{before}];")
    known = f"distance == 1 && back > 0 && back < ROWS && back <= {kernel.row}"
    own = "back <= at - begin && ROWS - back <= end - at"
    yield Case(f"{known} && {own} && {together}", (Line(f"at -= back, {kernel.row} -= back;"),))


def _single(kernel: Kernel, shared: Shared) -> Iterator[Form]:
    """Yield the computation of a line of one position."""
    inside = on_line(f"{kernel.name}_lanes", shared, "0, 1, 1, 1, 0, 1")
    outside = on_line(any_lanes(kernel), shared, "0, 1, 0, 1, 0, 1")
    yield Line("int64_t from = 0, to = 1;")
    yield from (_cut(each, factor="0") for each in kernel.cuts)
    if not kernel.cuts:
        yield Line("(void)from, (void)to;")
    yield Line(f"status |= {f'from < to ? {inside} : {outside}' if kernel.cuts else inside};")


def _cut(cut: Cut, factor: str = "") -> Case:
    places = f"{factor or cut.factor}, {cut.least}, {cut.greatest}, {cut.size}"
    return Case("!c->inside", (Line(f"ow_cut(&from, &to, {places});"),))


# ---- stretches --------------------------------------------------------------------------------------------------


def stretched(kernel: Kernel, shared: Shared) -> Function:
    """Return the function of lines that fall into stretches, each of which has the kernel of what is known in it."""
    stretch = (
        Line("int which = 0;"),
        Line("next = last;"),
        *_known(kernel),
        Block("switch (which)", tuple(_parts(kernel, shared))),
    )
    size = f"c->range[{shared.inner_index}]"
    thresholds = (
        Line(f"const int64_t threshold_{place} = {each.text};") for place, each in enumerate(kernel.thresholds)
    )
    line = (
        Line(f"const int64_t count = {size}, last = c->end < count ? c->end : count;"),
        *thresholds,
        Block("for (int64_t first = c->begin, next; first < last; first = next)", stretch),
        *next_variables(shared),
    )
    forms = (
        *integers(shared),
        Line(f"const int64_t step = {kernel.step or 1};"),
        Line("int status = OW_OK, failed = 0, *err = &failed;"),
        Line("(void)err;"),
        *first_variables(shared),
        Axis("at", "end", line, "begin"),
        Line("return failed ? OW_ZERO_DIVISION : status;"),
    )
    comment = f"Lines of {kernel.name} by stretches in which conditions and the beginnings of remainders are known."
    return Function(f"static int {kernel.name}({LINES})", forms, comment)


def _known(kernel: Kernel) -> Iterator[Form]:
    """Yield where the stretch ends, and what is known in it."""
    for place, each in enumerate(kernel.thresholds):
        threshold = f"threshold_{place}"
        yield Line(f"if ({threshold} > first && {threshold} < next) next = {threshold};")
        yield Line(f"which = 2 * which + (first {'<' if each.is_before else '>='} {threshold});")
    for base, divisor in kernel.bases:
        yield Line(f"const int64_t {base} = ow_stretch(first, &next, {divisor}, err);")


def _parts(kernel: Kernel, shared: Shared) -> Iterator[Form]:
    for place, part in enumerate(kernel.parts):
        forms = (
            Line("int64_t from = 0, to = count;"),
            *(() if part.copies else map(_cut, part.cuts)),
            combined(f"{part.name}_line", shared, "first, next, from, to, step, 0, 1"),
            Line("break;"),
        )
        yield Block(f"case {place}:", forms)
