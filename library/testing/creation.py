"""Tensors of random numbers to test with, in the ranges of their dtypes."""

from __future__ import annotations

import math
from typing import Any

from .._base.dtypes import EXPORTS
from .._base.finfo import finfo, iinfo
from .._operators import empty, randint, view_as_real

__all__ = ["make_tensor"]


def make_tensor(
    *shape: Any,
    dtype: Any,
    device: Any = None,
    low: float | None = None,
    high: float | None = None,
    requires_grad: bool = False,
    noncontiguous: bool = False,
    exclude_zero: bool = False,
    memory_format: Any = None,
) -> Any:
    """Return a tensor of random numbers, uniform from `low` to `high`.

    Args:
        shape: the sizes, one by one or as a list.
        dtype, device: those of the tensor.
        low, high (float): None: -9 and 9, or 10 of signed integers; 0 and 10 of unsigned ones, 0 and 2 of bool.
        requires_grad (bool): whether a gradient is recorded.
        noncontiguous (bool): whether every second element of the memory is left out.
        exclude_zero (bool): whether zeros are replaced by the least positive number, or one.
        memory_format: the order of the memory; excludes `noncontiguous`.

    Raises:
        ValueError: `low` is not less than `high`, both are not in the range, or options exclude each other.
    """
    sizes = tuple(shape[0]) if len(shape) == 1 and not isinstance(shape[0], int) else tuple(shape)
    if memory_format is not None and noncontiguous:
        raise ValueError(
            f"The parameters `noncontiguous` and `memory_format` are mutually exclusive, but got {noncontiguous=} and "
            f"{memory_format=}"
        )
    if requires_grad and not (dtype.is_floating_point or dtype.is_complex):
        raise ValueError(f"`requires_grad=True` is not supported for boolean and integral dtypes, but got {dtype=}")
    low, high = _range(dtype, low, high)
    if dtype is EXPORTS["bool"]:
        result = randint(math.ceil(low), math.floor(high), sizes, device=device, dtype=dtype)
    elif not (dtype.is_floating_point or dtype.is_complex):
        result = randint(math.ceil(low), math.ceil(high), sizes, device=device, dtype=dtype)
    else:
        result = empty(sizes, device=device, dtype=dtype)
        (view_as_real(result) if dtype.is_complex else result).uniform_(low, high)
    if noncontiguous and result.numel() > 1:
        result = result.repeat_interleave(2, -1)[..., ::2]
    elif memory_format is not None:
        result = result.clone(memory_format=memory_format)
    if exclude_zero:
        is_real = dtype.is_floating_point or dtype.is_complex
        result[result == 0] = finfo(dtype).tiny if is_real else 1
    return result.requires_grad_(requires_grad) if requires_grad else result


def _range(dtype: Any, low: float | None, high: float | None) -> tuple[Any, Any]:
    least: Any
    most: Any
    if dtype is EXPORTS["bool"]:
        least, most, usual = 0, 2, (0, 2)
    elif dtype.is_floating_point or dtype.is_complex:
        limits = finfo(dtype)
        least, most, usual = limits.min, limits.max, (-9, 9)
    else:
        integers = iinfo(dtype)
        least, most = integers.min, integers.max
        usual = (0, 10) if integers.min == 0 else (-9, 10)
    low, high = usual[0] if low is None else low, usual[1] if high is None else high
    if any(isinstance(each, float) and math.isnan(each) for each in (low, high)):
        raise ValueError(f"`low` and `high` cannot be NaN, but got {low=} and {high=}")
    if low >= high:
        raise ValueError(f"`low` must be less than `high`, but got {low} >= {high}")
    if high < least or low > most:
        raise ValueError(
            f"The value interval specified by `low` and `high` is [{low}, {high}), but {dtype} only supports "
            f"[{least}, {most})"
        )
    return max(low, least), min(high, most)
