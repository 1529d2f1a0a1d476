"""Schedule of kernels of rows: functions that the core calls in turn, for one row and for rows side by side."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ....nest.forms import Function, Line
from ..rows import written
from . import one_row, side_by_side

if TYPE_CHECKING:
    from ...rows import RowsKernel, Value


def functions(kernel: RowsKernel) -> Iterator[Function]:
    """Yield the functions of one kernel."""
    forms = (one_row, side_by_side) if kernel.side_by_side else (one_row,)
    for let in kernel.lets:
        if let.combine is not None:
            yield _join(kernel, let)
    for phase in kernel.phases:
        if phase.lets:
            yield from (form.values(kernel, phase) for form in forms)
    for index, run in enumerate(kernel.passes):
        for form in forms:
            yield from (form.leaf(kernel, index, run), form.merge(kernel, index, run))
    if kernel.mapped is not None:
        yield from (form.mapped(kernel, kernel.mapped) for form in forms)
    if kernel.results:
        yield from (form.finish(kernel) for form in forms)


def _join(kernel: RowsKernel, let: Value) -> Function:
    assert let.combine is not None
    value = written(let.combine.statements, f"return {let.combine.value};")
    head = f"static inline {kernel.ctype} join_{let.name}_{kernel.suffix}({kernel.ctype} v_acc, {kernel.ctype} v_self)"
    return Function(head, (Line(value),))
