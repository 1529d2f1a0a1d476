"""The stages of elementwise kernels: functions of one element, and the loops and calls that fill buffers."""

from __future__ import annotations

from collections.abc import Iterator

from ...nest.forms import Form, Function, Lanes, Line, Strip, part
from ..blocks import Computed, Staged
from .element import of_value
from .rows import call


def functions(kernel: Staged, line: int) -> Iterator[Function]:
    """Yield the functions of the values that loops fill buffers with."""
    assert kernel.stages is not None
    for step in kernel.stages.steps:
        if isinstance(step, Computed):
            known = ", ".join(f"{each.ctype} {each.name}" for each in kernel.locals if each.name in step.reads)
            head = f"static inline {step.buffer.ctype} {kernel.name}_{step.buffer.name}({known})"
            yield of_value(head, line, step.value)


def strip(kernel: Staged, target: str, last: tuple[Form, ...]) -> Iterator[Form]:
    """Yield the loop over stages, which ends with `last`, or with a call that writes to `target`."""
    assert kernel.stages is not None
    buffers = kernel.stages.inner_buffers if target else kernel.stages.buffers
    yield from (Line(f"{each.ctype} {each.name}[OW_STAGE];") for each in buffers)
    count = Line(f"const int64_t count = {part('OW_STAGE')};")
    yield Strip("OW_STAGE", (count, *_steps(kernel, target), *last))


def given(kernel: Staged, reads: frozenset[str]) -> str:
    """Return the variables that a function of one element reads, at element `i` of a stage."""
    return ", ".join(each.element for each in kernel.locals if each.name in reads)


def _steps(kernel: Staged, target: str) -> Iterator[Form]:
    assert kernel.stages is not None
    *_, last = steps = kernel.stages.steps
    for step in steps:
        name = step.buffer.name
        if isinstance(step, Computed):
            yield Lanes("count", (Line(f"{name}[i] = {kernel.name}_{name}({given(kernel, step.reads)});"),))
        else:
            to = target if target and step is last else name
            rows = (kernel.rows.get(each, each) for each in step.operands)
            yield Line(f"{call(step.function, to, *rows, 'count')};")
