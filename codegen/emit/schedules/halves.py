"""Schedules of rows of halves in vector registers: two registers of float32 numbers at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...nest.forms import Block, Case, Form, Function, Line
from .element import of_value
from .rows import ARGUMENTS, call

if TYPE_CHECKING:
    from ..expressions import Variable
    from ..halves import HalfKernel


def functions(kernel: HalfKernel) -> Iterator[Function]:
    """Yield the functions of one register, of two and of rows."""
    params = [each.name for each in kernel.params]
    lanes = ", ".join(f"ow_lanes {name}" for name in (*kernel.inputs, *params))
    yield of_value(f"static inline ow_lanes {kernel.name}_lanes({lanes})", kernel.line, kernel)
    registers = (
        Line(f"    {call(f'{kernel.name}_lanes', *(f'{name}.{each}' for name in kernel.inputs), *params)},")
        for each in ("a", "b")
    )
    given = (*(f"ow_lane_pair {name}" for name in kernel.inputs), *(f"ow_lanes {name}" for name in params))
    stored = (Line(f"{kernel.store}(to, (ow_lane_pair){{"), *registers, Line("});"))
    yield Function(f"static inline void {kernel.name}_pair({', '.join(('uint16_t *to', *given))})", stored)
    yield Function(f"static int {kernel.name}({ARGUMENTS}, int64_t index)", tuple(_loop(kernel)))


def _loop(kernel: HalfKernel) -> Iterator[Form]:
    yield Line("(void)params, (void)index, (void)stride;")
    yield Line("uint16_t *to = (uint16_t *)ptr[0], ow_part[2 * OW_LANES];")
    yield Line("int64_t i = 0;")
    for each in kernel.params:
        number = f"ow_all_lanes((float)params[{each.index}].{each.field})"
        yield Line(f"const ow_lanes {each.name} = {number};")
    *others, last = kernel.layouts
    for layout in others:
        yield Block(f"if (stride[{len(kernel.inputs)}])", tuple(_layout(kernel, layout)))
    yield Block("else" * bool(others), tuple(_layout(kernel, last)))
    yield Line("return OW_OK;")


def _layout(kernel: HalfKernel, layout: tuple[Variable, ...]) -> Iterator[Form]:
    """Yield the loop over rows and single numbers that lie so. There are parts of registers at the beginning, until the
    result is aligned, and at the end."""
    for k, each in enumerate(layout, 1):
        name = each.name
        if each.step:
            yield Line(f"const uint16_t *from_{name} = (const uint16_t *)ptr[{k}];")
            yield Line(f"uint16_t ow_part_{name}[2 * OW_LANES];")
        else:
            yield Line(f"const ow_lanes ow_all_{name} = {kernel.spread(k)};")
            yield Line(f"const ow_lane_pair {name} = {{ow_all_{name}, ow_all_{name}}};")
    part = (
        Line(_pair(kernel, layout, "ow_part", "ow_filled(ow_part_{0}, from_{0} + i, ow_part_length)")),
        Line("ow_put_part(to + i, ow_part, ow_part_length);"),
        Line("i += ow_part_length;"),
    )
    yield Block(
        "for (int64_t ow_part_length = ow_unaligned(to, length); i < length; ow_part_length = length - i)",
        (
            Case("ow_part_length", part),
            Line("for (; i + 2 * OW_LANES <= length; i += 2 * OW_LANES)"),
            Line(f"    {_pair(kernel, layout, 'to + i', 'from_{0} + i')}"),
        ),
    )


def _pair(kernel: HalfKernel, layout: tuple[Variable, ...], to: str, row: str) -> str:
    rows = (f"{kernel.load}({row.format(each.name)})" if each.step else each.name for each in layout)
    return f"{call(f'{kernel.name}_pair', to, *rows, *(each.name for each in kernel.params))};"
