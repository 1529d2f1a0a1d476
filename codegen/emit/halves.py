"""Kernels over rows of halves, for expressions of arithmetic, choices and functions of vector registers.

Half formats compute in float32. For most kernels they are converted in chunks, which costs more than the arithmetic.
These kernels load, compute and store in vector registers, so their expressions are printed for a target of their own.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from ..dtypes import DTYPE_CLASSES, FLOAT32, DType, ordered
from ..expr.emit_c import print_c
from ..expr.functions import FUNCTIONS, Rule
from ..expr.kernel_text import variable
from ..expr.lower import lower_further
from ..expr.targets import Target, c_number, to_single
from ..expr.tree import Number
from ..expr.typed import Arg, Cast, Const, Node, Op, names, postorder
from ..model.operator import Operator
from ..nest.nodes import Store, every
from ..nest.of import of
from .blocks import stages
from .expressions import Variable, enum, parameters

_ROWS = FUNCTIONS.values()
_BOOLEAN = (Rule.LOGICAL, Rule.BITWISE)
_AVX512_FUNCTIONS = frozenset(each.name for each in _ROWS if each.avx512)
_VOCABULARY = frozenset(
    each.name
    for each in _ROWS
    if each.lanes
    or each.avx512
    or each.rule in _BOOLEAN
    or (each.symbol and not each.c and each.rule in (Rule.ARITHMETIC, Rule.FLOATING))
)
_SIGNS = frozenset(each.name for each in _ROWS if each.signs)
_EXACT = frozenset(each.name for each in _ROWS if not each.rounds)
"""Functions that give a number of the half format for numbers of the half format."""
_ROUNDS_LATE = frozenset(each.name for each in _ROWS if each.monotone)
"""Functions with the same result whether a number beside halves is rounded before or after."""


class _Lanes(Target):
    @staticmethod
    def variable_type(dtype: DType) -> str:
        return "ow_lane_mask" if dtype.is_bool else "ow_lanes"


def _number(value: Number, dtype: DType) -> str:
    return f"ow_all_lanes({c_number(value, dtype)})"


_NOT = {(each.name, "bool"): "ow_not_lanes({0})" for each in _ROWS if each.rule in _BOOLEAN and each.arity == 1}
_CALLS = {(each.name, "float32"): each.call(each.lanes) for each in _ROWS if each.lanes}
_CALLS |= {(name, "float32"): f"(ow_lanes)ow_{name}_16((__m512)({{0}}))" for name in _AVX512_FUNCTIONS}
_LANES = _Lanes("lanes", _number, _CALLS | _NOT)
_SIGN_LANES = _Lanes("signs", _number, {(name, "float32"): FUNCTIONS[name].call(f"ow_{name}_signs") for name in _SIGNS})


@dataclass(frozen=True)
class HalfKernel:
    """A loop over rows of one half format."""

    name: str
    role: str
    half: str
    enum: str
    line: int
    statements: tuple[str, ...]
    value: str
    load: str
    number: str
    """C that broadcasts a number to all lanes, as a format."""
    store: str
    inputs: tuple[str, ...]
    params: tuple[Variable, ...]
    guard: str
    """The macro that is defined where a level has the functions that are called."""

    def spread(self, index: int) -> str:
        """C that broadcasts an operand which is a single number."""
        return self.number.format(f"*(const float *)ptr[{index}]")

    @property
    def layouts(self) -> tuple[tuple[Variable, ...], ...]:
        """Layouts of the inputs: all are rows, or the last of several is a number."""
        rows = tuple(Variable(name, "") for name in self.inputs)
        return (rows, (*rows[:-1], Variable(self.inputs[-1], "", step=0)))[: len(rows)]


def kernels(operator: Operator, role: str) -> Iterator[HalfKernel]:
    """The kernels of an operator. With the role `plain` they read no parameters."""
    if any(param.is_integral for param in operator.params):
        return
    (stored,) = every(of(operator, FLOAT32), Store)
    params = parameters(operator, FLOAT32) if role == "general" else ()
    inputs = tuple(argument.name for argument in operator.inputs)
    root = lower_further(stored.value.root, _LANES.native)
    nodes = postorder(root)
    functions = _functions(nodes)
    if functions is None or not functions <= _VOCABULARY:
        return
    # The result must be the rounded float32 one: that loop calls functions of rows, which are these.
    on_registers = functions & _AVX512_FUNCTIONS
    if on_registers and not stages([stored.value.root], inputs):
        return
    signs = functions <= _SIGNS and not params and not any(isinstance(node, Const) for node in nodes)
    emitted = print_c(root, _SIGN_LANES if signs else _LANES, {name: variable(name) for name in names(root)})
    keeps = functions <= (_EXACT if len(inputs) == 1 else _ROUNDS_LATE)
    for dtype in _halves(operator):
        exact = dtype.suffix == "bf16" and not params and keeps and _are_exact(nodes)
        number = "ow_all_lanes(ow_bf16_to_f32(ow_f32_to_bf16({0})))" if exact else "ow_all_lanes({0})"
        yield HalfKernel(
            name=f"{operator.name}_{dtype.suffix}" + ("_plain" if role == "plain" else ""),
            role=role,
            half=dtype.name,
            enum=enum(dtype),
            line=stored.line,
            statements=emitted.statements,
            value=emitted.value,
            load=f"ow_load_{'signs' if signs else dtype.suffix}",
            number="ow_all_signs({0})" if signs else number,
            store=f"ow_store_{'signs' if signs else f'exact_{dtype.suffix}' if exact else dtype.suffix}",
            inputs=tuple(map(variable, inputs)),
            params=params,
            guard="OW_FUNCTIONS_OF_16" if on_registers else "OW_LANES",
        )


def _halves(operator: Operator) -> Iterator[DType]:
    for dtype in ordered(DTYPE_CLASSES["half"]):
        resolved = operator.promotion.resolve(dtype) if dtype in operator.dtypes else ()
        if resolved == (FLOAT32, dtype):
            yield dtype


def _functions(nodes: list[Node]) -> frozenset[str] | None:
    """The functions that compute the value; None if there are none, or if a part of it is neither float32 nor the
    bool of a comparison."""
    for node in nodes:
        if isinstance(node, Cast) or not (node.dtype is FLOAT32 or (node.dtype.is_bool and isinstance(node, Op))):
            return None
    if nodes[-1].dtype is not FLOAT32 or not any(isinstance(node, Arg) for node in nodes):
        return None
    return frozenset(node.function for node in nodes if isinstance(node, Op)) or None


def _are_exact(nodes: list[Node]) -> bool:
    """True if bfloat16 holds all constants exactly."""
    constants = [float(node.value) for node in nodes if isinstance(node, Const)]
    return all(struct.pack("<f", to_single(value))[:2] == b"\0\0" for value in constants)
