"""Operators of elements: all follow from their entries, and few have a node of their own."""

from __future__ import annotations

from typing import Any

from ..._base.dtypes import EXPORTS
from ..._dispatch.op import NEW
from ..._operators import full
from ...codegen import recorded
from ...codegen.dtypes import DTYPES
from ...codegen.expr.typed import convert
from ...compiler._declarations import declared
from ...compiler._graph import Operation
from ...compiler._graph import Value as Operand
from ...compiler._groups import name_of, operands_of
from ...compiler._recording import Facts, Place
from .._builder import Builder, NotMapped, Value
from .._calls import Call, row
from .._expressions import has, nodes_of

_FLOATING = ("float16", "float32", "float64", "bfloat16")
_HALVES = ("float16", "bfloat16")
_NOWHERE = Place("", 0)


def by_expression(b: Builder, call: Call) -> str:
    """Return the name of what the entry's expression computes."""
    operator = declared(call.op.name)
    if operator is None or not recorded.takes(operator):
        raise NotMapped("it has several results")
    values: list[Operand] = []
    tensors: dict[str, Value] = {}

    def operand(value: Any) -> Any:
        if not isinstance(value, Value):
            return _rounded(value, call) if call.dtype == "bool" and isinstance(value, float) else value
        if value.dtype in _HALVES:  # they are rounded once, at the end
            value = b.cast(value, "float32")
        # Only which sizes are there counts: those without dimensions give way to others.
        facts = Facts(EXPORTS[value.dtype], (1,) * len(value.sizes), (1,) * len(value.sizes))
        made = Operand(len(values), facts, None, False, True)
        values.append(made)
        tensors[name_of(made)] = value
        return made

    args = tuple(operand(call[name]) for name in call.op.names)
    result = Operand(-1, Facts(EXPORTS[call.dtype], (), ()), None, False, False)
    operation = Operation(call.op, args, None, NEW, (result,), True, 0, False, _NOWHERE)
    found = operands_of(operation, operator, {})
    tree = None if found is None else recorded.tree(*found, has)
    if tree is None:
        raise NotMapped("its arguments are others than tensors and numbers")
    return nodes_of(b, convert(tree, DTYPES[call.dtype]), tensors, call.sizes).name


def _rounded(number: float, call: Call) -> float:
    """A number that is compared with halves: it must be able to equal them."""
    dtypes = {each.dtype for each in call.arguments.values() if isinstance(each, Value)}
    floating = dtypes.intersection(_FLOATING)
    if len(floating) != 1 or not floating.issubset(_HALVES):
        return number
    return float(full((), number, dtype=EXPORTS[floating.pop()]).item())


def _own(kind: str, **attributes: Any) -> Any:
    def node(b: Builder, call: Call) -> str:
        if call.input.dtype not in _FLOATING:
            return by_expression(b, call)
        given: dict[str, Any] = {name: float(call[argument]) for name, argument in attributes.items()}
        return str(b.node(kind, call.input.name, **given))

    return node


for _name, _kind in {"relu": "Relu", "sigmoid": "Sigmoid", "hardswish": "HardSwish", "softsign": "Softsign"}.items():
    row(_name)(_own(_kind))
row("leaky_relu")(_own("LeakyRelu", alpha="negative_slope"))


@row("gelu")
def _gelu(b: Builder, call: Call) -> Any:
    return b.node("Gelu", call.input.name, approximate=call["approximate"])


@row("prelu")
def _prelu(b: Builder, call: Call) -> Any:
    weight, rank = call["weight"], len(call.input.sizes)
    if rank > 1 and weight.sizes:
        weight = weight._replace(name=b.reshape(weight, (*weight.sizes, *(1,) * (rank - 2))))
    return b.node("PRelu", call.input.name, weight.name)


@row("bitwise_left_shift", "bitwise_right_shift")
def _shift(b: Builder, call: Call) -> Any:
    if not call.dtype.startswith("u"):  # ONNX shifts none with a sign
        call.require("left" in call.op.name, f"ONNX shifts no {call.dtype} to the right")
        return b.node("Mul", call.tensor("input"), b.node("Pow", b.number(2, call.dtype), call.tensor("other")))
    direction = "LEFT" if "left" in call.op.name else "RIGHT"
    return b.node("BitShift", call.tensor("input"), call.tensor("other"), direction=direction)


@row("detach", "alias", "clone", "contiguous", "_to_copy", "type_as", "resolve_conj", "positive")
def _same(b: Builder, call: Call) -> str:
    value = call.input
    if value.dtype != call.dtype and value.dtype in _FLOATING and call.dtype == "bool":
        return str(b.node("Not", b.node("Equal", value.name, b.number(0, value.dtype))))
    return b.cast(value, call.dtype).name
