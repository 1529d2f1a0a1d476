"""Schedules of several results for each element, and of loops for each element."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ...nest.forms import Axis, Case, Form, Function, Lanes, Line, Strip, part
from ..expressions import Variable
from . import stages
from .element import called, computed, of_values
from .rows import (
    ARGUMENTS,
    NEVER_INLINE,
    WHOLE_PARTS,
    buffer,
    buffers,
    call,
    is_contiguous,
    loads,
    locals_of,
    put_padded,
    status,
)

if TYPE_CHECKING:
    from ..blocks import Local
    from ..results import LoopOfElement, Part, ResultsKernel


def functions(kernel: ResultsKernel) -> Iterator[Function]:
    """Yield the functions of one kernel, its loop last."""
    state = kernel.loop.state if kernel.loop is not None else ()
    if kernel.loop is not None:
        yield _values(kernel, kernel.loop.start, "start", ())
        yield _values(kernel, kernel.loop.round, "round", state)
    if kernel.stages is not None:
        yield from stages.functions(kernel, kernel.value.line)
    yield _values(kernel, kernel.value, "element", state or kernel.buffered)
    yield _block(kernel)
    yield _loop(kernel)


def _values(kernel: ResultsKernel, values: Part, name: str, variables: Iterable[Variable | Local]) -> Function:
    """Return the function of the values that follow from one element, and from variables."""
    read = (*kernel.inputs, *kernel.params, *variables)
    return of_values(f"static inline void {kernel.name}_{name}", values, read)


def _computed(kernel: ResultsKernel, elements: Iterable[str], index: str) -> tuple[Form, ...]:
    """Return the results of one element, and their way to rows."""
    places = (f"to_{each.name}[{index}]" for each in kernel.results)
    return computed(f"{kernel.name}_element", kernel.value, elements, places)


# ---- contiguous rows --------------------------------------------------------------------------------------------


def _block(kernel: ResultsKernel) -> Function:
    results = "".join(f"{each.ctype} *to_{each.name}, " for each in kernel.results)
    rows = "".join(f"const {each.ctype} *from_{each.name}, " for each in kernel.inputs)
    params = "".join(f"{each.ctype} {each.name}, " for each in kernel.params)
    signature = f"{results}{rows}{params}int64_t length{', int *err' if kernel.fails else ''}"
    names = [each.name for each in kernel.params]
    body: tuple[Form, ...]
    if kernel.loop is not None:
        body = tuple(_rounds(kernel, kernel.loop))
    elif kernel.stages is not None:
        each = _computed(kernel, (each.element for each in kernel.locals), "done + i")
        body = tuple(stages.strip(kernel, "", (Lanes("count", each),)))
    else:
        elements = [*(f"from_{each.name}[i]" for each in kernel.inputs), *names]
        body = (Lanes("length", _computed(kernel, elements, "i")),)
    return Function(f"{NEVER_INLINE} void {kernel.name}_block({signature})", body)


def _rounds(kernel: ResultsKernel, loop: LoopOfElement) -> Iterator[Form]:
    """Yield the loop of a group of elements, which goes on until the last of them has ended."""
    names = [each.name for each in kernel.params]
    given = [*(f"{each.name}[j]" for each in kernel.inputs), *names]
    state = [f"{each.name}[j]" for each in loop.state]
    start = call(f"{kernel.name}_start", *given, *(f"&{each}" for each in state), "err" * loop.start.emitted.uses_err)
    group: list[Form] = [Line(f"{each.ctype} {each.name}[OW_PAD];") for each in loop.state]
    for each in kernel.inputs:
        group.append(Line(f"{each.ctype} {each.name}[OW_PAD];"))
        group.append(Line(f"memcpy({each.name}, from_{each.name} + at, sizeof {each.name});"))
    group.append(_lanes(Line(f"{start};")))
    advanced = _lanes(*_round(kernel, loop, [*given, *state]))
    if loop.ends:
        group += (
            Line(f"{loop.flag} active[OW_PAD], any = 1;"),
            Axis("j", "OW_PAD", (Line("active[j] = 1;"),), ctype="int"),
            Axis("t", "times && any", (Line("any = 0;"), advanced)),
        )
    else:
        group.append(Axis("t", "times", (advanced,)))
    group.append(_lanes(*_computed(kernel, [*given, *state], "at + j")))
    yield Line(
        "/* A group of elements goes on until the last of them has ended; those that have keep what they have. */"
    )
    yield Line(f"const int64_t times = {loop.times};")
    yield Axis("at", "length", tuple(group), step="at += OW_PAD")


def _lanes(*body: Form) -> Lanes:
    return Lanes("OW_PAD", body, index="j", ctype="int")


def _round(kernel: ResultsKernel, loop: LoopOfElement, elements: list[str]) -> Iterator[Form]:
    """Yield one round of an element. One that has ended keeps its state, and its errors are none."""
    yield from (Line(f"{each.ctype} {each.name};") for each in loop.round.results)
    fails = loop.round.emitted.uses_err
    if fails:
        yield Line("int failed = 0;")
    yield called(f"{kernel.name}_round", loop.round, elements, "&failed")
    if loop.ends:
        yield from (Line("active[j] &= ow_goes;"), Line("any |= active[j];"))
    for each in loop.state:
        following = f"active[j] ? next_{each.name} : {each.name}[j]" if loop.ends else f"next_{each.name}"
        yield Line(f"{each.name}[j] = {following};")
    if fails:
        yield Line("*err |= failed & (int)active[j];" if loop.ends else "*err |= failed;")


# ---- all rows ---------------------------------------------------------------------------------------------------


def _loop(kernel: ResultsKernel) -> Function:
    first = len(kernel.results)
    forms: list[Form] = [Line("(void)params, (void)index;"), *locals_of(kernel.params, kernel.fails)]
    for index in kernel.chosen:
        k, ctype = first + index, kernel.inputs[index].ctype
        touch = Line(f"ow_touch(ptr[{k}], stride[{k}] * (length - 1) + 1);")
        forms.append(Case(is_contiguous(k, ctype), (touch,)))
    operands = (*kernel.results, *kernel.inputs)
    given = (f"({'const ' * (k >= first)}{each.ctype} *)ptr[{k}]" for k, each in enumerate(operands))
    whole = Case("done", (_of_block(kernel, given, "done"),))
    contiguous = " && ".join(is_contiguous(k, each.ctype) for k, each in enumerate(operands))
    length = f"length & {WHOLE_PARTS}" if kernel.padded else "length"
    forms += (
        Line("int64_t done = 0;"),
        Case(contiguous, (Line(f"done = {length};"), whole)),
        *buffers(operands, "OW_STAGE", aligned=True),
        Strip("OW_STAGE", tuple(_gathered(kernel)), first=""),
        status(kernel.fails),
    )
    return Function(f"static int {kernel.name}({ARGUMENTS}, int64_t index)", tuple(forms))


def _gathered(kernel: ResultsKernel) -> Iterator[Form]:
    """Yield a part of rows with gaps, or of the last that are no whole group."""
    yield Line(f"const int64_t count = {part('OW_STAGE')};")
    if kernel.padded:
        yield Line(f"const int64_t padded = (count + OW_PAD - 1) & {WHOLE_PARTS};")
        yield Line("const int whole = count == padded;")
    yield from loads(kernel.inputs, len(kernel.results), whole="whole" if kernel.padded else "")
    for k, each in enumerate(kernel.results):
        place = f"({each.ctype} *)ptr[{k}] + done : {buffer(each.name)}"
        is_there = f"{'whole && ' * kernel.padded}{is_contiguous(k, each.ctype)}"
        yield Line(f"{each.ctype} *to_{each.name} = {is_there} ? {place};")
    given = (*(f"to_{each.name}" for each in kernel.results), *(f"from_{each.name}" for each in kernel.inputs))
    yield _of_block(kernel, given, "padded" if kernel.padded else "count")
    for k, each in enumerate(kernel.results):
        yield Case(f"to_{each.name} == {buffer(each.name)}", put_padded(each.name, each.ctype, k))


def _of_block(kernel: ResultsKernel, rows: Iterable[str], length: str) -> Line:
    names = (each.name for each in kernel.params)
    return Line(f"{call(f'{kernel.name}_block', *rows, *names, length, 'err' if kernel.fails else '')};")
