"""Kernels over rows of halves, for expressions of nothing but arithmetic.

Half formats compute in float32. Most kernels get them converted chunk by chunk, which costs more than the arithmetic;
these load, compute and store in vector registers. C's operators work on vectors as on numbers, so the text of the
expression serves for both.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from ..dtypes import DTYPES, DType
from ..expr import Apply, Expr
from ..model import Operator
from .expressions import Variable, enum

_ARITHMETIC = frozenset(("add", "sub", "mul", "div", "neg"))


@dataclass(frozen=True)
class HalfKernel:
    """One loop, as elementwise.c.j2 wants it; `element` is the function of one float32 element."""

    name: str
    half: str
    suffix: str
    enum: str
    line: int
    value: str
    element: str
    inputs: tuple[str, ...]

    @property
    def layouts(self) -> tuple[tuple[Variable, ...], ...]:
        """All inputs are rows, or the last of several is a number."""
        rows = tuple(Variable(name, "") for name in self.inputs)
        return (rows, (*rows[:-1], Variable(self.inputs[-1], "", broadcast=True)))[: len(rows)]


class Loop(Protocol):
    """The loop over float32 that a loop over halves is made from."""

    @property
    def name(self) -> str: ...
    @property
    def line(self) -> int: ...
    @property
    def statements(self) -> tuple[str, ...]: ...
    @property
    def value(self) -> str: ...


def kernels(operator: Operator, tree: Expr, loop: Loop) -> Iterator[HalfKernel]:
    """`tree` is the expression of the loop."""
    if loop.statements or not _is_arithmetic(tree) or len(operator.inputs) > 2:
        return
    for dtype in _halves(operator):
        yield HalfKernel(
            name=f"{operator.name}_{dtype.suffix}",
            half=dtype.name,
            suffix=dtype.suffix,
            enum=enum(dtype),
            line=loop.line,
            value=loop.value,
            element=f"{loop.name}_element",
            inputs=tuple(argument.name for argument in operator.inputs),
        )


def _halves(operator: Operator) -> Iterator[DType]:
    for dtype in DTYPES.values():
        resolved = operator.promotion.resolve(dtype) if dtype in operator.dtypes else ()
        if dtype.opmath_name == "float32" and resolved == (DTYPES["float32"], dtype):
            yield dtype


def _is_arithmetic(tree: Expr) -> bool:
    nodes = [tree]
    for node in nodes:
        if isinstance(node, Apply) and node.function not in _ARITHMETIC:
            return False
        nodes.extend(node.children)
    return isinstance(tree, Apply)
