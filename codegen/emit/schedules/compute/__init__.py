"""Schedule of kernels of expressions over indices.

The core calls a kernel for a range of lines. Lines are divided into lanes, of which as many are computed together as
vectors hold; where all indices lie inside, elements are read without tests.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ....nest.forms import Function, Text
from . import lanes, line, positions

if TYPE_CHECKING:
    from ...indexed.nodes import Kernel, Shared


def functions(kernel: Kernel, shared: Shared) -> Iterator[Function | Text]:
    """Yield the functions of one kernel, the one that the core calls last."""
    if kernel.parts:
        for part in kernel.parts:
            yield from functions(part, shared)
        yield positions.stretched(kernel, shared)
        return
    numbers = {"LANES": kernel.lanes, **({"ROWS": kernel.rows} if kernel.rows > 1 else {})}
    defined = "\n".join(f"#define {name} {number}" for name, number in numbers.items())
    yield Text(f"/* ---- {kernel.name} ---- */\n\n{defined}")
    yield from lanes.functions(kernel, shared)
    yield from line.functions(kernel, shared)
    if not kernel.is_part:
        yield from positions.functions(kernel, shared)
    yield Text("\n".join(f"#undef {name}" for name in numbers))
