"""The parts that the functions of kernels of expressions over indices share: integers of the call, and the variables
that positions of lines have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ....nest.forms import Case, Form, Line
from ..rows import call, unused

if TYPE_CHECKING:
    from ...indexed.nodes import Kernel, Shared

SPECIAL = "const int64_t step, const int64_t phase, const int64_t rows"
"""The parameters that functions of lines have copies for."""
LINE = f"int64_t begin, int64_t end, int64_t from, int64_t to, {SPECIAL}"
LINES = "const ow_compute_context *c, int64_t begin, int64_t end"


def outer(shared: Shared) -> list[str]:
    """Return the variables that are the same along a line."""
    return ["batch", *(name for name, _ in shared.outer), *shared.bases]


def signature(shared: Shared, more: str) -> str:
    """Return the parameters of a function of positions of a line."""
    variables = (f"int64_t {name}" for name in outer(shared))
    return f"const ow_compute_context *c, int64_t at, {', '.join(variables)}, {more}"


def on_line(function: str, shared: Shared, more: str) -> str:
    """Return the call of such a function."""
    return call(function, "c", "at", *outer(shared), more)


def combined(function: str, shared: Shared, more: str) -> Line:
    """Return the statement that notes its status besides that of others."""
    return Line(f"status |= {on_line(function, shared, more)};")


def any_lanes(kernel: Kernel) -> str:
    """Return the function of lanes that has one text for all numbers of them."""
    return f"{kernel.name}_any_lanes" if kernel.inlined == "lines" else f"{kernel.name}_lanes"


def integer(name: str, value: object) -> tuple[Form, Form]:
    """Return the declaration of an integer."""
    return unused("const int64_t", name, str(value))


def integers(shared: Shared) -> Iterator[Form]:
    """Yield sizes, and the integers of the call."""
    for each in shared.tensors:
        sizes = "c->range" if each.result is not None else f"c->sizes[{each.index}]"
        for dim, known in enumerate(each.known):
            yield from integer(f"size_{each.name}_{dim}", f"{sizes}[{dim}]" if known is None else known)
    for name, numbers in shared.tables:
        for dim, size in enumerate(numbers):
            yield from integer(f"size_{name}_{dim}", size)
    for place, name in enumerate(shared.uniforms):
        yield from integer(name, f"c->uniform[{place}]")


def first_variables(shared: Shared) -> Iterator[Form]:
    """Yield the variables at the first position that is computed."""
    yield Line(f"int64_t rest = {'end - 1' if shared.descending else 'begin'};")
    for name, index in reversed(shared.outer):
        yield Line(f"int64_t {name} = rest % c->range[{index}];")
        yield Line(f"rest /= c->range[{index}];")
    yield Line("int64_t batch = rest;")


def next_variables(shared: Shared) -> Iterator[Form]:
    """Yield the step to the next position, at the end of a loop."""
    for name, index in reversed(shared.outer):
        end = f"c->range[{index}]"
        remains = f"--{name} >= 0" if shared.descending else f"++{name} < {end}"
        yield Case(remains, (Line("continue;"),))
        yield Line(f"{name} = {f'{end} - 1' if shared.descending else 0};")
    yield Line(f"batch{'--' if shared.descending else '++'};")
