"""core/casts.c: a loop for every pair of dtypes, with the expression that converts between them.

Formats of eight bits are read from a table of their numbers, and converted to and from all other dtypes by the loops of
float32: no loop is compiled for a pair.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..dtypes import (
    COMPLEX32,
    COMPLEX64,
    DTYPE_CLASSES,
    DTYPES,
    FLOAT32,
    NARROW,
    UINT8,
    UINT64,
    DType,
    Format,
    Specials,
)
from .text import render


@dataclass(frozen=True)
class Cast:
    """Context of casts.c.j2 for one conversion; `rows` are calls for contiguous half formats."""

    name: str
    dst: str
    src: str
    copy: bool
    rows: tuple[str, ...]
    expression: str

    def convert(self, value: str) -> str:
        """Return the C expression that converts a value."""
        return self.expression.format(value)


@dataclass(frozen=True)
class Narrow:
    """Context of casts.c.j2 for a format of eight bits."""

    suffix: str
    values: tuple[str, ...]
    """The numbers, by their codes."""
    round: str
    """C that converts a float32, as a format."""


def emit() -> str:
    """Return the text of casts.c: conversions between all pairs of dtypes."""
    dtypes = tuple(DTYPES.values())
    pairs = [(dst, src) for dst in dtypes for src in dtypes]
    casts = [_cast(dst, src) for dst, src in pairs if not (dst.is_narrow or src.is_narrow)]
    # The first of two steps leads to float32, the second one from there.
    from_narrow = [(*pair, _name(pair[0], FLOAT32)) for pair in pairs if pair[1].is_narrow and not pair[0].is_narrow]
    to_narrow = [(*pair, _name(FLOAT32, pair[1])) for pair in pairs if pair[0].is_narrow and pair[0] != pair[1]]
    table = [[_name(dst, src) for src in dtypes] for dst in dtypes]
    return render(
        *("casts.c.j2", "codegen/dtypes.py", "casts.c"),
        casts=casts,
        narrow=[_narrow(dtype) for dtype in NARROW],
        from_narrow=[(_name(dst, src), src.suffix, rest) for dst, src, rest in from_narrow],
        to_narrow=[(_name(dst, src), dst.suffix, first) for dst, src, first in to_narrow],
        table=table,
    )


def _name(dst: DType, src: DType) -> str:
    if dst == src and dst.is_narrow:
        return _name(UINT8, UINT8)
    return f"cast_{src.suffix}_to_{dst.suffix}"


def _narrow(dtype: DType) -> Narrow:
    form = dtype.format
    assert form is not None
    values = tuple(_number(form, code) for code in range(1 << form.bits))
    facts = [form.bias, form.largest_code, form.overflow_code, form.nan_code]
    if form.signed:
        facts = [form.stored, *facts, int(form.specials is not Specials.FNUZ)]
    function = "ow_to_narrow" if form.signed else "ow_to_powers"
    return Narrow(dtype.suffix, values, f"{function}({{0}}, {', '.join(map(str, facts))})")


def _number(form: Format, code: int) -> str:
    """C for the number of a code. A NaN keeps its sign and its bits of the significand."""
    value = form.value(code)
    sign = "-" if code > form.magnitudes else ""
    if math.isnan(value):
        payload = code % (1 << form.stored) << (23 - form.stored)
        return f'{sign}__builtin_nanf("{payload:#x}")'
    return f"{sign}__builtin_inff()" if math.isinf(value) else f"{value.hex()}f"


def _is_half(dtype: DType) -> bool:
    return dtype in DTYPE_CLASSES["half"]


def _cast(dst: DType, src: DType) -> Cast:
    copy = dst == src
    rows: tuple[str, ...] = ()
    if not copy and (_is_half(dst) or _is_half(src)) and not (dst.is_complex or src.is_complex):
        rows = _rows(dst, src)
    elif {dst, src} == {COMPLEX32, COMPLEX64}:
        rows = (f"ow_row_{src.suffix}_to_{dst.suffix}",)
    return Cast(_name(dst, src), dst.c_type, src.c_type, copy, rows, "{0}" if copy else _expression(dst, src))


def _rows(dst: DType, src: DType) -> tuple[str, ...]:
    """Calls that convert a row of a half format, through float32."""
    load, store = f"ow_row_{src.suffix}_to_f32", f"ow_row_f32_to_{dst.suffix}"
    if dst == FLOAT32:
        return (load,)
    if src == FLOAT32:
        return (store,)
    into = (
        f"{load}(buffer, from + at, count);"
        if _is_half(src)
        else "for (int64_t i = 0; i < count; i++) buffer[i] = (float)from[at + i];"
    )
    out_of = (
        f"{store}(to + at, buffer, count);"
        if _is_half(dst)
        else f"for (int64_t i = 0; i < count; i++) to[at + i] = {_expression(dst, FLOAT32).format('buffer[i]')};"
    )
    return into, out_of


def _expression(dst: DType, src: DType) -> str:
    """C for one element; `{0}` is the value."""
    if src.is_complex or dst.is_complex:
        return _complex_expression(dst, src)
    value = f"ow_{src.suffix}_to_f32({{0}})" if _is_half(src) else "{0}"
    origin = src.opmath if _is_half(src) else src
    if dst.is_bool:
        return f"{value} != 0"
    if _is_half(dst):
        return f"ow_f32_to_{dst.suffix}((float){value})"
    if dst.is_integer and origin.is_floating:
        # Narrow integers are truncated from 32 bits, which hold all their values, as x86 (and so torch) converts.
        width = 32 if dst.lowest >= -(1 << 31) and dst.highest < 1 << 31 else 64
        spelled = "float" if origin == FLOAT32 else "double"
        return f"({dst.c_type}){spelled}_to_{'u64' if dst is UINT64 else f'i{width}'}({value})"
    return f"({dst.c_type}){value}"


def _complex_expression(dst: DType, src: DType) -> str:
    """C for one element to or from a complex dtype: the imaginary part is zero, or dropped."""
    value = "ow_c32_to_c64({0})" if src is COMPLEX32 else "{0}"
    if dst.is_bool:
        return f"{value} != 0"
    if not dst.is_complex:
        return _expression(dst, src.opmath.to_real).format(f"__real__ {value}")
    if not src.is_complex:
        value = f"({dst.opmath.c_type}){_expression(dst.opmath.to_real, src)}"
    return f"ow_c64_to_c32((float _Complex){value})" if dst is COMPLEX32 else f"({dst.c_type}){value}"
