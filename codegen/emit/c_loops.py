"""C kernels of operators whose loop is C of the entry: context of loop.c.j2."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ..model.loop import Loop
from ..model.operator import Operator
from .expressions import Variable, enum, parameters


@dataclass(frozen=True)
class LoopKernel:
    """One dtype of computation. In the code everything has the name that it is declared by."""

    suffix: str
    enum: str
    ctype: str
    line: int
    code: str
    results: tuple[Variable, ...]
    inputs: tuple[Variable, ...]
    sizes: tuple[str, ...]
    params: tuple[Variable, ...]

    has_blocks = has_complex_blocks = False


def kernels(operator: Operator, body: Loop) -> Iterator[LoopKernel]:
    """Yield the kernels of a loop that is written in C, for each dtype of computation."""
    first = body.code.locate(0)[0]
    for dtype in operator.compute_dtypes:
        params = parameters(operator, dtype)
        yield LoopKernel(
            suffix=dtype.suffix,
            enum=enum(dtype),
            ctype=dtype.c_type,
            line=first,
            code=body.code.value.rstrip("\n"),
            results=tuple(
                Variable(label or "result", (own or dtype).c_type)
                for label, own in zip(operator.labels, body.own, strict=True)
            ),
            inputs=tuple(Variable(each.name, body.fixed.get(each.name, dtype).c_type) for each in operator.inputs),
            sizes=tuple(name for name in body.named_sizes if name not in {each.name for each in operator.params}),
            params=tuple(
                replace(variable, name=param.name) for variable, param in zip(params, operator.params, strict=True)
            ),
        )


def names(operator: Operator, body: Loop) -> list[str]:
    """All that the code of the entry calls by the names of the declaration."""
    arguments = [each.name for each in operator.schema.arguments]
    return list(dict.fromkeys([*arguments, *(label or "result" for label in operator.labels), *body.named_sizes]))
