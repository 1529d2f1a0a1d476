"""Schedule of running combinations of the elements of a line.

An element waits for the one before it. Combinations that give the same in any order are left to the compiler, which
takes a few steps for the elements of a vector; sums and products, which round, are combined by fours at every level;
all others in several pieces of a line in turn, which hides the time of a combination.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...nest.forms import Axis, Block, Case, Function, Lanes, Line, Pragma, Strip, Text, part
from .element import function, of_value
from .rows import pointers

if TYPE_CHECKING:
    from ..accumulators import AccumulatorKernel

_PIECES = ("a", "b", "c", "d")
_FOURS = """\
/* Four at a time, in two steps; what comes before them joins last. Every level has vectors of two or four, and the
 * order of combinations is the same. Several fours at once hide the time of theirs. */"""
_IN_PLACE = "`out` may be `x`: each element is read before its place is written."
_ROWS = f"""\
{_IN_PLACE} Elements with steps become rows, so that they are
 * combined in the same order, whatever the layout."""
_CHAINS = """\
CHAINS pieces of CHAIN elements at once, each from its own beginning; then what comes before a piece joins it."""


def functions(kernel: AccumulatorKernel) -> Iterator[Function | Text]:
    """Yield the functions of one kernel."""
    suffix, ctype = kernel.suffix, kernel.ctype
    yield _combination(kernel, f"combine_{suffix}", ctype)
    if kernel.any_order:
        combined = f"combine_{suffix} : {ctype} : omp_out = combine_{suffix}(omp_out, omp_in)"
        yield Text(f"#pragma omp declare reduction({combined}) initializer(omp_priv = {kernel.identity})")
    elif kernel.fours:
        yield from _fours(kernel)
    if kernel.any_order or kernel.fours:
        for name, element in (("line", ctype), *([("narrow", kernel.single)] if kernel.single else [])):
            if kernel.fours:
                yield Text(f"FOUR(four_{name}_{suffix}, {element});")
            yield (_run_of_fours if kernel.fours else _run)(kernel, name, element)
            yield _line(kernel, name, element)
    else:
        yield _chains(kernel)
        yield _line_of_chains(kernel)
    yield _step(kernel)
    if kernel.positions:
        yield _choose(kernel)


def _combination(kernel: AccumulatorKernel, name: str, ctype: str) -> Function:
    return of_value(f"static inline {ctype} {name}({ctype} v_acc, {ctype} v_self)", kernel.line, kernel.combine)


# ---- lines ------------------------------------------------------------------------------------------------------


def _fours(kernel: AccumulatorKernel) -> Iterator[Function | Text]:
    suffix = kernel.suffix
    four, combine = f"four_{suffix}", f"combine_fours_{suffix}"
    yield Text(f"{_FOURS}\nFOUR({four}, {kernel.ctype});")
    yield _combination(kernel, combine, four)
    yield Function(
        f"static inline {four} joined_{suffix}({four} x, {four} none)",
        (
            Line(f"x = {combine}(__builtin_shufflevector(none, x, 0, 4, 0, 6), x);"),
            Line(f"return {combine}(__builtin_shufflevector(none, x, 0, 0, 5, 5), x);"),
        ),
        "Each with those before it among the four: first with its neighbour, then both pairs.",
    )


def _run_head(kernel: AccumulatorKernel, name: str, element: str) -> str:
    return (
        f"static {kernel.ctype} run_{name}_{kernel.suffix}"
        f"({element} *to, const {element} *from, int64_t n, {kernel.ctype} acc)"
    )


def _run(kernel: AccumulatorKernel, name: str, element: str) -> Function:
    combine = f"combine_{kernel.suffix}"
    forms = (
        Pragma(f"omp simd reduction(inscan, {combine} : acc)"),
        Axis(
            "i",
            "n",
            (
                Line(f"acc = {combine}(acc, from[i]);"),
                Pragma("omp scan inclusive(acc)"),
                Line(f"to[i] = ({element})acc;"),
            ),
        ),
        Line("return acc;"),
    )
    return Function(_run_head(kernel, name, element), forms)


def _run_of_fours(kernel: AccumulatorKernel, name: str, element: str) -> Function:
    suffix = kernel.suffix
    four, stored, combine = f"four_{suffix}", f"four_{name}_{suffix}", f"combine_fours_{suffix}"
    read = f"__builtin_convertvector(*(const {stored} *)(from + i), {four})"
    each = (
        Line(f"const {four} x = joined_{suffix}({read}, none);"),
        Line(f"*({stored} *)(to + i) = __builtin_convertvector({combine}(before, x), {stored});"),
        Line(f"before = {combine}(before, __builtin_shufflevector(x, x, 3, 3, 3, 3));"),
    )
    forms = (
        Line(f"const {kernel.ctype} neutral = {kernel.identity};"),
        Line(f"const {four} none = {{neutral, neutral, neutral, neutral}};"),
        Line(f"{four} before = {{acc, acc, acc, acc}};"),
        Line("int64_t i = 0;"),
        Pragma("GCC unroll 4"),
        Block("for (; i + 4 <= n; i += 4)", each),
        Line("acc = before[0];"),
        Block("for (; i < n; i++)", (Line(f"acc = combine_{suffix}(acc, from[i]);"), Line(f"to[i] = ({element})acc;"))),
        Line("return acc;"),
    )
    return Function(_run_head(kernel, name, element), forms)


def _line_head(kernel: AccumulatorKernel, name: str) -> str:
    return (
        f"static void {name}_{kernel.suffix}(char *out, int64_t out_stride, const char *x, int64_t stride, int64_t n)"
    )


def _line(kernel: AccumulatorKernel, name: str, element: str) -> Function:
    run, size = f"run_{name}_{kernel.suffix}", f"sizeof({element})"
    contiguous = (
        Line(f"{run}(({element} *)out, (const {element} *)x, n, acc);"),
        Line("return;"),
    )
    strip = (
        Line(f"int64_t count = {part('OW_STAGE', 'n')};"),
        Line(f"ow_copied_row(row, x + done * stride, stride, count, {size});"),
        Line(f"acc = {run}(row, row, count, acc);"),
        Line(f"ow_put_row(out + done * out_stride, row, out_stride, count, {size});"),
    )
    forms = (
        Line(f"{kernel.ctype} acc = {kernel.identity};"),
        Case(f"stride == {size} && out_stride == {size}", contiguous),
        Line(f"{element} row[OW_STAGE];"),
        Strip("OW_STAGE", strip, length="n"),
    )
    return Function(_line_head(kernel, name), forms, _ROWS)


def _chains(kernel: AccumulatorKernel) -> Function:
    combine, ctype = f"combine_{kernel.suffix}", kernel.ctype
    places = ("i", "CHAIN + i", "2 * CHAIN + i", "3 * CHAIN + i")
    pieces = (
        Line(f"out[{place}] = {piece} = {combine}({piece}, x[{place}]);")
        for piece, place in zip(_PIECES, places, strict=True)
    )
    first, *others = _PIECES
    forms = (
        Line(f"{ctype} {first} = {kernel.identity}, {', '.join(f'{each} = {first}' for each in others)};"),
        Axis("i", "CHAIN", tuple(pieces)),
        Axis(
            "chain",
            "CHAINS",
            (Lanes("CHAIN", (Line(f"out[i] = {combine}(before, out[i]);"),)), Line("before = out[CHAIN - 1];")),
            step="chain++, out += CHAIN",
        ),
        Line("return before;"),
    )
    head = f"static {ctype} chains_{kernel.suffix}({ctype} *out, const {ctype} *x, {ctype} before)"
    return Function(head, forms, _CHAINS)


def _line_of_chains(kernel: AccumulatorKernel) -> Function:
    suffix, ctype = kernel.suffix, kernel.ctype
    whole = f"acc = chains_{suffix}(to + i, from + i, acc);"
    contiguous = (
        pointers(ctype, {"to": "out"}),
        pointers(f"const {ctype}", {"from": "x"}),
        Line("int64_t i = 0;"),
        Line(f"for (; i + CHAINS * CHAIN <= n; i += CHAINS * CHAIN) {whole}"),
        Line(f"for (; i < n; i++) to[i] = acc = combine_{suffix}(acc, from[i]);"),
        Line("return;"),
    )
    each = (
        Line(f"acc = combine_{suffix}(acc, *(const {ctype} *)(x + i * stride));"),
        Line(f"*({ctype} *)(out + i * out_stride) = acc;"),
    )
    forms = (
        Line(f"{ctype} acc = {kernel.identity};"),
        Case(f"stride == sizeof({ctype}) && out_stride == sizeof({ctype})", contiguous),
        Axis("i", "n", each),
    )
    return Function(_line_head(kernel, "line"), forms, _IN_PLACE)


# ---- lines side by side, positions ------------------------------------------------------------------------------


def _step(kernel: AccumulatorKernel) -> Function:
    """Return the function of one position of several lines."""

    def after(acc: str) -> Lanes:
        return Lanes("n", (Line(f"to[j] = {kernel.combined(acc, 'from[j]')};"),), index="j")

    rows = pointers(f"const {kernel.ctype}", {"acc": "prev", "from": "x"})
    step = Case("acc", (after("acc[j]"),), (after(kernel.identity),))
    arguments = "char *out, const char *prev, const char *x, int64_t n"
    return function(kernel, "static void step", arguments, pointers(kernel.ctype, {"to": "out"}), rows, step)


def _choose(kernel: AccumulatorKernel) -> Function:
    """Return the function of values and their positions."""
    ctype = kernel.ctype
    each = (
        Line(f"const {ctype} self = from[i];"),
        Line(f"acc = {kernel.combined('acc', 'self')};"),
        Line("place = (acc == self) | (self != self) ? i : place;"),
        Line("to[i] = acc;"),
        Line("index[i] = place;"),
    )
    return function(
        kernel,
        "static void choose",
        "char *out, int64_t *index, const char *x, int64_t n",
        pointers(f"const {ctype}", {"from": "x"}),
        pointers(ctype, {"to": "out"}),
        Line(f"{ctype} acc = {kernel.identity};"),
        Line("int64_t place = 0;"),
        Axis("i", "n", each),
    )
