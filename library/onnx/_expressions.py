"""Operators of elements as nodes of ONNX: the tree of an entry of ops.yaml is printed function by function."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from typing import Any

from ..codegen.dtypes import DTYPES
from ..codegen.expr import lower
from ..codegen.expr.functions import FUNCTIONS
from ..codegen.expr.parse import parse
from ..codegen.expr.typed import Arg, Cast, Const, Node, Op, postorder
from ..codegen.recorded import with_operands
from ._builder import NUMBERS, Builder, NotMapped, Value

__all__ = ["has", "nodes_of"]

_NODES: Mapping[str, str] = {
    "add": "Add", "sub": "Sub", "mul": "Mul", "div": "Div", "neg": "Neg", "pow": "Pow", "lt": "Less",
    "le": "LessOrEqual", "gt": "Greater", "ge": "GreaterOrEqual", "eq": "Equal", "logical_and": "And",
    "logical_or": "Or", "logical_not": "Not", "where": "Where", "exp": "Exp", "log": "Log", "sqrt": "Sqrt",
    "sin": "Sin", "cos": "Cos", "tan": "Tan", "asin": "Asin", "acos": "Acos", "atan": "Atan", "sinh": "Sinh",
    "cosh": "Cosh", "tanh": "Tanh", "asinh": "Asinh", "acosh": "Acosh", "atanh": "Atanh", "abs": "Abs",
    "floor": "Floor", "ceil": "Ceil", "round": "Round", "erf": "Erf", "bitwise_and": "BitwiseAnd",
    "bitwise_or": "BitwiseOr", "bitwise_xor": "BitwiseXor", "bitwise_not": "BitwiseNot", "trunc_divide": "Div",
}  # fmt: skip
"""The nodes of functions of expressions."""
_LOGICAL = {"bitwise_and": "And", "bitwise_or": "Or", "bitwise_xor": "Xor", "bitwise_not": "Not"}
"""The nodes of functions of truth values."""
_DEFINITIONS: Mapping[str, str] = {
    "trunc": "where(x < 0, ceil(x), floor(x))",
    "ne": "not (x == y)",
    "exp2": "2.0 ** x",
    # The errors of exp(x) and of its logarithm cancel each other.
    "expm1": "where(exp(x) == 1, x, where(exp(x) - 1 == -1, -1, where(exp(x) == inf, inf, "
    "(exp(x) - 1) * x / log(exp(x)))))",
    "log1p": "where(1 + x == 1, x, where(1 + x == inf, inf, log(1 + x) * (x / ((1 + x) - 1))))",
    "log2": f"log(x) * {1 / math.log(2)!r}",
    "log10": f"log(x) * {1 / math.log(10)!r}",
    "signbit": "(x < 0) | ((x == 0) & (1 / x < 0))",
    "copysign": "where((y < 0) | ((y == 0) & (1 / y < 0)), -abs(x), abs(x))",
    "erfc": "1 - erf(x)",
    "hypot": "where(abs(x) + abs(y) == 0, 0, where((abs(x) == inf) | (abs(y) == inf), inf, maximum(abs(x), abs(y)) * "
    "sqrt(1 + square(minimum(abs(x), abs(y)) / maximum(abs(x), abs(y))))))",
    "atan2": "where((x == 0) & (y == 0), where((1 / y) < 0, copysign(pi, x), x), "
    "where((abs(x) == inf) & (abs(y) == inf), copysign(where(y > 0, 0.25, 0.75) * pi, x), "
    "where(y == 0, copysign(pi / 2, x), where(y > 0, atan(x / y), atan(x / y) + copysign(pi, x)))))",
    "remainder": "where(y == y, x - y * floor(x / y), y)",
}
"""Definitions of functions for which ONNX has no node, where the table of functions has none."""


@cache
def _definition(text: str) -> Any:
    return parse(text)


def nodes_of(builder: Builder, tree: Node, arguments: Mapping[str, Value], sizes: tuple[Any, ...]) -> Value:
    """Return the tensor that a typed tree computes of tensors.

    Raises:
        NotMapped: a function of the tree has no node, or a dtype none of ONNX.
    """
    names: dict[Node, str] = {}
    for node in postorder(_expanded(tree)):
        names[node] = _node(builder, node, names, arguments)
    name = names[_expanded(tree)]
    read = {node.name for node in names if isinstance(node, Arg)}
    for argument, value in arguments.items():
        if argument not in read and value.sizes:  # only its sizes matter
            name = builder.node("Expand", name, builder.node("Shape", value.name))
    return Value(name, tree.dtype.name, sizes)


@cache
def _expanded(root: Node) -> Node:
    """The tree with functions that ONNX lacks in terms of others."""
    done: dict[Node, Node] = {}
    for node in postorder(root):
        if isinstance(node, Op):
            done[node] = _rewritten(node, tuple(done[each] for each in node.operands))
        elif isinstance(node, Cast):
            done[node] = Cast(node.dtype, done[node.operand])
        else:
            done[node] = node
    return done[root]


def _rewritten(node: Op, operands: tuple[Node, ...]) -> Node:
    function = FUNCTIONS[node.function]
    dtype = operands[-1].dtype
    if node.function in _NODES and not (node.function == "neg" and dtype.name.startswith("u")):
        return Op(node.dtype, node.function, operands)
    if node.function == "fmod" or (node.function == "remainder" and dtype.is_integer):
        return Op(node.dtype, node.function, operands)
    if node.function == "floor_divide" and dtype.is_integer:
        x, y = operands
        exact = Op(node.dtype, "sub", (x, Op(node.dtype, "remainder", operands)))
        return Op(node.dtype, "trunc_divide", (exact, y))
    text = _DEFINITIONS.get(node.function) or function.definition(dtype)
    if text is None:
        raise NotMapped(f"ONNX has no node for the function {node.function}() of {dtype.name}")
    env = dict(zip(function.params, (each.dtype for each in operands), strict=True))
    tree = lower(_definition(text), env, node.dtype, has)
    return _expanded(with_operands(tree, dict(zip(function.params, operands, strict=True))))


def _node(builder: Builder, node: Node, names: Mapping[Node, str], arguments: Mapping[str, Value]) -> str:
    if node.dtype.name not in NUMBERS or node.dtype.is_complex:
        raise NotMapped(f"ONNX computes no {node.dtype.name}")
    if isinstance(node, Arg):
        return arguments[node.name].name
    if isinstance(node, Const):
        return builder.number(node.value, node.dtype.name)
    if isinstance(node, Cast):
        return _cast(builder, names[node.operand], node.operand.dtype.name, node.dtype.name)
    assert isinstance(node, Op)
    operands = [names[each] for each in node.operands]
    if node.function in ("fmod", "remainder"):
        return str(builder.node("Mod", *operands, fmod=int(node.function == "fmod" or node.dtype.is_floating)))
    kind = _NODES[node.function]
    if node.operands[-1].dtype.is_bool:
        kind = _LOGICAL.get(node.function, kind)
    return str(builder.node(kind, *operands))


def _cast(builder: Builder, name: str, before: str, after: str) -> str:
    if DTYPES[before].is_floating and after == "bool":
        return str(builder.node("Not", builder.node("Equal", name, builder.number(0, before))))
    return str(builder.node("Cast", name, to=NUMBERS[after]))


def has(function: str, dtype: Any) -> bool:
    """Return whether a function needs no definition."""
    return function in _NODES or function in _DEFINITIONS or function in ("fmod", "remainder", "floor_divide")
