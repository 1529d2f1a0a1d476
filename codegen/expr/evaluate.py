"""Computes a typed expression with NumPy, exactly as the printed C would: the reference of tests and checks.

With special.py the only module of the language that needs NumPy, which both import when it is first used.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ..dtypes import DTYPES, DType
from . import special
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

    arrays = {name: np.asarray(value) for name, value in env.items()}
    types = {name: _dtype_of(name, array) for name, array in arrays.items()}
    with np.errstate(all="ignore"):
        value = _compute(lower(expr, types, result), arrays, _primitives(), {})
        shape = np.broadcast_shapes(*(array.shape for array in arrays.values()))
        return np.broadcast_to(value, np.broadcast_shapes(shape, np.shape(value))).copy()


def _dtype_of(name: str, array: np.ndarray[Any, Any]) -> DType:
    dtype = DTYPES.get(array.dtype.name)
    if dtype is None or not dtype.compute:
        raise ValueError(f"{name}: no compute dtype is called {array.dtype.name}")
    return dtype


def _compute(
    node: Node,
    env: Mapping[str, Array],
    primitives: Mapping[str, Callable[..., Array]],
    done: dict[Node, Array],
) -> Array:
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
        operand = _compute(node.operand, env, primitives, done)
        value = operand != 0 if node.dtype.is_bool else operand.astype(dtype)
    else:
        assert isinstance(node, Op)
        operands = [_compute(operand, env, primitives, done) for operand in node.operands]
        value = np.asarray(primitives[node.function](*operands)).astype(dtype)
    done[node] = value
    return value


# ---- primitives that NumPy lacks or defines otherwise -----------------------------------------------------


def _through_float64(function: Callable[[float], float]) -> Callable[[Array], Array]:
    import numpy as np

    vectorised = np.frompyfunc(function, 1, 1)

    def apply(x: Array) -> Array:
        return np.asarray(vectorised(x.astype("float64"))).astype("float64")

    return apply


def _lcm(x: Array, y: Array) -> Array:
    """What does not fit wraps."""
    import numpy as np

    unsigned = x.dtype.name if x.dtype.kind == "u" else f"u{x.dtype.name}"
    left, right = (np.where(each < 0, 0 - each.astype(unsigned), each.astype(unsigned)) for each in (x, y))
    common = np.gcd(left, right)
    return np.where(common == 0, 0, left // np.maximum(common, 1) * right)


def _integer_power(base: Array, exponent: Array) -> Array:
    """Powers wrap; negative exponents give the integer part of the true value."""
    import numpy as np

    base, exponent = np.broadcast_arrays(base, exponent)
    result, factor = np.ones_like(base), base.copy()
    negative = exponent < 0
    rest = exponent.astype("uint64")
    for _ in range(64):
        result = np.where((rest & np.uint64(1)) == 1, result * factor, result)
        factor = factor * factor
        rest = np.where(negative, np.uint64(0), rest >> np.uint64(1))
    sign = np.where((exponent & 1) == 1, base, np.ones_like(base))
    inverse = np.where(np.abs(base.astype("float64")) == 1, sign, np.zeros_like(base))
    return np.where(negative, inverse, result)


def _power(base: Array, exponent: Array) -> Array:
    import numpy as np

    return np.power(base, exponent) if base.dtype.kind in "fc" else _integer_power(base, exponent)


def _complex(real: Array, imag: Array) -> Array:
    """By parts: `real + 1j * imag` would make NaN of infinities."""
    import numpy as np

    real, imag = np.broadcast_arrays(real, imag)
    value = np.empty(real.shape, np.result_type(real, np.complex64))
    value.real, value.imag = real, imag
    return value


def _shift(left: bool) -> Callable[[Array, Array], Array]:
    """Shifts by a count outside [0, width) give what an infinitely wide shift would."""
    import numpy as np

    def apply(value: Array, count: Array) -> Array:
        bits = 8 * value.dtype.itemsize
        valid = (count >= 0) & (count < bits)
        if left:
            return np.where(valid, np.left_shift(value, np.where(valid, count, 0)), 0)
        # Two shifts, because one by the whole width is undefined for NumPy too.
        clipped = np.where(valid, count, bits - 1).astype(value.dtype)
        shifted = np.right_shift(value, clipped)
        return np.where(valid, shifted, np.right_shift(shifted, 1))

    return apply


def _trunc_divide(x: Array, y: Array) -> Array:
    import numpy as np

    quotient = np.floor_divide(x, y)
    return quotient + ((np.remainder(x, y) != 0) & ((x < 0) != (y < 0))).astype(x.dtype)


def _primitives() -> dict[str, Callable[..., Array]]:
    import numpy as np

    table: dict[str, Callable[..., Array]] = {
        "add": np.add,
        "sub": np.subtract,
        "mul": np.multiply,
        "div": np.divide,
        "neg": np.negative,
        "pow": _power,
        "lt": np.less,
        "le": np.less_equal,
        "gt": np.greater,
        "ge": np.greater_equal,
        "eq": np.equal,
        "ne": np.not_equal,
        "bitwise_not": np.invert,
        "bitwise_left_shift": _shift(left=True),
        "bitwise_right_shift": _shift(left=False),
        "trunc_divide": _trunc_divide,
        "abs": np.fabs,
        "round": np.rint,
        "asin": np.arcsin,
        "acos": np.arccos,
        "atan": np.arctan,
        "atan2": np.arctan2,
        "asinh": np.arcsinh,
        "acosh": np.arccosh,
        "atanh": np.arctanh,
        "erf": _through_float64(math.erf),
        "erfc": _through_float64(math.erfc),
        "complex": _complex,
        "lcm": _lcm,
    }
    same_name = (
        "where logical_and logical_or logical_not bitwise_and bitwise_or bitwise_xor exp exp2 expm1 log log2 "
        "log10 log1p sqrt cbrt hypot sin cos tan sinh cosh tanh floor ceil trunc copysign fmod floor_divide "
        "remainder signbit real imag gcd nextafter"
    )
    table.update({name: getattr(np, name) for name in same_name.split()})
    table.update({name: special.value(name) for name in special.SPECIAL})
    return table
