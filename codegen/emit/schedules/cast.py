"""Schedule of conversions: rows without gaps, single numbers, and rows with gaps by way of some without."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...nest.forms import Axis, Case, Form, Function, Lanes, Line, Strip, Text, part
from .rows import pointers

if TYPE_CHECKING:
    from ..casts import Cast, Narrow

_ARGUMENTS = "char *dst, int64_t dst_stride, const char *src, int64_t src_stride, int64_t n"
_GIVEN = "dst, dst_stride, src, src_stride, n"


def loop(cast: Cast) -> Function:
    """Return the function of a conversion."""
    forms: list[Form] = [_case(f"dst_stride == sizeof({cast.dst}) && src_stride == sizeof({cast.src})", *_row(cast))]
    if cast.copies:
        copied = Line(f"ow_copied_row(dst, src, src_stride, n, sizeof({cast.src}));")
        forms.append(_case(f"dst_stride == sizeof({cast.dst})", copied))
    else:
        by_rows = f"by_rows({cast.name}, dst, dst_stride, sizeof({cast.dst}), src, src_stride, sizeof({cast.src}), n);"
        forms.append(_case(f"dst_stride == sizeof({cast.dst}) && src_stride == 0 && n > 0", *_only(cast)))
        forms.append(_case("n > FEW", Line(by_rows)))
    element = (
        Line(f"{cast.src} x = *(const {cast.src} *)(src + i * src_stride);"),
        Line(f"*({cast.dst} *)(dst + i * dst_stride) = {cast.convert('x')};"),
    )
    return Function(f"static void {cast.name}({_ARGUMENTS})", (*forms, Axis("i", "n", element)))


def _case(condition: str, *body: Form) -> Case:
    return Case(condition, (*body, Line("return;")))


def _row(cast: Cast) -> Iterator[Form]:
    """Yield the conversion of a row without gaps."""
    if cast.copies:
        yield Line(f"memmove(dst, src, (size_t)n * sizeof({cast.src}));")
        return
    yield pointers(cast.dst, {"to": "dst"})
    yield pointers(f"const {cast.src}", {"from": "src"})
    if cast.row:
        yield Line(f"{cast.row}(to, from, n);")
    elif cast.load or cast.store:
        yield Line("float buffer[BLOCK];")
        yield Strip("BLOCK", tuple(_by_float(cast)), length="n")
    else:
        yield Lanes("n", (Line(f"to[i] = {cast.convert('from[i]')};"),))


def _by_float(cast: Cast) -> Iterator[Form]:
    """Yield the two steps of a part of a row: to float32, and from there."""
    yield Line(f"int64_t count = {part('BLOCK', 'n')};")
    if cast.load:
        yield Line(f"{cast.load}(buffer, from + done, count);")
    else:
        yield Axis("i", "count", (Line("buffer[i] = (float)from[done + i];"),))
    if cast.store:
        yield Line(f"{cast.store}(to + done, buffer, count);")
    else:
        yield Axis("i", "count", (Line(f"to[done + i] = {cast.of_float.format('buffer[i]')};"),))


def _only(cast: Cast) -> Iterator[Form]:
    """Yield the conversion of a number that is repeated, which is converted once."""
    yield Line(f"{cast.src} x = *(const {cast.src} *)src;")
    yield Line(f"{cast.dst} only = {cast.convert('x')};")
    yield Line("ow_copied_row(dst, (const char *)&only, 0, n, sizeof only);")


# ---- formats of eight bits --------------------------------------------------------------------------------------


def numbers(form: Narrow) -> Iterator[Function | Text]:
    """Yield the numbers of a format, and the function that rounds to them."""
    yield Text(f"static const float {form.suffix}_values[256] = {{ {', '.join(form.values)} }};")
    rounded = Axis("i", "n", (Line(f"to[i] = {form.round.format('from[i]')};"),))
    yield Function(f"static void round_to_{form.suffix}(uint8_t *to, const float *from, int64_t n)", (rounded,))


def from_narrow(name: str, suffix: str, rest: str) -> Function:
    """Return the function that converts from a format: to float32, and what is left."""
    return Function(f"static void {name}({_ARGUMENTS})", (Line(f"from_narrow({suffix}_values, {rest}, {_GIVEN});"),))


def to_narrow(name: str, suffix: str, first: str) -> Function:
    """Return the function that converts to a format, from float32 after a first step."""
    return Function(f"static void {name}({_ARGUMENTS})", (Line(f"to_narrow(round_to_{suffix}, {first}, {_GIVEN});"),))
