"""Typed trees of calls: what a call of an elementwise operator with given operands computes, conversion by conversion.

A program whose calls were recorded is one tree by this, as the operands of a call are the trees of others. The core
decides the dtypes and which numbers stand for absent arguments by the same rules (elementwise.c, elementwise_params.c).
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from .dtypes import DType
from .emit.elementwise import with_defaults
from .expr import lower
from .expr.kernel_text import TARGET
from .expr.lower import Native
from .expr.tree import Number
from .expr.typed import Arg, Cast, Const, Node, Op, constant, convert, may_fail, postorder
from .model.computation import argument_dtypes, default_numbers, result_dtype
from .model.operator import End, Operator

__all__ = ["Operand", "call", "takes", "tree", "with_operands"]

Operand = Node | Number | None
"""The tree of a tensor, a number in its place or a parameter, or nothing."""

_LARGEST_EXACT = 2**53
"""The integers up to here are numbers of float64."""


def takes(operator: Operator) -> bool:
    """Return whether calls of an operator are expressions of the elements of their tensors, each with one result."""
    return operator.body.single is not None


def call(operator: Operator, operands: Mapping[str, Operand], common: DType) -> Node | None:
    """Return the tree of a call with operands of this common dtype; None: it is no expression of one element in the
    dtypes of computation, or may fail."""
    _, result = operator.promotion.resolve(common)
    merged = None if result.opmath != result else tree(operator, operands, common, TARGET.native)
    return None if merged is None or any(map(may_fail, postorder(merged))) else merged


def tree(operator: Operator, operands: Mapping[str, Operand], common: DType, native: Native) -> Node | None:
    """Return the tree of a call, for a target with these functions, in the dtype of computation; None: it is no
    expression of one element."""
    body = operator.body
    compute, _ = operator.promotion.resolve(common)
    expressions = body.values(compute)
    if not expressions or compute not in operator.compute_dtypes:
        return None
    expression = expressions[0].tree
    if _are_defaults(operator, operands):
        expression = with_defaults(operator, expression, compute) or expression
    env = argument_dtypes(operator, body, compute)
    params = {each.name for each in operator.params}
    trees = {
        name: _operand(operands.get(name), body.absent.get(name), name in params, dtype) for name, dtype in env.items()
    }
    found = {name: each for name, each in trees.items() if each is not None}
    if len(found) < len(trees):
        return None
    return with_operands(lower(expression, env, result_dtype(operator, compute), native), found)


def _are_defaults(operator: Operator, operands: Mapping[str, Operand]) -> bool:
    numbers = default_numbers(operator)
    return all(
        operands.get(each.name) is None or _same(operands[each.name], numbers.get(each.name))
        for each in operator.params
    )


def _same(value: object, other: object) -> bool:
    return isinstance(value, (bool, int, float)) and isinstance(other, (bool, int, float)) and value == other


def _operand(value: Operand, absent: End | float | None, is_param: bool, dtype: DType) -> Node | None:
    """The tree of an argument in the dtype in which the expression takes it; None where there is none."""
    if isinstance(value, Node):
        return convert(value, dtype)
    if value is None:
        value = _end(absent, is_param, dtype) if isinstance(absent, End) else absent
    if value is None or (isinstance(value, int) and abs(value) > _LARGEST_EXACT):
        return None
    if not (dtype.is_floating or dtype.is_complex) and not math.isfinite(value):
        return None
    if not dtype.is_complex:
        return constant(value, dtype)
    # C adds a real number to the real part alone. A kernel is given a complex one, whose zero is added as well.
    return Op(dtype, "complex", tuple(constant(part, dtype.to_real) for part in (value, 0)))


def _end(end: End, is_param: bool, dtype: DType) -> Number:
    """An end of the range: of a parameter that of finite numbers."""
    is_lowest, numbers = end is End.LOWEST, dtype.to_real.format
    if numbers is None:
        return dtype.lowest if is_lowest else dtype.highest
    if is_param:
        return numbers.lowest if is_lowest else numbers.largest
    return -math.inf if is_lowest else math.inf


def with_operands(root: Node, operands: Mapping[str, Node]) -> Node:
    """Return a tree with others in place of its arguments."""
    done: dict[Node, Node] = {}
    for node in postorder(root):
        if isinstance(node, Arg):
            done[node] = operands[node.name]
        elif isinstance(node, Cast):
            done[node] = convert(done[node.operand], node.dtype)
        elif isinstance(node, Op):
            done[node] = Op(node.dtype, node.function, tuple(done[each] for each in node.operands))
        else:
            assert isinstance(node, Const)
            done[node] = node
    return done[root]
