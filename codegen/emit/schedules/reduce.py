"""Schedule of reductions of lines to one value each.

Lines side by side have an accumulator each, which meets row after row. A line by itself is reduced in leaves, of which
the core makes a tree: elements go to lanes in turn, and these join pairwise, so that the order in which elements are
combined depends on the length alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...nest.forms import Axis, Block, Case, Form, Function, Lanes, Line, Pragma, Strip, part
from .element import function, of_value
from .rows import ALWAYS_INLINE, pointers

if TYPE_CHECKING:
    from ..accumulators import AccumulatorKernel

_REGISTERS, _MOST_LANES = 512, 128
"""The bytes and the number of the accumulators of a leaf: at most what a register file holds, and enough to hide the
latency of additions. Memory is read row after row; a second row at once, or a fetch in advance, keeps hardware from
seeing the stream."""
_FEW_LANES = 16
"""The same for short leaves."""


def functions(kernel: AccumulatorKernel) -> Iterator[Function]:
    """Yield the functions of one kernel."""
    yield from _of_element(kernel)
    yield from _side_by_side(kernel)
    yield _scatter(kernel)
    yield _in_lanes(kernel)
    yield _leaf(kernel)
    if kernel.finalize is not None:
        yield _finish(kernel)
    if kernel.positions:
        yield from _positions(kernel)


def _of_element(kernel: AccumulatorKernel) -> Iterator[Function]:
    head, ctype = f"static inline {kernel.ctype}", kernel.ctype
    yield of_value(f"{head} combine_{kernel.suffix}({ctype} v_acc, {ctype} v_self)", kernel.line, kernel.combine)
    yield of_value(f"{head} map_{kernel.suffix}({ctype} v_self)", kernel.line, kernel.map)
    if kernel.finalize is not None:
        finalize = f"{head} finalize_{kernel.suffix}({ctype} v_acc, {ctype} v_count)"
        yield of_value(finalize, kernel.line, kernel.finalize)
    first = Line(f"return {kernel.accumulated(kernel.identity, 'self')};")
    met = "An accumulator that has met its first element."
    yield function(kernel, f"{head} first", f"{ctype} self", first, comment=met)


def _first(kernel: AccumulatorKernel, acc: str, element: str) -> Line:
    return Line(f"{acc} = first_{kernel.suffix}({element});")


def _met(kernel: AccumulatorKernel, acc: str, *elements: str) -> Line:
    """Return the statement in which an accumulator meets elements."""
    return Line(f"{acc} = {kernel.accumulated(acc, *elements)};")


def _joined(kernel: AccumulatorKernel, acc: str, other: str) -> Line:
    """Return the statement in which an accumulator joins another one."""
    return Line(f"{acc} = {kernel.combined(acc, other)};")


def _at(kernel: AccumulatorKernel, index: str) -> str:
    """Return an element of a line."""
    return f"*(const {kernel.ctype} *)(x + {index} * stride)"


# ---- lines side by side -----------------------------------------------------------------------------------------


def _side_by_side(kernel: AccumulatorKernel) -> Iterator[Function]:
    ctype, const = kernel.ctype, f"const {kernel.ctype}"
    to, row = pointers(ctype, {"to": "acc"}), pointers(const, {"from": "x"})

    def each(*statements: Line) -> Lanes:
        return Lanes("n", statements, index="j")

    first = each(_first(kernel, "to[j]", "from[j]"))
    yield function(kernel, "static void start", "char *acc, const char *x, int64_t n", to, row, first)
    # Accumulators are read and written once for four rows.
    rows = {"a": "x", "b": "x + pitch", "c": "x + 2 * pitch", "d": "x + 3 * pitch"}
    half = Line(f"{ctype} half = {kernel.accumulated('to[j]', 'a[j]', 'b[j]')};")
    four = each(half, Line(f"to[j] = {kernel.accumulated('half', 'c[j]', 'd[j]')};"))
    yield function(
        kernel,
        "static void fold",
        "char *acc, const char *x, int64_t pitch, int64_t rows, int64_t n",
        to,
        Block("for (; rows >= 4; rows -= 4, x += 4 * pitch)", (pointers(const, rows), four)),
        Block("for (; rows > 0; rows--, x += pitch)", (row, each(_met(kernel, "to[j]", "from[j]")))),
    )
    other, joined = pointers(const, {"from": "other"}), each(_joined(kernel, "to[j]", "from[j]"))
    yield function(kernel, "static void merge", "char *acc, const char *other, int64_t n", to, other, joined)


def _scatter(kernel: AccumulatorKernel) -> Function:
    """Return the function of accumulators at offsets, each of which meets an element or a row of them."""
    size = f"sizeof({kernel.ctype})"
    to = pointers(kernel.ctype, {"to": "acc + offsets[j]"})
    elements = (Pragma("GCC unroll 4"), Axis("j", "n", (to, _met(kernel, "*to", _at(kernel, "j")))), Line("return;"))
    row = f"fold_{kernel.suffix}(acc + offsets[j], x + j * stride, 0, 1, nbytes / (int64_t){size});"
    arguments = "char *acc, const int64_t *offsets, char *x, int64_t stride, int64_t n, int64_t nbytes"
    of_elements, of_rows = Case(f"nbytes == {size}", elements), Axis("j", "n", (Line(row),))
    return function(kernel, "static void scatter", arguments, of_elements, of_rows)


# ---- a line by itself -------------------------------------------------------------------------------------------


def _lanes(kernel: AccumulatorKernel) -> int:
    return min(_REGISTERS // kernel.itemsize, _MOST_LANES)


def _in_lanes(kernel: AccumulatorKernel) -> Function:
    """Return the function of at least as many elements as lanes. Elements with gaps are gathered, so that the order of
    combination does not depend on the stride."""
    ctype, lanes = kernel.ctype, _lanes(kernel)

    def first(element: str) -> Axis:
        return Axis("j", "width", (_first(kernel, "lanes[j]", element),))

    def met(size: str, element: str) -> Axis:
        return Axis("j", size, (_met(kernel, "lanes[j]", element),))

    contiguous: tuple[Form, ...] = (
        pointers(f"const {ctype}", {"from": "x"}),
        first("from[j]"),
        Strip("width", (met("width", "from[done + j]"),), first="", whole=True),
        Line("const int64_t rest = length - done;"),
        # Compilers do not see that, and would allow for more.
        Case("rest >= width", (Line("__builtin_unreachable();"),)),
        met("rest", "from[done + j]"),
    )
    # Parts of complex numbers are common, and vectorized where the step is a constant.
    pairs = Axis("j", "width", (Line(f"row[j] = ((const {ctype} *)from)[2 * j];"),))
    others = Axis("j", "count", (Line(f"row[j] = *(const {ctype} *)(from + j * stride);"),))
    gathered = (
        Line(f"int64_t count = {part('width')};"),
        Line("const char *from = x + done * stride;"),
        Case(f"stride == 2 * sizeof({ctype}) && count == width", (pairs,), (others,)),
        met("count", "row[j]"),
    )
    halves = [1 << power for power in reversed(range(lanes.bit_length() - 1))]
    joined = (_joined(kernel, "lanes[j]", f"lanes[j + {half}]") for half in halves)
    return function(
        kernel,
        f"{ALWAYS_INLINE} {ctype} in_lanes",
        "const char *x, int64_t stride, int64_t length, const int64_t width",
        Line(f"{ctype} lanes[{lanes}], row[{lanes}];"),
        Line("int64_t done = width;"),
        Case(f"stride == sizeof({ctype})", contiguous, (first(_at(kernel, "j")), Strip("width", gathered, first=""))),
        *(Axis("j", f"{half} && width > {half}", (each,)) for half, each in zip(halves, joined, strict=True)),
        Line("return lanes[0];"),
        comment="Element i goes to lane i % width; the lanes join pairwise. Needs length >= width.",
    )


def _leaf(kernel: AccumulatorKernel) -> Function:
    following = Axis("j", "n", (_met(kernel, "acc", _at(kernel, "j")),), first="1")
    one_by_one = (_first(kernel, f"{kernel.ctype} acc", _at(kernel, "0")), following, Line("*to = acc;"))
    leaf = Case("n > 0", one_by_one, (Line(f"*to = {kernel.identity};"),))
    for width in (_FEW_LANES, _lanes(kernel)):
        in_lanes = Line(f"*to = in_lanes_{kernel.suffix}(x, stride, n, {width});")
        leaf = Case(f"n >= {width}", (in_lanes,), (leaf,))
    to = pointers(kernel.ctype, {"to": "result"})
    return function(kernel, "static void leaf", "char *result, const char *x, int64_t stride, int64_t n", to, leaf)


# ---- results ----------------------------------------------------------------------------------------------------


def _finish(kernel: AccumulatorKernel) -> Function:
    to = pointers(kernel.ctype, {"to": "acc"})
    each = Axis("j", "n", (Line(f"to[j] = finalize_{kernel.suffix}(to[j], ({kernel.ctype})count);"),))
    return function(kernel, "static void finish", "char *acc, int64_t n, int64_t count", to, each)


def _positions(kernel: AccumulatorKernel) -> Iterator[Function]:
    """Yield the functions that find a value in a line, and values of lines side by side in a row of them."""
    ctype, lanes, same = kernel.ctype, _lanes(kernel), f"same_{kernel.suffix}"
    equal = Line("return (a == b) | ((a != a) & (b != b));")
    yield function(kernel, "static inline int same", f"{ctype} a, {ctype} b", equal)
    # A vector loop has no early end.
    found = Axis("j", str(lanes), (Line(f"found |= {same}(from[i + j], wanted);"),))
    many = Block(f"for (int found = 0; i + {lanes} <= n; i += {lanes})", (found, Case("found", (Line("break;"),))))
    yield function(
        kernel,
        "static int64_t find",
        "const char *x, int64_t stride, int64_t n, const char *value",
        Line(f"const {ctype} wanted = *(const {ctype} *)value;"),
        Line("int64_t i = 0;"),
        Case(f"stride == sizeof({ctype})", (pointers(f"const {ctype}", {"from": "x"}), many)),
        Line(f"while (i < n && !{same}({_at(kernel, 'i')}, wanted)) i++;"),
        Line("return i;"),
    )
    rows = pointers(f"const {ctype}", {"from": "x", "wanted": "values"})
    chosen = Line(f"index[j] = (index[j] < 0) & {same}(from[j], wanted[j]) ? i : index[j];")
    arguments = "int64_t *index, const char *x, int64_t n, const char *values, int64_t i"
    yield function(kernel, "static void match", arguments, rows, Lanes("n", (chosen,), index="j"))
