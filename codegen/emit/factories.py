"""C kernels of factories, in each dtype."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..expr.kernel_text import variable
from ..expr.typed import names
from ..model.computation import position_dtype
from ..model.operator import Operator
from ..nest.nodes import Store, every
from ..nest.of import of
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


def kernels(operator: Operator) -> Iterator[FactoryKernel]:
    """Yield the kernels of a factory, for each dtype; none where the core computes the elements."""
    for dtype in operator.compute_dtypes:
        for stored in every(of(operator, dtype), Store):
            work, used = position_dtype(dtype), names(stored.value.root)
            value, taken = stored.value.value, set(map(variable, used))
            yield FactoryKernel(
                name=f"{operator.name}_{dtype.suffix}",
                enum=enum(dtype),
                ctype=dtype.c_type,
                line=stored.line,
                statements=stored.value.statements,
                value=f"({value}) != 0" if dtype.is_bool else f"({dtype.c_type})({value})",
                params=tuple(each for each in parameters(operator, work) if each.name in taken),
                work=work.c_type,
                uses_index="i" in used,
            )
