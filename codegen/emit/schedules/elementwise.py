"""Schedule of a kernel of one result for each element.

A loop of plain arithmetic has a form for each layout of its inputs, and one that gathers other rows. A loop with
functions whose vector and scalar forms differ computes whole vectors always, the last of them padded. A loop that no
compiler vectorizes is scalar.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...nest.forms import Case, Declared, Form, Function, Lanes, Line, Strip, part
from ..expressions import Variable
from . import stages
from .element import of_value
from .rows import (
    ARGUMENTS,
    NEVER_INLINE,
    PADDED,
    WHOLE_PARTS,
    buffers,
    call,
    is_contiguous,
    loads,
    locals_of,
    put,
    put_padded,
    status,
)

if TYPE_CHECKING:
    from ..elementwise import LoopKernel

_RESULT = ""
"""The name of the only result, whose buffer has no other."""


def functions(kernel: LoopKernel) -> Iterator[Function]:
    """Yield the functions of one kernel, its loop last."""
    if kernel.stages is not None:
        yield from stages.functions(kernel, kernel.line)
    if kernel.stages is None or not kernel.stages.is_call:
        yield of_value(f"static inline {kernel.result} {kernel.name}_element({kernel.signature})", kernel.line, kernel)
    if kernel.padded:
        yield _block(kernel)
    elif not kernel.scalar:
        yield _gathered(kernel)
    yield _loop(kernel)


def _element(kernel: LoopKernel, *elements: str) -> str:
    return f"{kernel.name}_element({', '.join(elements)}{kernel.param_arguments})"


def _each(kernel: LoopKernel, size: str, unrolled: int = 1, subscripts: tuple[Variable, ...] | None = None) -> Lanes:
    elements = (f"from_{each.name}{each.subscript}" for each in subscripts or kernel.inputs)
    return Lanes(size, (Line(f"to[i] = {_element(kernel, *elements)};"),), unrolled=unrolled)


# ---- vectors only -----------------------------------------------------------------------------------------------


def _block(kernel: LoopKernel) -> Function:
    """Return the function of whole vectors of contiguous rows."""
    staged = kernel.stages
    rows = "".join(f", const {each.ctype} *from_{each.name}" for each in kernel.inputs)
    signature = f"{kernel.result} *to{rows}, int64_t length{kernel.param_signature}"
    body: tuple[Form, ...]
    if staged is None:
        body = (_each(kernel, "length"),)
    elif staged.only_call is not None:
        given = (f"from_{name}" for name in staged.only_call.operands)
        body = (Declared(kernel.line, f"{call(staged.only_call.function, 'to', *given, 'length')};"),)
    elif staged.is_call:
        body = tuple(stages.strip(kernel, "to + done", ()))
    else:
        error = ", err" if kernel.fails else ""
        value = f"{kernel.name}_element({stages.given(kernel, staged.rest_reads)}{error})"
        body = tuple(stages.strip(kernel, "", (Lanes("count", (Line(f"to[done + i] = {value};"),)),)))
    comment = "" if staged is not None and staged.fills else PADDED
    return Function(f"{NEVER_INLINE} void {kernel.name}_block({signature})", body, comment)


def _padded(kernel: LoopKernel) -> Iterator[Form]:
    """Yield the loop that calls it: first for what is contiguous, then for copies, filled up to whole vectors."""
    result = Variable(_RESULT, kernel.result)
    contiguous = [is_contiguous(k, each.ctype) for k, each in enumerate((result, *kernel.inputs))]
    rows = "".join(f", (const {each.ctype} *)ptr[{k}]" for k, each in enumerate(kernel.inputs, 1))
    whole = Line(f"{kernel.name}_block(({kernel.result} *)ptr[0]{rows}, done{kernel.param_arguments});")
    yield Line("int64_t done = 0;")
    yield Case(" && ".join(contiguous), (Line(f"done = length & {WHOLE_PARTS};"), Case("done", (whole,))))
    yield from buffers((result, *kernel.inputs), "OW_STAGE", aligned=False)
    fills = kernel.stages is not None and kernel.stages.fills
    padded = "count" if fills else f"(count + OW_PAD - 1) & {WHOLE_PARTS}"
    given = "".join(f", from_{each.name}" for each in kernel.inputs)
    body = (
        Line(f"int64_t count = {part('OW_STAGE')}, padded = {padded};"),
        *loads(kernel.inputs, 1, whole="count == padded"),
        Line(f"int direct = {contiguous[0]} && count == padded;"),
        Line(f"{kernel.result} *to = direct ? ({kernel.result} *)ptr[0] + done : ow_buffer;"),
        Line(f"{kernel.name}_block(to{given}, padded{kernel.param_arguments});"),
        Case("!direct", put_padded(_RESULT, kernel.result, 0)),
    )
    yield Strip("OW_STAGE", body, first="")


# ---- loops by layout --------------------------------------------------------------------------------------------


def _gathered(kernel: LoopKernel) -> Function:
    """Return the function of rows with gaps: apart, so that contiguous rows, which may be short, need no stack for
    copies."""
    result = Variable(_RESULT, kernel.result)
    body = (
        Line(f"int64_t count = {part('OW_GATHERED')};"),
        *loads(kernel.inputs, 1),
        Line(
            f"{kernel.result} *to = {is_contiguous(0, kernel.result)} ? ({kernel.result} *)ptr[0] + done : ow_buffer;"
        ),
        _each(kernel, "count"),
        Case("to == ow_buffer", (Line(put(_RESULT, kernel.result, 0)),)),
    )
    forms = (
        Line("(void)params;"),
        *locals_of(kernel.params, kernel.fails),
        *buffers((result, *kernel.inputs), "OW_GATHERED", aligned=True),
        Strip("OW_GATHERED", body),
        status(kernel.fails),
    )
    return Function(f"{_streams(kernel)}{NEVER_INLINE} int {kernel.name}_gathered({ARGUMENTS})", forms)


def _loop(kernel: LoopKernel) -> Function:
    forms: list[Form] = [Line("(void)params, (void)index, (void)stride;")]
    if kernel.padded or kernel.scalar or kernel.layouts:
        forms += locals_of(kernel.params, kernel.fails)
    for k in kernel.chosen:
        known = " || ".join(f"stride[{k}] == {stride}" for stride in kernel.strides(k))
        forms.append(Case(known, (Line(f"ow_touch(ptr[{k}], stride[{k}] * (length - 1) + 1);"),)))
    if kernel.padded:
        forms += (*_padded(kernel), status(kernel.fails))
    elif kernel.scalar:
        forms += (*_scalar(kernel), status(kernel.fails))
    else:
        forms += (_layout(kernel, layout) for layout in kernel.layouts)
        forms.append(Line(f"return {kernel.name}_gathered(ptr, stride, length, params);"))
    return Function(f"{_streams(kernel)}static int {kernel.name}({ARGUMENTS}, int64_t index)", tuple(forms))


def _layout(kernel: LoopKernel, layout: tuple[Variable, ...]) -> Case:
    """Return the loop over rows and single elements that lie so."""
    tested = [f"stride[{k}] == {each.stride}" for k, each in enumerate(layout, 1) if each.name not in kernel.unread]
    forms: list[Form] = [Line(f"{kernel.result} *to = ({kernel.result} *)ptr[0];")]
    for k, each in enumerate(layout, 1):
        pointer, value = ("*", "") if each.step else ("", "*")
        forms.append(Line(f"const {each.ctype} {pointer}from_{each.name} = {value}(const {each.ctype} *)ptr[{k}];"))
    forms += (_each(kernel, "length", kernel.unrolled, layout), status(kernel.fails))
    return Case(" && ".join((is_contiguous(0, kernel.result), *tested)), tuple(forms))


def _scalar(kernel: LoopKernel) -> Iterator[Form]:
    elements = (f"*(const {each.ctype} *)(ptr[{k}] + i * stride[{k}])" for k, each in enumerate(kernel.inputs, 1))
    yield Line("for (int64_t i = 0; i < length; i++)")
    yield Line(f"    *({kernel.result} *)(ptr[0] + i * stride[0]) = {_element(kernel, *elements)};")


def _streams(kernel: LoopKernel) -> str:
    return "OW_STREAMS " if kernel.streams else ""
