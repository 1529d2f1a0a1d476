"""C kernels of operators whose loop is C of the entry."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ..model.loop import Loop
from ..model.operator import Operator
from ..nest.forms import Axis, Declared, Function, Line, Text
from .expressions import Variable, enum, parameters
from .schedules.rows import ARGUMENTS, call


@dataclass(frozen=True)
class LoopKernel:
    """One dtype of computation. In the code everything has the name that it is declared by."""

    suffix: str
    enum: str
    ctype: str
    line: int
    code: str
    tensors: tuple[Variable, ...]
    """Results, whose elements are written, and inputs, whose types are constant."""
    sizes: tuple[str, ...]
    params: tuple[Variable, ...]


def kernels(operator: Operator, body: Loop) -> Iterator[LoopKernel]:
    """Yield the kernels of a loop that is written in C, for each dtype of computation."""
    first = body.code.locate(0)[0]
    names = {each.name for each in operator.params}
    for dtype in operator.compute_dtypes:
        results = (
            Variable(label or "result", (own or dtype).c_type)
            for label, own in zip(operator.labels, body.own, strict=True)
        )
        inputs = (Variable(each.name, f"const {body.fixed.get(each.name, dtype).c_type}") for each in operator.inputs)
        params = zip(parameters(operator, dtype), operator.params, strict=True)
        yield LoopKernel(
            suffix=dtype.suffix,
            enum=enum(dtype),
            ctype=dtype.c_type,
            line=first,
            code=body.code.value.rstrip("\n"),
            tensors=(*results, *inputs),
            sizes=tuple(name for name in body.named_sizes if name not in names),
            params=tuple(replace(variable, name=param.name) for variable, param in params),
        )


def functions(kernel: LoopKernel) -> Iterator[Function | Text]:
    """Yield the function of the entry's code, and the one that calls it for each position."""
    declared = (
        *(f"{each.ctype} *restrict {each.name}" for each in kernel.tensors),
        *(f"const int64_t {name}" for name in kernel.sizes),
        *(f"const {each.ctype} {each.name}" for each in kernel.params),
    )
    unused = (Line(f"(void){name};") for name in kernel.sizes)
    count = len(kernel.tensors)
    given = (
        *(f"({each.ctype} *)(ptr[{k}] + i * stride[{k}])" for k, each in enumerate(kernel.tensors)),
        *(f"stride[{k}]" for k in range(count, count + len(kernel.sizes))),
        *(f"({each.ctype})params[{each.index}].{each.field}" for each in kernel.params),
    )
    code = f"code_{kernel.suffix}"
    yield Text(f"#define scalar_t {kernel.ctype}")
    yield Function(f"static inline void {call(code, *declared)}", (*unused, Declared(kernel.line, kernel.code)))
    yield Text("#undef scalar_t")
    forms = (
        Line("(void)params, (void)index;"),
        Axis("i", "length", (Line(f"{call(code, *given)};"),)),
        Line("return OW_OK;"),
    )
    yield Function(f"static int loop_{kernel.suffix}({ARGUMENTS}, int64_t index)", forms)


def names(operator: Operator, body: Loop) -> list[str]:
    """All that the code of the entry calls by the names of the declaration."""
    arguments = [each.name for each in operator.schema.arguments]
    return list(dict.fromkeys([*arguments, *(label or "result" for label in operator.labels), *body.named_sizes]))
