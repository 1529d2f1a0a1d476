"""core/casts.c: a loop for every pair of dtypes, with the expression that converts between them.

Formats of eight bits are read from a table of their numbers, and converted to and from all other dtypes by the loops of
float32: no loop is compiled for a pair.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

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
from ..nest import c
from ..nest.forms import Function, Text
from .schedules import cast
from .text import render

_SOURCE = "codegen/dtypes.py"


@dataclass(frozen=True)
class Cast:
    """One conversion."""

    name: str
    dst: str
    src: str
    copies: bool
    expression: str
    row: str = ""
    """The function that converts rows, if there is one."""
    load: str = ""
    store: str = ""
    """The functions that convert rows of halves to float32 and from it, of which an expression may be one."""
    of_float: str = ""
    """C that converts a float32, as a format."""

    def convert(self, value: str) -> str:
        """Return the C expression that converts a value."""
        return self.expression.format(value)


@dataclass(frozen=True)
class Narrow:
    """A format of eight bits."""

    suffix: str
    values: tuple[str, ...]
    """The numbers, by their codes."""
    round: str
    """C that converts a float32, as a format."""


def emit() -> str:
    """Return the text of casts.c: conversions between all pairs of dtypes."""
    dtypes = tuple(DTYPES.values())
    table = [[_name(dst, src) for src in dtypes] for dst in dtypes]
    printed = c.text(_functions([(dst, src) for dst in dtypes for src in dtypes]), _SOURCE)
    return render("casts.c.j2", _SOURCE, "casts.c", printed=printed, table=table)


def _functions(pairs: Collection[tuple[DType, DType]]) -> Iterator[Function | Text]:
    for dst, src in pairs:
        if not (dst.is_narrow or src.is_narrow):
            yield cast.loop(_cast(dst, src))
    for dtype in NARROW:
        yield from cast.numbers(_narrow(dtype))
    # The first of two steps leads to float32, the second one from there.
    for dst, src in pairs:
        if src.is_narrow and not dst.is_narrow:
            yield cast.from_narrow(_name(dst, src), src.suffix, _name(dst, FLOAT32))
        elif dst.is_narrow and dst != src:
            yield cast.to_narrow(_name(dst, src), dst.suffix, _name(FLOAT32, src))


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
    plain = Cast(_name(dst, src), dst.c_type, src.c_type, dst == src, "{0}" if dst == src else _expression(dst, src))
    if {dst, src} == {COMPLEX32, COMPLEX64}:
        return replace(plain, row=f"ow_row_{src.suffix}_to_{dst.suffix}")
    if dst == src or dst.is_complex or src.is_complex:
        return plain
    load = f"ow_row_{src.suffix}_to_f32" * _is_half(src)
    store = f"ow_row_f32_to_{dst.suffix}" * _is_half(dst)
    if FLOAT32 in (dst, src):
        return replace(plain, row=load or store)
    return replace(plain, load=load, store=store, of_float=_expression(dst, FLOAT32))


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
