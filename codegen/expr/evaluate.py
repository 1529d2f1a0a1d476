"""Computes a typed expression with NumPy, exactly as the printed C does: the reference of tests and checks.

Only this module and functions/arrays.py need NumPy; they import it when it is first used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from ..dtypes import DTYPES, DType
from .functions import Function, arrays
from .lower import lower
from .tree import Expr
from .typed import Arg, Cast, Const, Node, Op

if TYPE_CHECKING:
    import numpy as np

Array = Any
"""A NumPy array; precise types would add nothing but noise here."""


def evaluate(expr: Expr, env: Mapping[str, Array], result: DType | None = None) -> Array:
    """The value of an expression for arrays (or NumPy scalars) of compute dtypes.

    A division of integers by zero gives zero.
    """
    import numpy as np

    given = {name: np.asarray(value) for name, value in env.items()}
    types = {name: _dtype_of(name, array) for name, array in given.items()}
    value = compute(lower(expr, types, result), given)
    shape = np.broadcast_shapes(*(array.shape for array in given.values()))
    return np.broadcast_to(value, np.broadcast_shapes(shape, np.shape(value))).copy()


def compute(node: Node, env: Mapping[str, Array]) -> Array:
    """The value of a typed tree for arrays of the dtypes that it expects."""
    import numpy as np

    with np.errstate(all="ignore"):
        return _compute(node, env, {})


def _dtype_of(name: str, array: np.ndarray[Any, Any]) -> DType:
    dtype = DTYPES.get(array.dtype.name)
    if dtype is None or not dtype.compute:
        raise ValueError(f"{name}: no compute dtype is called {array.dtype.name}")
    return dtype


def _compute(node: Node, env: Mapping[str, Array], done: dict[Node, Array]) -> Array:
    import numpy as np

    if node in done:
        return done[node]
    dtype = node.dtype.numpy
    value: Array
    if isinstance(node, Arg):
        value = env[node.name]
    elif isinstance(node, Const):
        value = np.asarray(node.value).astype(dtype)
    elif isinstance(node, Cast):
        operand = _compute(node.operand, env, done)
        value = operand != 0 if node.dtype.is_bool else operand.astype(dtype)
    else:
        assert isinstance(node, Op)
        operands = [_compute(operand, env, done) for operand in node.operands]
        value = np.asarray(primitive(node.row)(*operands)).astype(dtype)
    done[node] = value
    return value


@cache
def primitive(function: Function) -> Callable[..., Array]:
    """The function of NumPy arrays that computes a primitive."""
    import numpy as np

    if callable(function.numpy):
        return function.numpy
    if function.scipy is not None:
        return arrays.scipy_function(function.scipy)
    primitive_: Callable[..., Array] = getattr(np, function.numpy or function.name)
    return primitive_
