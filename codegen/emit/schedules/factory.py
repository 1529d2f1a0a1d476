"""Schedule of a kernel of the elements of a new tensor."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...nest.forms import Axis, Block, Form, Function, Line
from .element import of_value
from .rows import is_contiguous

if TYPE_CHECKING:
    from ..factories import FactoryKernel


def functions(kernel: FactoryKernel) -> Iterator[Function]:
    """Yield the function of one element, and the loop."""
    yield of_value(f"static inline {kernel.ctype} {kernel.name}_element({kernel.signature})", kernel.line, kernel)
    element = f"{kernel.name}_element({kernel.arguments});"
    contiguous = (
        Line(f"{kernel.ctype} *to = ({kernel.ctype} *)ptr[0];"),
        Axis("i", "n", (Line(f"to[i] = {element}"),)),
        Line("return OW_OK;"),
    )
    forms: tuple[Form, ...] = (
        Line("(void)params, (void)index;"),
        *(Line(f"const {each.ctype} {each.name} = params[{each.index}].{each.field};") for each in kernel.params),
        Block(f"if ({is_contiguous(0, kernel.ctype)})", contiguous),
        Axis("i", "n", (Line(f"*({kernel.ctype} *)(ptr[0] + i * stride[0]) = {element}"),)),
        Line("return OW_OK;"),
    )
    arguments = "char *const *ptr, const int64_t *stride, int64_t n, const ow_scalar *params, int64_t index"
    yield Function(f"static int {kernel.name}({arguments})", forms)
