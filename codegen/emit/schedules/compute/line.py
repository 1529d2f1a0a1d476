"""The functions of a kernel that divide a line into lanes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ....nest.forms import Axis, Case, Form, Function, Line
from ..rows import NEVER_INLINE
from .parts import LINE, SPECIAL, any_lanes, combined, on_line, signature

if TYPE_CHECKING:
    from ...indexed.nodes import Kernel, Shared

_GIVEN = "step, phase, rows"
_ORDERED = "The positions [begin, end) of a line, of which those in [from, to) are inside, one after the other."
_OUTSIDE = "The positions [begin, end) of a line that are outside, of which there are few on long lines."
_STRIPS = """\
The positions [begin, end) of a line, of which those in [from, to) are inside, with so many lanes that they
 * are known when compiling. At the end some positions are computed twice."""
_SHORT = "Short lines have half or a quarter of the lanes, or as many as there are."
_LIMITS = (
    Line("from = from < begin ? begin : from > end ? end : from;"),
    Line("to = to < from ? from : to > end ? end : to;"),
)


def functions(kernel: Kernel, shared: Shared) -> Iterator[Function]:
    """Yield the functions of positions of a line; none where lines are single positions."""
    if kernel.copies:
        whole = on_line(f"{kernel.name}_lanes", shared, f"begin, end - begin, 0, {_GIVEN}")
        yield _function(kernel, shared, (Line("(void)from, (void)to;"), Line(f"return {whole};")))
    elif kernel.in_order:
        yield _function(kernel, shared, tuple(_in_order(kernel, shared)), _ORDERED)
    elif shared.inner:
        if kernel.cuts and kernel.tests_places:
            yield _outside(kernel, shared)
        yield _strips(kernel, shared)
        yield _function(kernel, shared, tuple(_by_length(kernel, shared)), _SHORT)


def _function(kernel: Kernel, shared: Shared, body: tuple[Form, ...], comment: str = "") -> Function:
    return Function(f"OW_INLINE int {kernel.name}_line({signature(shared, LINE)})", body, comment)


def _in_order(kernel: Kernel, shared: Shared) -> Iterator[Form]:
    yield Line("int status = OW_OK;")
    yield from _LIMITS
    inside, around = f"{kernel.name}_lanes", any_lanes(kernel)
    parts = [("begin", "from", around, 0), ("from", "to", inside, 1), ("to", "end", around, 0)]
    for first, end, function, is_inside in reversed(parts) if shared.descending else parts:
        each = combined(function, shared, f"position, 1, {is_inside}, {_GIVEN}")
        yield Axis("position", end, (each,), first, descending=shared.descending)
    yield Line("return status;")


def _outside(kernel: Kernel, shared: Shared) -> Function:
    size = "end - position < LANES ? end - position : LANES"
    each = combined(any_lanes(kernel), shared, f"position, {size}, 0, step, phase, 1")
    parameters = signature(shared, "int64_t begin, int64_t end, const int64_t step, const int64_t phase")
    forms = (
        Line("int status = OW_OK;"),
        Axis("position", "end", (each,), "begin", "position += LANES"),
        Line("return status;"),
    )
    return Function(f"{NEVER_INLINE} int {kernel.name}_outside({parameters})", forms, _OUTSIDE)


def _strips(kernel: Kernel, shared: Shared) -> Function:
    around, lanes = any_lanes(kernel), f"{kernel.name}_lanes"
    chosen = lanes if around == lanes else f"(lanes == LANES ? {lanes} : {around})"
    inside = combined(chosen, shared, f"first, lanes, 1, {_GIVEN}")
    outside = combined(around, shared, f"first, lanes, 0, {_GIVEN}")
    leaves_out = kernel.cuts and not kernel.tests_places
    each = Case("rows == 1 && (first < from || first + lanes > to)", (outside,), (inside,)) if leaves_out else inside
    first = Line("const int64_t first = position + lanes <= end ? position : end - lanes;")
    forms = (
        Line("int status = OW_OK;"),
        Axis("position", "end", (first, each), "begin", "position += lanes"),
        Line("(void)from, (void)to;"),
        Line("return status;"),
    )
    parameters = signature(shared, LINE.replace(SPECIAL, f"const int64_t lanes, {SPECIAL}"))
    return Function(f"OW_INLINE int {kernel.name}_strips({parameters})", forms, _STRIPS)


def _by_length(kernel: Kernel, shared: Shared) -> Iterator[Form]:
    around, leaves_out = any_lanes(kernel), kernel.cuts and not kernel.tests_places
    if kernel.cuts and kernel.tests_places:
        ends = (
            on_line(f"{kernel.name}_outside", shared, f"{part}, step, phase") for part in ("begin, from", "to, end")
        )
        computed = Line(f"const int status = {' | '.join(ends)};")
        rest = (Line("if (status) return status;"), Line("begin = from, end = to;"))
        yield Case("rows == 1 && (begin < from || to < end)", (*_LIMITS, computed, *rest))
    yield Line("const int64_t count = end - begin;")
    for lanes in ("LANES", "LANES / 2", "LANES / 4"):
        alone = "rows == 1 && " if kernel.rows > 1 and lanes == "LANES / 2" else ""
        strips = on_line(f"{kernel.name}_strips", shared, f"begin, end, from, to, {lanes}, {_GIVEN}")
        yield Case(f"{alone}count >= {lanes}", (Line(f"return {strips};"),))
    yield Line("if (count <= 0) return OW_OK;")
    if leaves_out:
        outside = on_line(around, shared, "begin, count, 0, step, phase, 1")
        yield Case("begin < from || end > to", (Line(f"return {outside};"),))
    yield Line(f"return {on_line(around, shared, 'begin, count, 1, step, phase, 1')};")
