"""Kernels over rows of halves, for expressions of arithmetic and functions that are single instructions.

Half formats compute in float32. Most kernels get them converted chunk by chunk, which costs more than the arithmetic;
these load, compute and store in vector registers, for which they are printed in a vocabulary of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from ..dtypes import DTYPES, DType
from ..expr import Expr, emit_c, lower
from ..expr.functions import FUNCTIONS
from ..expr.targets import Target, c_number
from ..expr.tree import Number
from ..expr.typed import Cast, Node, Op
from ..model import Operator
from .expressions import Variable, enum

_FUNCTIONS = {
    "sqrt": "sqrt", "abs": "abs", "copysign": "copysign", "floor": "floor", "ceil": "ceil", "trunc": "trunc",
    "round": "rint", "maximum": "maximum", "minimum": "minimum",
}  # fmt: skip
"""What half.h has for lanes, besides C's operators."""
_VOCABULARY = frozenset(("add", "sub", "mul", "div", "neg", *_FUNCTIONS))
_EXACT = frozenset(("neg", "abs", "copysign", "floor", "ceil", "trunc", "round"))
"""Of a number that a half format holds, these make another one."""


class _Lanes(Target):
    @staticmethod
    def variable_type(dtype: DType) -> str:
        return "ow_lanes"


def _number(value: Number, dtype: DType) -> str:
    return f"ow_all_lanes({c_number(value, dtype)})"


def _call(function: str) -> str:
    operands = ", ".join(f"{{{place}}}" for place in range(FUNCTIONS[function].arity))
    return f"ow_{_FUNCTIONS[function]}_lanes({operands})"


_LANES = _Lanes("lanes", _number, {(function, "float32"): _call(function) for function in _FUNCTIONS})


@dataclass(frozen=True)
class HalfKernel:
    """One loop, as elementwise.c.j2 wants it; `element` is the function of one float32 element."""

    name: str
    half: str
    suffix: str
    enum: str
    line: int
    statements: tuple[str, ...]
    value: str
    store: str
    element: str
    inputs: tuple[str, ...]

    @property
    def layouts(self) -> tuple[tuple[Variable, ...], ...]:
        """All inputs are rows, or the last of several is a number."""
        rows = tuple(Variable(name, "") for name in self.inputs)
        return (rows, (*rows[:-1], Variable(self.inputs[-1], "", broadcast=True)))[: len(rows)]


class Loop(Protocol):
    """The loop over float32 that computes the elements which fill no register."""

    @property
    def name(self) -> str: ...
    @property
    def line(self) -> int: ...
    @property
    def padded(self) -> bool: ...


def kernels(operator: Operator, tree: Expr, loop: Loop) -> Iterator[HalfKernel]:
    """`tree` is the expression of the loop."""
    float32 = DTYPES["float32"]
    env = {argument.name: float32 for argument in operator.inputs}
    functions = _functions(lower(tree, env, native=_LANES.native))
    if functions is None or not functions <= _VOCABULARY or loop.padded:
        return
    emitted = emit_c(tree, env, target=_LANES)
    for dtype in _halves(operator):
        exact = functions <= _EXACT and dtype.name == "bfloat16"
        yield HalfKernel(
            name=f"{operator.name}_{dtype.suffix}",
            half=dtype.name,
            suffix=dtype.suffix,
            enum=enum(dtype),
            line=loop.line,
            statements=emitted.statements,
            value=emitted.value,
            store=f"ow_store_{'exact_' if exact else ''}{dtype.suffix}",
            element=f"{loop.name}_element",
            inputs=tuple(argument.name for argument in operator.inputs),
        )


def _halves(operator: Operator) -> Iterator[DType]:
    for dtype in DTYPES.values():
        resolved = operator.promotion.resolve(dtype) if dtype in operator.dtypes else ()
        if dtype.opmath_name == "float32" and resolved == (DTYPES["float32"], dtype):
            yield dtype


def _functions(root: Node) -> frozenset[str] | None:
    """What computes the value; None where there is nothing to compute, or a part of it is no float32."""
    nodes = [root]
    for node in nodes:
        if node.dtype.name != "float32" or isinstance(node, Cast):
            return None
        nodes.extend(node.children)
    return frozenset(node.function for node in nodes if isinstance(node, Op)) or None
