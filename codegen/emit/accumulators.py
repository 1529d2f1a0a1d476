"""C kernels of reductions and scans of one value: the parts of their loops, and how these may be combined."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass

from ..dtypes import FLOAT32, FLOAT64
from ..expr import Apply, Emitted, Name, applications
from ..expr.functions import FUNCTIONS
from ..expr.kernel_text import emit_expression
from ..model.accumulation import Accumulation
from ..model.operator import Found, Operator
from ..nest.nodes import Accumulate, Identity, Map, Store, every
from ..nest.of import of
from .expressions import enum


@dataclass(frozen=True)
class AccumulatorKernel:
    """One dtype, which the accumulator, the elements, which were cast to it, and the number of them have."""

    suffix: str
    enum: str
    ctype: str
    itemsize: int
    line: int
    identity: str
    combine: Emitted
    map: Emitted
    finalize: Emitted | None
    positions: bool
    any_order: bool
    """True if a scan gives the same bits in any order, so that each level may choose its own."""
    fours: bool
    """True if a scan is plain arithmetic, which C also writes for vectors of four elements."""
    single: str | None
    """The C type of half the precision that scans also read and write."""

    def combined(self, *values: str) -> str:
        """Return C that combines values, the first one with the second, then the result with the third."""
        return functools.reduce(lambda acc, value: f"combine_{self.suffix}({acc}, {value})", values)

    def accumulated(self, acc: str, *elements: str) -> str:
        """Return C of the accumulator after some elements."""
        return self.combined(acc, *(f"map_{self.suffix}({each})" for each in elements))


def kernels(operator: Operator, body: Accumulation) -> Iterator[AccumulatorKernel]:
    """Yield the kernels of a reduction or a scan, for each dtype of computation."""
    functions = {FUNCTIONS[each.function] for each in applications(body.combine.tree) if isinstance(each, Apply)}
    joins = all(function.associative for function in functions)
    exact = joins and not any(function.rounds for function in functions)
    plain = joins and all(function.symbol for function in functions)
    for dtype in operator.compute_dtypes:
        nest = of(operator, dtype)
        (start,), (step,), (result,) = every(nest, Identity), every(nest, Accumulate), every(nest, Store)
        is_light = not dtype.is_complex and operator.cost == 1
        any_order = is_light and (dtype.is_integer or exact)
        fours = is_light and dtype.is_floating and plain
        yield AccumulatorKernel(
            suffix=dtype.suffix,
            enum=enum(dtype),
            ctype=start.ctype,
            itemsize=dtype.itemsize,
            line=step.line,
            identity=start.value,
            combine=step.value,
            map=next((each.value for each in every(nest, Map)), emit_expression(Name("self"), {"self": dtype}, dtype)),
            finalize=None if body.finalize is None else result.value,
            positions=Found.POSITION in body.found,
            any_order=any_order,
            fours=fours,
            single=FLOAT32.c_type if (any_order or fours) and dtype is FLOAT64 else None,
        )
