"""Operators that are computed in stages, each of which is an operator."""

from __future__ import annotations

from functools import reduce
from typing import Any

from .._base.dtypes import EXPORTS, get_default_dtype
from .._base.promotion import promote_types, result_type
from .._dispatch.ops import ops

__all__ = ["in_dtype_of_computation"]


def in_dtype_of_computation(int_to_float: bool, *tensors: Any) -> tuple[Any, ...]:
    """Return the dtype of results, and tensors of the one in which they are computed, where None stands for an absent
    one. With `int_to_float` integers become numbers of the default dtype."""
    given = [tensor for tensor in tensors if tensor is not None]
    dtype = _common_dtype(given)
    if int_to_float and not (dtype.is_floating_point or dtype.is_complex):
        dtype = get_default_dtype()
    computed = EXPORTS["float32"] if dtype.is_floating_point and dtype.itemsize < 4 else dtype
    return dtype, *(tensor if tensor is None else tensor.to(computed) for tensor in tensors)


def _common_dtype(tensors: list[Any]) -> Any:
    """The dtype of an operation on tensors: those without dimensions count where they are of another kind."""
    found = {tensor.dtype for tensor in tensors}
    if len(found) == 1:
        return found.pop()
    kinds = [[tensor.dtype for tensor in tensors if bool(tensor.ndim) is has_dims] for has_dims in (True, False)]
    several, single = (reduce(promote_types, each) if each else None for each in kinds)
    if several is None or single is None:
        return several or single
    return result_type(ops.empty([0], dtype=several), ops.empty([], dtype=single))
