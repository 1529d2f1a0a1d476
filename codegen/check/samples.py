"""Computes operators over lines and rows for a few sample values, with NumPy and in the way of their kernels.

Checks use the results: that elements may be combined in any order, and that formulas and references agree with bodies.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..dtypes import FLOAT64, DType, Kind
from ..expr import Expr, evaluate, names
from ..model.accumulation import Accumulation
from ..model.computation import default_numbers, row_dtypes
from ..model.operator import End, Expression, Extent, Family, Found, Let, Operator, Rows
from ..model.ordered_rows import PLACE, RANK, OrderedRows
from . import row_order

Array = Any
"""A NumPy array."""

_FLOATING = (0.7, -1.3, 0.37, -0.21, 1.9, 2.6, -2.8, 3.3, -3.7, 0.93, -0.94, 0.06)
_INTEGERS = (2, -1, 3, 5, -4, 7, 0, 1, -6, 4, 9, -2)
_TRUTHS = (True, False, False, True, True, True, False, False, True, False, True, False)


def dtypes(operator: Operator) -> tuple[DType, ...]:
    """The widest dtype of each kind that the operator computes in and that has samples, floating point first."""
    kinds = (Kind.FLOATING, Kind.SIGNED, Kind.UNSIGNED, Kind.BOOL)
    groups = ([dtype for dtype in operator.compute_dtypes if dtype.kind is kind] for kind in kinds)
    return tuple(max(each, key=lambda dtype: dtype.bits) for each in groups if each)


def matrix(dtype: DType, positive: bool = False) -> Array:
    """Three rows of four numbers."""
    import numpy as np

    values = np.array(_FLOATING if dtype.is_floating else _TRUTHS if dtype.is_bool else _INTEGERS).reshape(3, 4)
    return (np.abs(values) if positive or dtype.kind is Kind.UNSIGNED else values).astype(dtype.numpy)


def numbers(operator: Operator) -> dict[str, float]:
    """Values of the parameters: their defaults, or one half."""
    return {**{param.name: 1 if param.is_integral else 0.5 for param in operator.params}, **default_numbers(operator)}


def results(operator: Operator, lines: Mapping[str, Array], dtype: DType) -> tuple[Array, ...]:
    """Results over the rows of matrices, of a family that has `RESULTS`; the reduced dimension is kept."""
    return RESULTS[operator.family](operator, operator.body, lines, dtype)


def identity(body: Accumulation, dtype: DType) -> Array:
    """Return the identity of a reduction or scan as a value of the dtype."""
    import numpy as np

    if isinstance(body.identity, Expression):
        return value(body.identity.tree, {}, dtype)
    if dtype.is_floating:
        return np.array(-np.inf if body.identity is End.LOWEST else np.inf, dtype.numpy)
    return np.array(dtype.lowest if body.identity is End.LOWEST else dtype.highest, dtype.numpy)


def value(tree: Expr, env: Mapping[str, Array], dtype: DType) -> Array:
    """Value of an expression, which need not use every name."""
    return evaluate(tree, {name: env[name] for name in names(tree)}, dtype)


def _accumulated(body: Accumulation, x: Array, dtype: DType) -> tuple[Array, Array]:
    import numpy as np

    mapped = x if body.map is None else value(body.map.tree, {"self": x}, dtype)
    acc, running = identity(body, dtype), []
    for column in mapped.T:
        acc = value(body.combine.tree, {"acc": acc, "self": column}, dtype)
        running.append(acc)
    if body.is_scan:
        values = np.stack(running, 1)
        same = np.maximum.accumulate(np.where(values == x, np.arange(x.shape[1]), 0), 1)
        return values, same
    if body.finalize is not None:
        count = np.array(x.shape[1], dtype.numpy)
        acc = value(body.finalize.tree, {"acc": acc, "count": count}, dtype)
    values = np.reshape(acc, (-1, 1))
    return values, np.argmax(values == x, 1)[:, None]


def row_results(
    operator: Operator, body: Rows, lines: Mapping[str, Array], dtype: DType, numbers: Mapping[str, float]
) -> tuple[Array, ...]:
    """Results over the rows of matrices, for parameters that are these `numbers`."""
    import numpy as np

    ordered = body if isinstance(body, OrderedRows) else None
    dtype = dtype if ordered is None else row_order.wide(dtype)
    types, shape = row_dtypes(operator, body, dtype), next(iter(lines.values())).shape
    env: dict[str, Array] = {
        name: each[:, :1] if name in body.per_row else each[:1] if name in body.per_place else each
        for name, each in lines.items()
    }
    env["count"] = np.array(shape[1], dtype.numpy)
    env |= {name: np.array(number, types[name].numpy) for name, number in numbers.items()}
    join: Mapping[str | None, Any] = {"sum": np.sum, "max": np.max, "min": np.min}

    def elements(expression: Expression) -> Array:
        return np.broadcast_to(value(expression.tree, env, dtype), shape)

    def step(each: Let | row_order.Step) -> Array:
        if not isinstance(each, Let):
            return row_order.value(
                each, elements, lambda tree: value(tree, env, dtype if dtype.is_floating else FLOAT64)
            )
        if each.combine is None:
            return value(each.expression.tree, env, dtype)
        return join[each.combine](elements(each.expression), 1)[:, None]

    def of(extent: Extent, expression: Expression) -> Array:
        if extent is Extent.ROW:
            return np.broadcast_to(value(expression.tree, env, dtype), (shape[0], 1))
        found = elements(expression) if order is None else row_order.back(elements(expression), order)
        return found if extent is Extent.ELEMENT else found.sum(0, keepdims=True)

    order = None
    if ordered is not None:
        places = np.broadcast_to(np.arange(shape[1], dtype=dtype.numpy), shape)
        env = {PLACE: places, **env}
        if ordered.key is not None:
            for let in ordered.before:
                env[let.name] = step(let)
            order = row_order.of(elements(ordered.key))
            own = (each.name for each in operator.inputs if each.name not in body.per_row)
            for name in {*own, *({PLACE} - lines.keys() - numbers.keys())}:
                env[name] = row_order.put(np.broadcast_to(env[name], shape), order)
        env = {RANK: places, **env}
    for each in body.steps:
        env[each.name] = step(each)
    return tuple(of(extent, expression) for extent, expression in body.outputs)


def _of_accumulation(
    operator: Operator, body: Accumulation, lines: Mapping[str, Array], dtype: DType
) -> tuple[Array, ...]:
    values, position = _accumulated(body, lines["self"], dtype)
    return tuple(values if found is Found.VALUE else position for found in body.found)


def _of_rows(operator: Operator, body: Rows, lines: Mapping[str, Array], dtype: DType) -> tuple[Array, ...]:
    return row_results(operator, body, lines, dtype, numbers(operator))


RESULTS: dict[Family, Callable[[Operator, Any, Mapping[str, Array], DType], tuple[Array, ...]]] = {
    Family.REDUCE: _of_accumulation,
    Family.SCAN: _of_accumulation,
    Family.ROWS: _of_rows,
}
