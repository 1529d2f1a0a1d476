"""C kernels of factories, in each dtype."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..expr import names
from ..expr.kernel_text import emit_expression, variable
from ..model.computation import position_dtype
from ..model.operator import Factory, Operator
from .expressions import Variable, enum, parameters


@dataclass(frozen=True)
class FactoryKernel:
    """A loop that computes elements from their position, in one dtype."""

    name: str
    enum: str
    ctype: str
    line: int
    statements: tuple[str, ...]
    value: str
    params: tuple[Variable, ...]
    work: str
    uses_index: bool

    @property
    def signature(self) -> str:
        names = [*(param.name for param in self.params), *([variable("i")] if self.uses_index else [])]
        return ", ".join(f"{self.work} {name}" for name in names) or "void"

    @property
    def arguments(self) -> str:
        index = [f"({self.work})(index + i)"] if self.uses_index else []
        return ", ".join([*(param.name for param in self.params), *index])


def kernels(operator: Operator, body: Factory) -> Iterator[FactoryKernel]:
    if body.value is None:
        return
    used = names(body.value.tree)
    taken = frozenset(map(variable, used))
    for dtype in operator.compute_dtypes:
        work = position_dtype(dtype)
        emitted = emit_expression(body.value.tree, dict.fromkeys(used, work), work)
        value = f"({emitted.value}) != 0" if dtype.is_bool else f"({dtype.c_type})({emitted.value})"
        params = tuple(param for param in parameters(operator, work) if param.name in taken)
        yield FactoryKernel(
            name=f"{operator.name}_{dtype.suffix}",
            enum=enum(dtype),
            ctype=dtype.c_type,
            line=body.value.line,
            statements=emitted.statements,
            value=value,
            params=params,
            work=work.c_type,
            uses_index="i" in used,
        )
