"""Kernels over rows of halves, for expressions of arithmetic, choices and functions of a register of numbers.

Half formats compute in float32. Most kernels get them converted chunk by chunk, which costs more than the arithmetic;
these load, compute and store in vector registers, for which they are printed in a vocabulary of its own.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from ..dtypes import DTYPES, FLOAT32, DType
from ..expr import Expr, emit_c, lower
from ..expr.functions import FUNCTIONS, Rule
from ..expr.kernel_text import emit_expression, variable
from ..expr.targets import Target, c_number, to_single
from ..expr.tree import Number
from ..expr.typed import Arg, Cast, Const, Node, Op, postorder
from ..model.operator import Operator
from .blocks import OF_16, block_call
from .expressions import Variable, enum, parameters

_COMPARISONS = {name: name for name, of in FUNCTIONS.items() if of.rule is Rule.COMPARISON and of.arity == 2}
_FUNCTIONS = {
    "sqrt": "sqrt", "abs": "abs", "copysign": "copysign", "floor": "floor", "ceil": "ceil", "trunc": "trunc",
    "round": "rint", "maximum": "maximum", "minimum": "minimum", "where": "where", **_COMPARISONS,
}  # fmt: skip
"""What half.h has for lanes, besides C's operators."""
_LOGIC = frozenset(("bitwise_and", "bitwise_or", "logical_and", "logical_or", "logical_not", "bitwise_not"))
_VOCABULARY = frozenset(("add", "sub", "mul", "div", "neg", *_FUNCTIONS, *OF_16)) | _LOGIC
_SIGN_CALLS = {"neg": "ow_neg_signs({0})", "abs": "ow_abs_signs({0})", "copysign": "ow_copysign_signs({0}, {1})"}
"""What looks at the sign and sets it, the first bit in all formats: half.h has these for registers of halves."""
_CHOICES = frozenset(("floor", "ceil", "trunc", "round", "maximum", "minimum", "where"))
_EXACT = _SIGN_CALLS.keys() | _LOGIC | _COMPARISONS.keys() | _CHOICES
"""Of numbers that a half format holds, these make another one."""
_ROUNDS_LATE = frozenset(("neg", "abs", "copysign", "maximum", "minimum"))
"""Of these a half is the same whether a number beside halves is rounded before or after."""


class _Lanes(Target):
    @staticmethod
    def variable_type(dtype: DType) -> str:
        return "ow_lane_mask" if dtype.is_bool else "ow_lanes"


def _number(value: Number, dtype: DType) -> str:
    return f"ow_all_lanes({c_number(value, dtype)})"


def _call(function: str) -> str:
    operands = ", ".join(f"{{{place}}}" for place in range(FUNCTIONS[function].arity))
    return f"ow_{_FUNCTIONS[function]}_lanes({operands})"


_NOT = {(function, "bool"): "ow_not_lanes({0})" for function in ("logical_not", "bitwise_not")}
_CALLS = {function: _call(function) for function in _FUNCTIONS}
_CALLS |= {function: f"(ow_lanes)ow_{function}_16((__m512)({{0}}))" for function in OF_16}
_LANES = _Lanes("lanes", _number, {(function, "float32"): call for function, call in _CALLS.items()} | _NOT)
_OF_SIGNS = _Lanes("signs", _number, {(function, "float32"): call for function, call in _SIGN_CALLS.items()})


@dataclass(frozen=True)
class HalfKernel:
    """One loop, as elementwise.c.j2 wants it."""

    name: str
    role: str
    half: str
    enum: str
    line: int
    statements: tuple[str, ...]
    value: str
    load: str
    number: str
    """C for a number in all places, as a format."""
    store: str
    inputs: tuple[str, ...]
    params: tuple[Variable, ...]
    guard: str
    """The macro that says whether a level has what is called."""

    def spread(self, place: int) -> str:
        """The number that an operand is, in all places."""
        return self.number.format(f"*(const float *)ptr[{place}]")

    @property
    def layouts(self) -> tuple[tuple[Variable, ...], ...]:
        """All inputs are rows, or the last of several is a number."""
        rows = tuple(Variable(name, "") for name in self.inputs)
        return (rows, (*rows[:-1], Variable(self.inputs[-1], "", step=0)))[: len(rows)]


def kernels(operator: Operator, tree: Expr, role: str, line: int) -> Iterator[HalfKernel]:
    """`tree` is the expression of the loops of this role."""
    params = parameters(operator, FLOAT32) if role == "general" else ()
    inputs = tuple(argument.name for argument in operator.inputs)
    env = dict.fromkeys((*inputs, *(param.name for param in (operator.params if params else ()))), FLOAT32)
    names = {name: variable(name) for name in env}
    nodes = postorder(lower(tree, env, native=_LANES.native))
    functions = _functions(nodes)
    if functions is None or not functions <= _VOCABULARY:
        return
    # A half is to be the rounded float32, which is of another function where a loop calls several that have blocks.
    of_16 = functions & frozenset(OF_16)
    rows = tuple(map(variable, inputs))
    if of_16 and not block_call(emit_expression(tree, env, FLOAT32), rows, [param.name for param in params]):
        return
    signs = functions <= _SIGN_CALLS.keys() and not params and not any(isinstance(node, Const) for node in nodes)
    emitted = emit_c(tree, env, target=_OF_SIGNS if signs else _LANES, names=names)
    keeps = functions <= (_EXACT if len(inputs) == 1 else _ROUNDS_LATE)
    for dtype in _halves(operator):
        exact = dtype.suffix == "bf16" and not params and keeps and _held(nodes)
        number = "ow_all_lanes(ow_bf16_to_f32(ow_f32_to_bf16({0})))" if exact else "ow_all_lanes({0})"
        yield HalfKernel(
            name=f"{operator.name}_{dtype.suffix}" + ("_plain" if role == "plain" else ""),
            role=role,
            half=dtype.name,
            enum=enum(dtype),
            line=line,
            statements=emitted.statements,
            value=emitted.value,
            load=f"ow_load_{'signs' if signs else dtype.suffix}",
            number="ow_all_signs({0})" if signs else number,
            store=f"ow_store_{'signs' if signs else f'exact_{dtype.suffix}' if exact else dtype.suffix}",
            inputs=rows,
            params=params,
            guard="OW_FUNCTIONS_OF_16" if of_16 else "OW_LANES",
        )


def _halves(operator: Operator) -> Iterator[DType]:
    for dtype in DTYPES.values():
        resolved = operator.promotion.resolve(dtype) if dtype in operator.dtypes else ()
        if dtype.opmath_name == "float32" and resolved == (FLOAT32, dtype):
            yield dtype


def _functions(nodes: list[Node]) -> frozenset[str] | None:
    """What computes the value; None where there is nothing to compute, or a part of it is neither float32 nor a truth
    value that lanes were compared for."""
    for node in nodes:
        if isinstance(node, Cast) or not (node.dtype is FLOAT32 or (node.dtype.is_bool and isinstance(node, Op))):
            return None
    if nodes[-1].dtype is not FLOAT32 or not any(isinstance(node, Arg) for node in nodes):
        return None
    return frozenset(node.function for node in nodes if isinstance(node, Op)) or None


def _held(nodes: list[Node]) -> bool:
    """Does bfloat16 hold all the constants?"""
    constants = [float(node.value) for node in nodes if isinstance(node, Const)]
    return all(struct.pack("<f", to_single(value))[:2] == b"\0\0" for value in constants)
