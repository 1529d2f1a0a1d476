"""Computes the results of elementwise operators, also of loops for each element, with NumPy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..dtypes import BOOL, FLOAT64, DType
from ..expr import evaluate, names
from ..model.computation import argument_dtypes, result_dtypes, variable_dtypes
from ..model.operator import Elementwise, Expression, Iteration, Operator
from .samples import Array


def results(
    operator: Operator, body: Elementwise, values: Mapping[str, Array], numbers: Mapping[str, Any], dtype: DType
) -> tuple[Array, ...]:
    """The results for arrays that broadcast and parameters that are these numbers, computed in `dtype`.

    A division of integers by zero gives zero, where kernels raise an error.
    """
    import numpy as np

    arguments = argument_dtypes(operator, body, dtype)
    env: dict[str, Array] = {name: np.asarray(each).astype(arguments[name].numpy) for name, each in values.items()}
    env |= {name: np.asarray(each).astype(arguments[name].numpy) for name, each in numbers.items()}
    shape = np.broadcast_shapes(*(each.shape for each in env.values()))

    def of(expression: Expression, result: DType) -> Array:
        used = names(expression.tree)
        found = evaluate(expression.tree, {name: each for name, each in env.items() if name in used}, result)
        return np.broadcast_to(found, shape)

    if body.iterate is not None:
        types = variable_dtypes(operator, body, dtype)
        env |= {name: of(start, types[name]) for name, start in body.iterate.state}
        for _ in range(_rounds(body.iterate, env)):
            goes = np.ones(shape, bool) if body.iterate.proceeds is None else of(body.iterate.proceeds, BOOL)
            if not goes.any():
                break
            following = zip(body.iterate.names, body.iterate.following, strict=True)
            moved = {name: of(each, types[name]) for name, each in following}
            # An element that has ended keeps its variables while others go on.
            env |= {name: np.where(goes, each, env[name]) for name, each in moved.items()}
    found = zip(body.expressions(dtype), result_dtypes(operator, dtype), strict=True)
    return tuple(of(expression, result) for expression, result in found)


def _rounds(loop: Iteration, env: Mapping[str, Array]) -> int:
    tree = loop.times.tree
    return int(evaluate(tree, {name: env[name] for name in names(tree)}, FLOAT64))
