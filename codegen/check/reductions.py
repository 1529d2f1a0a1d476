"""Initial values of reductions and their steps, for references that are computed with NumPy."""

from __future__ import annotations

from ..dtypes import DType
from ..model.parts import End
from .samples import Array


def end_of(dtype: DType, end: End) -> float:
    """Return the end of a dtype's range; infinite for floating dtypes."""
    import numpy as np

    low, high = (-np.inf, np.inf) if dtype.is_floating else (dtype.lowest, dtype.highest)
    return low if end is End.LOWEST else high


def start_of(reduction: str, dtype: DType) -> object:
    """Return the value of a reduction over no elements."""
    if reduction in ("sum", "any"):
        return 0
    if reduction in ("prod", "all"):
        return 1
    return end_of(dtype, End.LOWEST if reduction.endswith("max") else End.HIGHEST)


def joined(reduction: str, state: Array, value: Array) -> Array:
    """Return the state of a reduction after one more value."""
    import numpy as np

    join = {"sum": np.add, "prod": np.multiply, "any": np.logical_or, "all": np.logical_and}
    return join.get(reduction, np.maximum if reduction.endswith("max") else np.minimum)(state, value)
